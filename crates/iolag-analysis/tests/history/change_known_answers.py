"""Known answers for correlation and periods in a history, and changes in a history, by SciPy, Astropy and ruptures.

    pip install numpy scipy astropy ruptures
    python3 crates/iolag-analysis/tests/history/change_known_answers.py > crates/iolag-analysis/tests/history/change_known_answers.tsv

Columns: kind, then lists of numbers separated by commas.
"""
import math

import astropy
import numpy
import ruptures
import scipy
from astropy.timeseries import LombScargle
from scipy import stats

generator = numpy.random.default_rng(20080509)


def row(kind, *lists):
    print(kind, *(",".join(repr(float(v)) for v in values) for values in lists), sep="\t")


print(f"# numpy {numpy.__version__}, scipy {scipy.__version__}, astropy {astropy.__version__}, ruptures {ruptures.__version__}")
for n, weight, digits in ((10, 0.0, 3), (12, 0.9, 0), (40, 0.5, 1), (40, -0.7, 2), (60, 0.3, 0)):
    cause = generator.normal(size=n)
    left = numpy.round(cause + generator.normal(size=n), digits)
    right = numpy.round(weight * cause + generator.normal(size=n), digits)
    row("spearman", left, right, (stats.spearmanr(left, right).statistic,))
    row("pearson", left, right, (stats.pearsonr(left, right).statistic,))
for n in (1, 3, 10, 25):
    p = numpy.round(generator.uniform(size=n) ** 2, 4)
    row("benjamini_hochberg", p, stats.false_discovery_control(p))
for n in (12, 60):
    seconds = numpy.round(numpy.cumsum(generator.uniform(0.2, 1.8, n)), 3)
    values = numpy.round(numpy.sin(seconds) + generator.normal(size=n) + 5.0, 3)
    frequencies = numpy.array((0.02, 0.11, 1 / (2 * math.pi), 0.4))
    row("lomb_scargle", seconds, values, frequencies, LombScargle(seconds, values).power(frequencies))
# Changes in the mean of logarithms, in the manner of the simulated cases of James and Matteson 2014; the places by
# dynamic programming with absolute deviations, told the number of changes.
for lengths, means in (((100, 100), (0, 1)), ((100, 60, 140), (0, 1.5, -0.5)), ((80, 120, 100, 100), (0, 2, 0.5, 1.8))):
    signal = numpy.concatenate([generator.normal(mean, 0.6, n) for n, mean in zip(lengths, means)])
    durations = numpy.round(numpy.exp(signal), 4)
    places = ruptures.Dynp(model="l1", min_size=5, jump=1).fit(numpy.log(durations)).predict(len(lengths) - 1)[:-1]
    row("changes", durations, places)
