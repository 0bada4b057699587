//! Intervals by ranks, for runs of which some are only bounded: those of Wilcoxon (1945), Mann and Whitney (1947), turned into intervals as
//! Hodges and Lehmann (1963) did.
//!
//! The difference is the median of *contrasts*: the means of all two differences of blocks, or the differences of all pairs of runs. How many of
//! them exceed the true difference has a known law if both sides are alike but for it. Of a contrast with open ends the lower one counts for the lower end of the interval,
//! and the upper one for the upper end: each is the worst that may be true, so intervals hold at least as often as they say.

use super::contrasts::{Contrasts, first_that};
use super::log_range::LogRange;
use crate::statistics::student::normal_below;

/// As many steps as the law of 200 runs a side takes: where it takes more, the normal one with continuity correction stands for it. Its tails are a little
/// thicker.
const LAW_STEPS_MOST: usize = 200 * 200 * 200;

/// The contrasts of two sides, at either end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranked {
    lows: Contrasts,
    highs: Contrasts,
}

impl Ranked {
    /// Of the differences of blocks.
    pub(super) fn signed(differences: &[LogRange]) -> Self {
        let means = |end| Contrasts::means(ends(differences, end));
        Self { lows: means(LogRange::low), highs: means(LogRange::high) }
    }

    /// Of runs that are apart.
    pub(super) fn apart(base: &[LogRange], other: &[LogRange]) -> Self {
        let differences =
            |of_other, of_base| Contrasts::differences(ends(other, of_other), ends(base, of_base));
        Self {
            lows: differences(LogRange::low, LogRange::high),
            highs: differences(LogRange::high, LogRange::low),
        }
    }

    /// Of runs that are apart in each stratum: those of different strata have no contrast.
    pub(super) fn within(strata: &[[Vec<LogRange>; 2]]) -> Self {
        let parts = strata.iter().map(|[base, other]| Self::apart(base, other));
        let (lows, highs) = parts.map(|part| (part.lows, part.highs)).unzip();
        Self { lows: Contrasts::Several(lows), highs: Contrasts::Several(highs) }
    }

    /// The median of the contrasts.
    pub(super) fn estimate(&self) -> LogRange {
        LogRange::between(self.lows.median(), self.highs.median())
    }
}

fn ends(ranges: &[LogRange], end: fn(LogRange) -> f64) -> Vec<f64> {
    ranges.iter().map(|range| end(*range)).collect()
}

/// Contrasts, and the law of how many of them lie on one side of the true difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks {
    ranked: Ranked,
    law: Law,
}

impl Ranks {
    pub(super) fn of(ranked: Ranked) -> Self {
        let law = Law::of(&ranked.lows);
        Self { ranked, law }
    }

    /// The interval that misses the difference with a probability below `level`; open where there is none.
    pub(super) fn interval_at(&self, level: f64) -> LogRange {
        let Ranked { lows, highs } = &self.ranked;
        let ranks =
            first_that(0, lows.count() as u64, |count| self.law.at_most(count as usize) >= level / 2.0);
        let low = (ranks as usize).checked_sub(1).and_then(|place| lows.at(place));
        let high = highs.count().checked_sub(ranks as usize).and_then(|place| highs.at(place));
        LogRange::between(low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
    }

    /// Two-sided p of a difference of at most `margin`.
    pub(super) fn p(&self, margin: f64) -> f64 {
        let Ranked { lows, highs } = &self.ranked;
        let below = lows.at_most(margin);
        let above = highs.count() - highs.below(-margin);
        (2.0 * self.law.at_most(below.min(above))).min(1.0)
    }
}

/// How many contrasts lie below the true difference.
#[derive(Debug, Clone, PartialEq)]
enum Law {
    /// The probability that at most 0, 1, 2, … do.
    Exact(Vec<f64>),
    /// As many as a normal variable, rounded.
    Normal { mean: f64, deviation: f64 },
}

impl Law {
    fn of(contrasts: &Contrasts) -> Self {
        match *contrasts {
            Contrasts::Means(ref differences) => Self::signed_ranks(differences.len()),
            Contrasts::Differences(ref others, ref bases) => Self::rank_sums(bases.len(), others.len()),
            Contrasts::Several(ref parts) => {
                let laws = parts.iter().map(Self::of);
                laws.reduce(|one, other| one.and(&other)).unwrap_or_else(|| Self::exact(&[1.0]))
            }
        }
    }

    /// Of both together, which know nothing of each other (van Elteren 1960, with equal weights).
    fn and(&self, other: &Self) -> Self {
        if let (Self::Exact(one), Self::Exact(other)) = (self, other)
            && one.len().saturating_mul(other.len()) <= LAW_STEPS_MOST
        {
            let mut law = vec![0.0; one.len() + other.len() - 1];
            for (count, probability) in probabilities(one) {
                probabilities(other).for_each(|(more, own)| law[count + more] += probability * own);
            }
            return Self::exact(&law);
        }
        let ((one, of_one), (other, of_other)) = (self.moments(), other.moments());
        Self::Normal { mean: one + other, deviation: (of_one + of_other).sqrt() }
    }

    /// Mean and variance.
    fn moments(&self) -> (f64, f64) {
        match self {
            Self::Exact(at_most) => {
                let mean = (at_most.len() - 1) as f64 / 2.0;
                let square = |(count, probability)| probability * (count as f64 - mean).powi(2);
                (mean, probabilities(at_most).map(square).sum())
            }
            Self::Normal { mean, deviation } => (*mean, deviation.powi(2)),
        }
    }

    fn signed_ranks(n: usize) -> Self {
        if takes_long(n, n) { Self::normal_signed(n as f64) } else { Self::exact(&signed_ranks(n)) }
    }

    fn rank_sums(n: usize, m: usize) -> Self {
        if takes_long(n, m) { Self::normal_sums(n as f64, m as f64) } else { Self::exact(&rank_sums(n, m)) }
    }

    fn exact(law: &[f64]) -> Self {
        let at_most = law.iter().scan(0.0, |sum, probability| {
            *sum += probability;
            Some(*sum)
        });
        Self::Exact(at_most.collect())
    }

    fn normal_signed(n: f64) -> Self {
        Self::Normal { mean: n * (n + 1.0) / 4.0, deviation: (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt() }
    }

    fn normal_sums(n: f64, m: f64) -> Self {
        Self::Normal { mean: n * m / 2.0, deviation: (n * m * (n + m + 1.0) / 12.0).sqrt() }
    }

    /// The probability that at most so many do.
    fn at_most(&self, count: usize) -> f64 {
        match self {
            Self::Exact(at_most) => at_most.get(count).copied().unwrap_or(1.0),
            Self::Normal { mean, deviation } => normal_below((count as f64 + 0.5 - mean) / deviation),
        }
    }
}

/// Of each count, by the probabilities that it is at most so great.
fn probabilities(at_most: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    let mut below = 0.0;
    at_most.iter().map(move |at_most| at_most - std::mem::replace(&mut below, *at_most)).enumerate()
}

const fn takes_long(n: usize, m: usize) -> bool {
    let least = if n < m { n } else { m };
    n.saturating_mul(m).saturating_mul(least) > LAW_STEPS_MOST
}

/// The probabilities that the ranks 1 to `n`, each taken or not with equal probability, sum to 0, 1, 2, …
fn signed_ranks(n: usize) -> Vec<f64> {
    let mut law = vec![0.0; n * (n + 1) / 2 + 1];
    law[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..law.len()).rev() {
            let taken = sum.checked_sub(rank).map_or(0.0, |without| law[without]);
            law[sum] = f64::midpoint(law[sum], taken);
        }
    }
    law
}

/// The probabilities that 0, 1, 2, … of the n · m pairs of two samples are in order: the coefficients of the Gaussian binomial, one factor
/// (1 - q^(m + k)) / (1 - q^k) after the other. Only the lower half is computed, since what is rounded there grows without bounds beyond; the other half mirrors it.
fn rank_sums(n: usize, m: usize) -> Vec<f64> {
    // In one order, so that swapping the sides rounds nothing differently.
    let (n, m) = (n.min(m), n.max(m));
    let most = n * m;
    let mut law = vec![0.0; most / 2 + 1];
    law[0] = 1.0;
    for k in 1..=n {
        for pairs in (m + k..law.len()).rev() {
            law[pairs] -= law[pairs - (m + k)];
        }
        for pairs in k..law.len() {
            law[pairs] += law[pairs - k];
        }
        let share = k as f64 / (m + k) as f64;
        law.iter_mut().for_each(|probability| *probability *= share);
    }
    (0..=most).map(|pairs| law[pairs.min(most - pairs)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(differences: &[LogRange]) -> Ranks {
        Ranks::of(Ranked::signed(differences))
    }

    /// Both laws by counting all cases.
    #[test]
    fn laws_are_those_of_all_cases() {
        let mut signed = vec![0.0; 29];
        for taken in 0_usize..128 {
            signed[(1..=7).filter(|rank| taken >> (rank - 1) & 1 == 1).sum::<usize>()] += 1.0 / 128.0;
        }
        assert_eq!(signed_ranks(7), signed);
        let mut sums = vec![0.0; 13];
        for first in (0_usize..128).filter(|taken| taken.count_ones() == 3) {
            let is_first = |place: usize| first >> place & 1 == 1;
            let in_order = (0..7)
                .flat_map(|one| (one + 1..7).map(move |other| (one, other)))
                .filter(|(one, other)| is_first(*one) && !is_first(*other));
            sums[in_order.count()] += 1.0 / 35.0;
        }
        for (found, expected) in rank_sums(3, 4).iter().zip(&sums) {
            assert!((found - expected).abs() < 1e-14, "{found} instead of {expected}");
        }
        for law in [signed_ranks(300), rank_sums(120, 150)] {
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9 && law.iter().all(|one| *one > -1e-15));
        }
    }

    /// Of 3 and 4, and 4 and 4: by hand 1 of 35 · 70 cases has no pair in order, and two have one. Of more it is the normal one of both.
    #[test]
    fn laws_of_strata_are_those_of_their_sums() {
        let Law::Exact(both) = Law::rank_sums(3, 4).and(&Law::rank_sums(4, 4)) else { panic!("it is short") };
        assert_eq!(both.len(), 12 + 16 + 1);
        for (count, cases) in [(0, 1.0), (1, 3.0), (28, 2450.0)] {
            assert!((both[count] * 2450.0 - cases).abs() < 1e-9, "{count}");
        }
        let [one, other] = [(190, 200), (150, 160)].map(|(n, m)| Law::rank_sums(n, m));
        let Law::Normal { mean, deviation } = one.and(&other) else { panic!("it is too long") };
        let normal = |n: f64, m: f64| (n * m / 2.0, n * m * (n + m + 1.0) / 12.0);
        let (expected, variance) = [normal(190.0, 200.0), normal(150.0, 160.0)]
            .into_iter()
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        assert!((mean - expected).abs() < 1e-9 && (deviation / variance.sqrt() - 1.0).abs() < 1e-9);
    }

    /// Of as many runs as the law is computed for, the normal one says the same, or a little less sure.
    #[test]
    fn where_the_law_changes_both_say_the_same() {
        let laws = [
            (Law::signed_ranks(200), Law::normal_signed(200.0)),
            (Law::rank_sums(200, 200), Law::normal_sums(200.0, 200.0)),
            (Law::rank_sums(100, 800), Law::normal_sums(100.0, 800.0)),
            (Law::rank_sums(40, 5000), Law::normal_sums(40.0, 5000.0)),
        ];
        for (exact, normal) in laws {
            let Law::Exact(at_most) = &exact else { panic!("it is not too long") };
            let counts = || (0..at_most.len()).filter(|count| at_most[*count] <= 0.5);
            let tail = |level: f64| counts().find(|count| at_most[*count] >= level).unwrap_or_default();
            for (level, most) in [(0.025, 1.01), (0.025 / 8.0, 1.06), (0.025 / 100.0, 1.17)] {
                let ratio = normal.at_most(tail(level)) / exact.at_most(tail(level));
                assert!((0.999..most).contains(&ratio), "{level}: {ratio} by {normal:?}");
            }
        }
        let is_exact = |law: Law| matches!(law, Law::Exact(_));
        assert!(!is_exact(Law::signed_ranks(201)) && !is_exact(Law::rank_sums(201, 200)));
    }

    /// Two thousand runs a side have four million contrasts: none of them is listed.
    #[test]
    fn thousands_of_runs_of_which_one_hung_have_an_interval() {
        let values = |shift: f64| {
            let value = move |at: u32| LogRange::exactly(shift + f64::from(at * 7919 % 2000) / 1e4);
            (0..2000).map(value)
        };
        let base: Vec<LogRange> = values(0.0).collect();
        let mut other: Vec<LogRange> = values(-0.3).collect();
        other[1000] = LogRange::UNKNOWN;
        for ranks in [
            Ranks::of(Ranked::apart(&base, &other)),
            signed(&base.iter().zip(&other).map(|(base, other)| other.less(*base)).collect::<Vec<_>>()),
        ] {
            let interval = ranks.interval_at(0.05);
            assert!((-0.31..-0.29).contains(&interval.low()), "{interval:?}");
            assert!((interval.low()..-0.29).contains(&interval.high()) && ranks.p(0.0) < 1e-100);
        }
    }

    #[test]
    fn nothing_has_an_open_interval() {
        let nothing = signed(&[]);
        assert_eq!(
            (nothing.ranked.estimate(), nothing.interval_at(0.05)),
            (LogRange::UNKNOWN, LogRange::UNKNOWN)
        );
        assert_eq!(nothing.p(0.0), 1.0);
    }

    /// Nine blocks of which one hung on the other side: at the level of a table of eight cells slower can be told, faster cannot.
    #[test]
    fn a_hang_opens_one_end() {
        let mut differences: Vec<LogRange> =
            (0..8).map(|block| LogRange::exactly(-0.5 - f64::from(block) / 100.0)).collect();
        differences.push(LogRange::at_most(-2.0));
        let ranks = signed(&differences);
        let interval = ranks.interval_at(0.05 / 8.0);
        assert_eq!((interval.low(), interval.high()), (f64::NEG_INFINITY, -0.5));
        assert_eq!(ranks.p(0.0), 2.0 / 512.0);
        assert_eq!(ranks.p(0.501), 4.0 / 512.0);
        assert_eq!(ranks.p(f64::INFINITY), 1.0);
    }
}
