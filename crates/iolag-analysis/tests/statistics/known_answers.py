"""Known answers for crates/iolag-analysis, computed with NumPy and SciPy.

    pip install numpy scipy
    python3 crates/iolag-analysis/tests/statistics/known_answers.py > crates/iolag-analysis/tests/statistics/known_answers.tsv

Columns: kind, inputs separated by commas, outputs separated by commas.
"""
import numpy
import scipy
from scipy import stats


def row(kind, inputs, outputs):
    text = lambda values: ",".join(repr(float(v)) if isinstance(v, float) else str(v) for v in values)
    print(kind, text(inputs), text(outputs), sep="\t")


print(f"# numpy {numpy.__version__}, scipy {scipy.__version__}")
for n in (6, 7, 20, 36, 72, 100, 368, 1000, 5000, 100_000, 1_000_000, 100_000_000):
    for q in (0.25, 0.5, 0.75, 0.9, 0.95, 0.99):
        if max(q, 1 - q) ** n > 0.025:
            continue
        low = int(stats.binom.ppf(0.025, n, q))
        high = int(stats.binom.ppf(0.975, n, q)) + 1
        row("quantile_ranks", (n, q), (max(low, 1), min(high, n)))
for k, n in ((0, 1), (1, 1), (0, 96), (1, 96), (5, 10), (12, 100), (3, 7), (99, 100), (96, 96), (17, 1000),
             (250, 100_000), (50_000, 1_000_000), (1, 1_000_000), (2.5, 40.25), (0.3, 11.7)):
    low = 0.0 if k == 0 else float(stats.beta.ppf(0.025, k, n - k + 1))
    high = 1.0 if k == n else float(stats.beta.ppf(0.975, k + 1, n - k))
    row("share_interval", (k, n), (low, high))
generator = numpy.random.default_rng(20261120)
for size in (1, 2, 5, 30, 101):
    values = generator.integers(1, 1_000_000, size)
    for q in (0.0, 0.25, 0.5, 0.9, 0.99, 1.0):
        kind7 = float(numpy.quantile(values, q, method="linear"))
        kind1 = float(numpy.quantile(values, q, method="inverted_cdf"))
        row("quantile", (q, *map(int, values)), (kind1, kind7))
for sizes, shift in (((8, 8, 8), 0), ((10, 12, 9), 6), ((5, 5), 3), ((20, 20, 20, 20), 2)):
    groups = [generator.integers(0, 20, n) + shift * i for i, n in enumerate(sizes)]
    result = stats.kruskal(*groups)
    flat = [str(len(groups))] + [str(n) for n in sizes] + [str(int(v)) for g in groups for v in g]
    row("kruskal", flat, (float(result.statistic), float(result.pvalue)))
for n in (6, 12, 32):
    values = generator.integers(0, 30, n) + numpy.arange(n)
    row("spearman", [int(v) for v in values], (float(stats.spearmanr(numpy.arange(n), values).statistic),))
