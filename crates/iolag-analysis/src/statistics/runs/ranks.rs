//! Exact intervals by ranks, for runs of which some are only bounded: those of Wilcoxon (1945), Mann and Whitney (1947), turned into intervals as
//! Hodges and Lehmann (1963) did.
//!
//! The difference is the median of *contrasts*: the means of all two differences of blocks, or the differences of all pairs of runs. How many of
//! them exceed the true difference has a known law if both sides are alike but for it. Of a contrast with open ends the lower one counts for the lower end of the interval,
//! and the upper one for the upper end: each is the worst that may be true, so intervals hold at least as often as they say.

use super::log_range::LogRange;

/// The contrasts, at either end in order, and the law of how many of them lie on one side of the true difference.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranks {
    lows: Vec<f64>,
    highs: Vec<f64>,
    /// The probability that at most so many do.
    at_most: Vec<f64>,
}

impl Ranks {
    /// Of the differences of blocks.
    pub(super) fn signed(differences: &[LogRange]) -> Self {
        let averages = differences
            .iter()
            .enumerate()
            .flat_map(|(place, one)| differences[place..].iter().map(|other| average(*one, *other)));
        Self::new(averages.collect(), signed_ranks(differences.len()))
    }

    /// Of runs that are apart.
    pub(super) fn apart(base: &[LogRange], other: &[LogRange]) -> Self {
        let differences = other.iter().flat_map(|other| base.iter().map(|base| other.less(*base)));
        Self::new(differences.collect(), rank_sums(base.len(), other.len()))
    }

    fn new(contrasts: Vec<LogRange>, law: Vec<f64>) -> Self {
        let ascending = |end: fn(LogRange) -> f64| {
            let mut ends: Vec<f64> = contrasts.iter().map(|contrast| end(*contrast)).collect();
            ends.sort_unstable_by(f64::total_cmp);
            ends
        };
        let at_most = law.iter().scan(0.0, |sum, probability| {
            *sum += probability;
            Some(*sum)
        });
        Self { lows: ascending(LogRange::low), highs: ascending(LogRange::high), at_most: at_most.collect() }
    }

    /// The median of the contrasts.
    pub(super) fn estimate(&self) -> LogRange {
        LogRange::between(median(&self.lows), median(&self.highs))
    }

    /// The interval that misses the difference with a probability below `level`; open where there is none.
    pub(super) fn interval_at(&self, level: f64) -> LogRange {
        let ranks = self.at_most.partition_point(|probability| *probability < level / 2.0);
        let low = ranks.checked_sub(1).and_then(|place| self.lows.get(place));
        let high = self.highs.len().checked_sub(ranks).and_then(|place| self.highs.get(place));
        let (open_low, open_high) = (f64::NEG_INFINITY, f64::INFINITY);
        LogRange::between(*low.unwrap_or(&open_low), *high.unwrap_or(&open_high))
    }

    /// Two-sided p of a difference of at most `margin`.
    pub(super) fn p(&self, margin: f64) -> f64 {
        let below = self.lows.partition_point(|low| *low <= margin);
        let above = self.highs.len() - self.highs.partition_point(|high| *high < -margin);
        let tail = |count: usize| self.at_most.get(count).copied().unwrap_or(1.0);
        (2.0 * tail(below.min(above))).min(1.0)
    }
}

fn average(one: LogRange, other: LogRange) -> LogRange {
    LogRange::between(f64::midpoint(one.low(), other.low()), f64::midpoint(one.high(), other.high()))
}

fn median(ascending: &[f64]) -> f64 {
    let middle = |place: usize| ascending.get(place).copied().unwrap_or(f64::NAN);
    let count = ascending.len();
    f64::midpoint(middle(count.saturating_sub(1) / 2), middle(count / 2))
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

    #[test]
    fn nothing_has_an_open_interval() {
        let nothing = Ranks::signed(&[]);
        assert_eq!((nothing.estimate(), nothing.interval_at(0.05)), (LogRange::UNKNOWN, LogRange::UNKNOWN));
        assert_eq!(nothing.p(0.0), 1.0);
    }

    /// Nine blocks of which one hung on the other side: at the level of a table of eight cells slower can be told, faster cannot.
    #[test]
    fn a_hang_opens_one_end() {
        let mut differences: Vec<LogRange> =
            (0..8).map(|block| LogRange::exactly(-0.5 - f64::from(block) / 100.0)).collect();
        differences.push(LogRange::at_most(-2.0));
        let ranks = Ranks::signed(&differences);
        let interval = ranks.interval_at(0.05 / 8.0);
        assert_eq!((interval.low(), interval.high()), (f64::NEG_INFINITY, -0.5));
        assert_eq!(ranks.p(0.0), 2.0 / 512.0);
        assert_eq!(ranks.p(0.501), 4.0 / 512.0);
        assert_eq!(ranks.p(f64::INFINITY), 1.0);
    }
}
