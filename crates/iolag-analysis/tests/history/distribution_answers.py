"""Writes distribution_answers.tsv: kind, inputs, outputs, separated by tabs; numbers by commas.

python3 distribution_answers.py > distribution_answers.tsv
Needs numpy, scipy, lifelines and diptest. Amounts are seconds; kinds: e known, a at least (right-censored), b below.
"""
import math
import warnings

import diptest
import lifelines
import numpy
import scipy
from scipy import stats

warnings.filterwarnings("ignore")


def text(numbers):
    return ",".join(repr(float(number)) if not isinstance(number, str) else number for number in numbers)


def row(kind, inputs, outputs):
    print(kind, text(inputs), text(outputs), sep="\t")


def with_kinds(values, kinds):
    return [f"{kind}{float(value)!r}" for value, kind in zip(values, kinds)]


print(f"# numpy {numpy.__version__}, scipy {scipy.__version__}, lifelines {lifelines.__version__}, "
      f"diptest {diptest.__version__}, seed 20261121")
generator = numpy.random.default_rng(20261121)


def censored_sample(size, scale, deadline):
    """Log-normal durations in ms steps, some cut at a deadline, some at ages."""
    values = numpy.round(scale * numpy.exp(generator.normal(size=size)), 3) + 0.001
    limits = numpy.where(generator.random(size) < 0.8, deadline, numpy.round(deadline * generator.random(size), 3) + 0.001)
    return numpy.round(numpy.minimum(values, limits), 3), values <= limits


for size, scale, deadline in ((12, 1.0, 100.0), (30, 1.0, 2.0), (60, 5.0, 10.0), (200, 0.2, 0.5)):
    values, known = censored_sample(size, scale, deadline)
    fitter = lifelines.KaplanMeierFitter().fit(values, known)
    survival, ends = fitter.survival_function_.iloc[:, 0], fitter.confidence_interval_
    n, variance, band = size, 0.0, []
    outputs = []
    table = fitter.event_table
    for time in table.index[1:]:
        events, risk = table.loc[time, "observed"], table.loc[time, "at_risk"]
        if events == 0 or survival[time] <= 0:
            continue
        variance += events / (risk * (risk - events))
        s = survival[time]
        reach = math.sqrt(math.log(40) / 2) / math.sqrt(n) * (1 + n * variance) * s
        outputs += [time, 1 - s, 1 - ends.loc[time].iloc[1], 1 - ends.loc[time].iloc[0],
                    max(0, 1 - s - reach), min(1, 1 - s + reach)]
    row("kaplan_meier", with_kinds(values, ["e" if k else "a" for k in known]), outputs)

# Left- and right-censored and known together: Turnbull's estimate by lifelines.
for size, resolution in ((40, 0.5), (80, 1.0)):
    values, known = censored_sample(size, 1.0, 3.0)
    kinds = ["a" if not k else "b" if v < resolution else "e" for v, k in zip(values, known)]
    shown = [resolution if kind == "b" else v for v, kind in zip(values, kinds)]
    lower = [0.0 if kind == "b" else v for v, kind in zip(shown, kinds)]
    upper = [v if kind != "a" else math.inf for v, kind in zip(shown, kinds)]
    # "Below" excludes the resolution itself.
    upper = [u - 1e-9 if kind == "b" else u for u, kind in zip(upper, kinds)]
    fitter = lifelines.KaplanMeierFitter().fit_interval_censoring(lower, upper, tol=1e-12)
    survival = fitter.survival_function_
    outputs = []
    for at in sorted({v for v, kind in zip(shown, kinds) if kind == "e"})[::3]:
        # At an index lifelines tells what lasts that long, so what lasts longer stands at the next one.
        outputs += [at, 1 - survival[survival.index > at].iloc[0].iloc[0]]
    row("turnbull", with_kinds(shown, kinds), outputs)


def intervals(values, kinds):
    low = [-math.inf if kind == "b" else math.log(v) for v, kind in zip(values, kinds)]
    high = [math.inf if kind == "a" else math.log(v) for v, kind in zip(values, kinds)]
    return numpy.array(low), numpy.array(high)


def kernel(difference):
    return numpy.where(difference > 0, 1.0, numpy.where(difference < 0, 0.0, 0.5))


def compared(first, first_kinds, second, second_kinds):
    """Everything over the whole list of pairs."""
    fl, fh = intervals(first, first_kinds)
    sl, sh = intervals(second, second_kinds)
    low, high = sl[:, None] - fh[None, :], sh[:, None] - fl[None, :]
    both = numpy.sort(numpy.concatenate([low.ravel(), high.ravel()]))
    pairs = low.size
    shift = (both[pairs - 1] + both[pairs]) / 2

    def spread(by):
        wins = (kernel(low - by) + kernel(high - by)) / 2
        first_places, second_places = 1 - wins.mean(axis=0), wins.mean(axis=1)
        parts = [p.var(ddof=1) / len(p) for p in (first_places, second_places)]
        freedom = sum(parts) ** 2 / sum(part ** 2 / (len(p) - 1)
                                        for part, p in zip(parts, (first_places, second_places)))
        return wins.mean(), math.sqrt(sum(parts)), freedom

    probability, error, freedom = spread(0.0)
    p = 2 * stats.t.sf(abs(probability - 0.5) / error, freedom)
    _, aligned, freedom = spread(shift)
    reach = stats.t.ppf(0.975, freedom) * aligned
    at = lambda ends, q: numpy.sort(ends.ravel())[math.ceil(q * pairs * (1 - 1e-13)) - 1]
    return (math.exp(shift), math.exp(at(low, 0.5 - reach)), math.exp(at(high, 0.5 + reach)), probability, p)


for sizes, ratio in (((12, 15), 1.0), ((30, 25), 2.0), ((80, 120), 0.7), ((40, 40), 1.2)):
    first = numpy.round(numpy.exp(generator.normal(size=sizes[0])) + 0.0001, 4)
    second = numpy.round(ratio * numpy.exp(0.5 * generator.normal(size=sizes[1])) + 0.0001, 4)
    result = compared(first, "e" * sizes[0], second, "e" * sizes[1])
    munzel = stats.brunnermunzel(first, second)
    assert abs(munzel.pvalue - result[4]) < 1e-9
    u = stats.mannwhitneyu(second, first).statistic / (sizes[0] * sizes[1])
    assert abs(u - result[3]) < 1e-12
    distance = stats.ks_2samp(first, second).statistic
    row("compared", [len(first), *with_kinds(first, "e" * sizes[0]), *with_kinds(second, "e" * sizes[1])],
        (*result[:4], munzel.pvalue, distance))
for sizes, ratio, deadline, resolution in (((40, 50), 1.5, 3.0, 0.0), ((60, 60), 0.6, 5.0, 0.4)):
    samples = []
    for size, factor in zip(sizes, (1.0, ratio)):
        values = numpy.round(factor * numpy.exp(0.8 * generator.normal(size=size)) + 0.0001, 4)
        kinds = ["a" if v > deadline else "b" if v < resolution else "e" for v in values]
        values = [deadline if k == "a" else resolution if k == "b" else v for v, k in zip(values, kinds)]
        samples.append((values, kinds))
    result = compared(*samples[0], *samples[1])
    row("compared_censored", [sizes[0], *with_kinds(*samples[0]), *with_kinds(*samples[1])], result)

for name, values in (("uniform", generator.random(50)), ("normal", generator.normal(size=200)),
                     ("two", numpy.concatenate([generator.normal(size=60), 5 + generator.normal(size=40)])),
                     ("ties", generator.integers(0, 8, 60).astype(float)),
                     ("few", generator.random(7)), ("skewed", numpy.exp(generator.normal(size=333)))):
    values = numpy.sort(numpy.round(values, 6))
    row("dip", values, (diptest.dipstat(values),))

for k1, n1, k2, n2 in ((5, 50, 20, 60), (0, 96, 10, 96), (30, 30, 25, 30), (100, 2000, 150, 1800)):
    ends = []
    for k, n in ((k1, n1), (k2, n2)):
        low = 0.0 if k == 0 else stats.beta.ppf(0.025, k, n - k + 1)
        high = 1.0 if k == n else stats.beta.ppf(0.975, k + 1, n - k)
        ends.append((k / n, low, high))
    (p1, l1, u1), (p2, l2, u2) = ends
    row("share_difference", (k1, n1, k2, n2),
        (p2 - p1, p2 - p1 - math.hypot(p2 - l2, u1 - p1), p2 - p1 + math.hypot(u2 - p2, p1 - l1)))
