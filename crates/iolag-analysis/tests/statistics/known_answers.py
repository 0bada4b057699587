"""Known answers for crates/iolag-analysis, computed with NumPy and SciPy.

    pip install numpy scipy
    python3 crates/iolag-analysis/tests/statistics/known_answers.py > crates/iolag-analysis/tests/statistics/known_answers.tsv

Columns: kind, inputs separated by commas, outputs separated by commas.
"""
import itertools

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
# Runs compared: base, then other. Their own generator, so that what stands above stays as it is.
generator = numpy.random.default_rng(20261128)
LEVELS = (0.05, 0.05 / 8)
flat = lambda *sides: [repr(float(v)) for side in sides for v in side]
for n, spread in ((2, 0.3), (4, 0.05), (9, 0.3), (25, 1.0)):
    base = generator.normal(3.0, spread, n)
    other = base + generator.normal(0.1, spread, n)
    result = stats.ttest_rel(other, base)
    ends = [float(v) for level in LEVELS for v in result.confidence_interval(1 - level)]
    row("paired_t", [str(n)] + flat(base, other), [float(numpy.mean(other - base)), float(result.pvalue)] + ends)
for n, m, spread in ((2, 2, 0.3), (4, 4, 0.05), (9, 5, 0.3), (4, 30, 2.0), (25, 4, 0.3)):
    base, other = generator.normal(3.0, spread, n), generator.normal(3.2, 0.3, m)
    both = [stats.ttest_ind(other, base, equal_var=equal) for equal in (False, True)]
    wider = lambda level: max((one.confidence_interval(1 - level) for one in both), key=lambda ends: ends.high)
    ends = [float(v) for level in LEVELS for v in wider(level)]
    row("apart_t", [str(n)] + flat(base, other), [float(other.mean() - base.mean()),
                                                  max(float(one.pvalue) for one in both)] + ends)


def ends_by_ranks(contrasts, counts):
    """The interval by contrasts: `counts` are how many lie on one side in each of the equally probable cases."""
    contrasts, tail = numpy.sort(contrasts), numpy.sort(counts)
    of = lambda level: sum(numpy.mean(tail <= k) < level / 2 for k in range(len(contrasts)))
    return [float(v) for level in LEVELS for k in [of(level)]
            for v in ((contrasts[k - 1], contrasts[-k]) if k else (-numpy.inf, numpy.inf))]


for n in (4, 6, 9, 12):
    base = generator.normal(3.0, 0.3, n)
    other = base + generator.normal(0.2, 0.3, n)
    d = other - base
    walsh = [(d[i] + d[j]) / 2 for i in range(n) for j in range(i, n)]
    counts = [sum(rank for rank in range(1, n + 1) if case >> (rank - 1) & 1) for case in range(2 ** n)]
    p = float(stats.wilcoxon(other, base, method="exact").pvalue)
    row("signed_ranks", [str(n)] + flat(base, other), [float(numpy.median(walsh)), p] + ends_by_ranks(walsh, counts))
for n, m in ((3, 3), (5, 4), (7, 6)):
    base, other = generator.normal(3.0, 0.3, n), generator.normal(3.3, 0.3, m)
    differences = [o - b for b in base for o in other]
    counts = [sum(place - rank for rank, place in enumerate(case))
              for case in itertools.combinations(range(n + m), n)]
    p = float(stats.mannwhitneyu(base, other, method="exact").pvalue)
    row("rank_sums", [str(n)] + flat(base, other),
        [float(numpy.median(differences)), p] + ends_by_ranks(differences, counts))
