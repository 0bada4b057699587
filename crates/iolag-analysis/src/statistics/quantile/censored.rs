//! Quantiles of durations, some of which are only known to be "at least".
//!
//! Definition: the quantile `q` is the smallest measured duration that at least the share `q` of all attempts
//! did not exceed (inverse of the empirical distribution, type 1 of Hyndman and Fan 1996). It is always a
//! duration that was measured, exists under censoring, and is what intervals by order statistics are made of.
//! Type 7 (linear between neighbours: DuckDB's `quantile_cont`, NumPy's default) is offered for comparison
//! with other tools.
//!
//! Censored durations follow Kaplan and Meier 1958; at ties, known durations come before censored ones. With
//! one common deadline the estimate equals the plain distribution with the censored mass on top.
//!
//! Kaplan and Meier assume that what was censored would have gone on like the others. Where attempts are cut off because
//! something hangs, that is not so, and with few of them the estimate claims more than is known: of 1 s, 1 s and 5 s, all cut
//! off, it makes a median of at least 5 s. [`Censoring::Informative`] says only what is certain: each true duration is at
//! least its lower bound, so the k-th smallest of them is at least the k-th smallest bound, and it is known exactly if
//! nothing among the first k is censored.

use crate::statistics::interval::estimate::Estimate;
use iolag_model::Nanoseconds;

/// With fewer attempts there is no interval of the median, and nothing is said of shares.
pub(crate) const ATTEMPTS_LEAST: u64 = 6;

/// Those that are told of every distribution.
pub(crate) const QUANTILES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// A quantile of durations, or why there is none.
pub type QuantileValue = Estimate<Nanoseconds>;

/// What being censored says of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Censoring {
    /// Nothing: it would have gone on like the others (Kaplan and Meier).
    #[default]
    Independent,
    /// That it may have been of another kind: only what is certain counts.
    Informative,
    /// That only of few attempts, where a single one that was cut off decides what the median is.
    InformativeIfFew,
}

impl Censoring {
    /// What it is of so many attempts: one of the first two.
    pub(crate) const fn of(self, attempts: u64) -> Self {
        match self {
            Self::InformativeIfFew if attempts < ATTEMPTS_LEAST => Self::Informative,
            Self::InformativeIfFew => Self::Independent,
            Self::Independent | Self::Informative => self,
        }
    }
}

/// Durations that were censored at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CensoredStep {
    /// After how many ns.
    pub bound_ns: u64,
    /// Known durations that were not longer.
    pub known: u64,
    /// How many.
    pub count: u64,
}

/// Where censored durations lie among the known ones: turns a share of all attempts into a rank among the
/// known.
///
/// Between two censoring times the Kaplan-Meier estimate falls by equal steps, so the whole estimate is a
/// short list of segments, whatever the number of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct CensoredRanks {
    segments: Vec<Segment>,
    known: u64,
    total: u64,
    longest_ns: u64,
    /// For [`Censoring::Informative`].
    steps: Option<Vec<CensoredStep>>,
}

/// Where the k-th smallest lower bound is found.
enum Bound {
    /// It is the known duration of this rank, and nothing below it is censored.
    Exactly(u64),
    /// It is the known duration of this rank.
    AtLeast(u64),
    /// It is that of a censored duration, in ns.
    Censored(u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    /// Known durations before this segment.
    first_rank: u64,
    /// Known durations in it.
    known: u64,
    /// Share of attempts that last longer than everything before it.
    survival: f64,
    /// Attempts at risk at its start.
    at_risk: u64,
}

impl CensoredRanks {
    /// `known` durations, and what was censored, ascending. `longest_ns` is the longest known or censored duration.
    pub fn new(known: u64, steps: Vec<CensoredStep>, longest_ns: u64, censoring: Censoring) -> Self {
        let total = known + steps.iter().map(|step| step.count).sum::<u64>();
        if censoring.of(total) == Censoring::Informative {
            return Self { segments: Vec::new(), known, total, longest_ns, steps: Some(steps) };
        }
        let mut segments = Vec::with_capacity(steps.len() + 1);
        let mut segment = Segment { first_rank: 0, known: 0, survival: 1.0, at_risk: total };
        for (rank, count) in steps.iter().map(|step| (step.known, step.count)).chain([(known, 0)]) {
            segment.known = rank.saturating_sub(segment.first_rank);
            if segment.known > 0 {
                segments.push(segment);
                let left = segment.at_risk - segment.known;
                segment.survival *= left as f64 / segment.at_risk as f64;
            }
            segment.first_rank += segment.known;
            segment.at_risk -= segment.known + count;
        }
        Self { segments, known, total, longest_ns, steps: None }
    }

    fn bound(&self, steps: &[CensoredStep], q: f64) -> Bound {
        // Shares such as 0.95 are not exact in binary: a hair above a whole step is that step.
        let wanted = (q * self.total as f64 - 1e-9 * self.total as f64).ceil().max(1.0) as u64;
        let mut before = 0;
        for step in steps {
            if wanted <= step.known + before {
                break;
            }
            before += step.count;
            if wanted <= step.known + before {
                return Bound::Censored(step.bound_ns);
            }
        }
        if before == 0 { Bound::Exactly(wanted) } else { Bound::AtLeast(wanted - before) }
    }

    /// All attempts, known and censored.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The rank among the known durations (1 is the shortest) at which the share `q` of all attempts is
    /// reached, or `None` if that lies in the censored mass.
    pub fn rank_of_share(&self, q: f64) -> Option<u64> {
        for segment in &self.segments {
            let at_risk = segment.at_risk as f64;
            let steps = at_risk * (1.0 - (1.0 - q) / segment.survival);
            // Shares such as 0.95 are not exact in binary: a hair above a whole step is that step.
            let steps = (steps - 1e-9 * at_risk.max(1.0)).ceil().max(1.0);
            if steps <= segment.known as f64 {
                return Some(segment.first_rank + steps as u64);
            }
        }
        None
    }

    /// The quantile `q`, asking `value_of_rank` for the known duration of a rank. What was cut off may have lasted longer than anything that ended, so
    /// the greatest of all is a bound then.
    pub fn quantile(&self, q: f64, value_of_rank: impl FnOnce(u64) -> Option<Nanoseconds>) -> QuantileValue {
        if self.total == 0 {
            return QuantileValue::TooFew { needed: 1, have: 0 };
        }
        if let Some(steps) = &self.steps {
            let longest = Nanoseconds(self.longest_ns);
            return match self.bound(steps, q) {
                Bound::Exactly(rank) => {
                    value_of_rank(rank).map_or(QuantileValue::AtLeast(longest), QuantileValue::Exactly)
                }
                Bound::AtLeast(rank) => QuantileValue::AtLeast(value_of_rank(rank).unwrap_or(longest)),
                Bound::Censored(bound_ns) => QuantileValue::AtLeast(Nanoseconds(bound_ns)),
            };
        }
        let rank = self.rank_of_share(q).filter(|_| q < 1.0 || self.known == self.total);
        match rank.and_then(value_of_rank) {
            Some(value) => QuantileValue::Exactly(value),
            None => QuantileValue::AtLeast(Nanoseconds(self.longest_ns)),
        }
    }
}

/// Exact quantile of known and censored durations in ns; both slices are sorted by the call.
pub fn quantile_of(
    known_ns: &mut [u64],
    censored_ns: &mut [u64],
    q: f64,
    censoring: Censoring,
) -> QuantileValue {
    known_ns.sort_unstable();
    censored_ns.sort_unstable();
    let steps = censored_steps(censored_ns, |limit| known_ns.partition_point(|ns| *ns <= limit) as u64);
    let longest = known_ns.last().max(censored_ns.last()).copied().unwrap_or(0);
    CensoredRanks::new(known_ns.len() as u64, steps, longest, censoring)
        .quantile(q, |rank| known_ns.get(rank as usize - 1).copied().map(Nanoseconds))
}

/// Sorted censored durations as the steps that [`CensoredRanks::new`] takes.
pub(crate) fn censored_steps(sorted_ns: &[u64], known_at_most: impl Fn(u64) -> u64) -> Vec<CensoredStep> {
    let step = |equal: &[u64]| CensoredStep {
        bound_ns: equal[0],
        known: known_at_most(equal[0]),
        count: equal.len() as u64,
    };
    sorted_ns.chunk_by(|left, right| left == right).map(step).collect()
}

/// Quantile of type 7 in ns by selection, without sorting all: linear between the two neighbours of rank
/// `1 + q (n - 1)`. `None` of an empty slice. The slice is reordered.
pub fn quantile_type_7(values_ns: &mut [u64], q: f64) -> Option<f64> {
    let last = values_ns.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let index = position.floor() as usize;
    let (_, low, above) = values_ns.select_nth_unstable(index);
    let low = *low as f64;
    let fraction = position - index as f64;
    match above.iter().min() {
        Some(&high) if fraction > 0.0 => Some(low + fraction * (high as f64 - low)),
        _ => Some(low),
    }
}

/// The median of a few values: the middle one, of an even number the mean of the middle two. `None` without any.
pub fn median_of(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(lower + (upper - lower) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantile_of(known_ns: &mut [u64], censored_ns: &mut [u64], q: f64) -> QuantileValue {
        super::quantile_of(known_ns, censored_ns, q, Censoring::Independent)
    }

    fn certain_quantile_of(known_ns: &mut [u64], censored_ns: &mut [u64], q: f64) -> QuantileValue {
        super::quantile_of(known_ns, censored_ns, q, Censoring::Informative)
    }

    #[test]
    fn without_censoring_it_is_the_inverse_of_the_distribution() {
        let mut values: Vec<u64> = (1..=100).rev().collect();
        for (q, expected) in [(0.0, 1), (0.01, 1), (0.5, 50), (0.501, 51), (0.9, 90), (0.95, 95), (1.0, 100)]
        {
            let expected = QuantileValue::Exactly(Nanoseconds(expected));
            assert_eq!(quantile_of(&mut values, &mut [], q), expected, "{q}");
        }
    }

    #[test]
    fn a_common_deadline_puts_the_mass_on_top() {
        let (mut known, mut censored) = (vec![1, 2, 3, 4, 5, 6, 7, 8], vec![15, 15]);
        assert_eq!(quantile_of(&mut known, &mut censored, 0.8), QuantileValue::Exactly(Nanoseconds(8)));
        assert_eq!(quantile_of(&mut known, &mut censored, 0.81), QuantileValue::AtLeast(Nanoseconds(15)));
    }

    #[test]
    fn differing_censoring_times_follow_kaplan_and_meier() {
        // Freireich 1963, treated group (weeks to relapse), survival in every textbook: 0.857 after 6, 0.807
        // after 7, 0.753 after 10, 0.690 after 13, 0.627 after 16, 0.538 after 22, 0.448 after 23; median 23.
        let known = [6, 6, 6, 7, 10, 13, 16, 22, 23];
        let censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
        for (q, expected) in [
            (0.142, QuantileValue::Exactly(Nanoseconds(6))),
            (0.144, QuantileValue::Exactly(Nanoseconds(7))),
            (0.30, QuantileValue::Exactly(Nanoseconds(13))),
            (0.32, QuantileValue::Exactly(Nanoseconds(16))),
            (0.5, QuantileValue::Exactly(Nanoseconds(23))),
            (0.56, QuantileValue::AtLeast(Nanoseconds(35))),
        ] {
            assert_eq!(quantile_of(&mut known.to_vec(), &mut censored.to_vec(), q), expected, "{q}");
        }
    }

    #[test]
    fn the_median_of_two_is_neither_of_them() {
        assert_eq!(median_of(&[109_480.0, 13_781.0]), Some(61_630.5));
        assert_eq!(median_of(&[4.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median_of(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!((median_of(&[7.0]), median_of(&[])), (Some(7.0), None));
    }

    #[test]
    fn everything_censored_is_at_least_the_longest() {
        assert_eq!(quantile_of(&mut [], &mut [3, 9], 0.1), QuantileValue::AtLeast(Nanoseconds(9)));
    }

    #[test]
    fn what_was_cut_off_may_be_the_longest() {
        let quantile = |censored: &mut [u64], q| quantile_of(&mut [30, 43, 71, 121], censored, q);
        assert_eq!(quantile(&mut [68, 96], 1.0), QuantileValue::AtLeast(Nanoseconds(121)));
        assert_eq!(quantile(&mut [68, 96], 0.5), QuantileValue::Exactly(Nanoseconds(71)));
        assert_eq!(quantile(&mut [], 1.0), QuantileValue::Exactly(Nanoseconds(121)));
    }

    #[test]
    fn where_censoring_says_something_only_what_is_certain_is_said() {
        let certain = |known: &[u64], censored: &[u64], q| {
            certain_quantile_of(&mut known.to_vec(), &mut censored.to_vec(), q)
        };
        let at_least = |ns| QuantileValue::AtLeast(Nanoseconds(ns));
        // Two were cut off after 1 s and one after 5.06 s: of two only 1 s is known.
        assert_eq!(certain(&[], &[5_060, 1_000, 1_000], 0.5), at_least(1_000));
        assert_eq!(certain(&[], &[3_180, 3_000], 0.0), at_least(3_000));
        assert_eq!(certain(&[], &[3_180, 3_000], 1.0), at_least(3_180));
        // One that ended after 3 s is not the median of what may have taken longer.
        assert_eq!(certain(&[3_000], &[1_000, 1_000], 0.5), at_least(1_000));
        assert_eq!(certain(&[3_000], &[1_000, 1_000], 0.99), at_least(3_000));
        let exactly = QuantileValue::Exactly(Nanoseconds(2));
        assert_eq!(certain(&[1, 2, 3], &[9], 0.5), exactly);
        assert_eq!(certain(&[], &[], 0.5), QuantileValue::TooFew { needed: 1, have: 0 });
    }

    #[test]
    fn type_7_interpolates() {
        assert_eq!(quantile_type_7(&mut [4, 1, 3, 2], 0.5), Some(2.5));
        assert_eq!(quantile_type_7(&mut [4, 1, 3, 2], 1.0), Some(4.0));
        assert_eq!(quantile_type_7(&mut [], 0.5), None);
    }

    proptest! {
        #[test]
        fn a_certain_quantile_is_never_above_the_true_one(
            attempts in prop::collection::vec((1_u64..1000, 1_u64..1000), 1..60), q in 0.001_f64..0.999,
        ) {
            let (mut known, mut censored) = (Vec::new(), Vec::new());
            for (true_ns, cut_ns) in &attempts {
                if cut_ns < true_ns { censored.push(*cut_ns) } else { known.push(*true_ns) }
            }
            let mut all: Vec<u64> = attempts.iter().map(|(true_ns, _)| *true_ns).collect();
            let QuantileValue::Exactly(truth) = quantile_of(&mut all, &mut [], q) else { panic!("all are known") };
            match certain_quantile_of(&mut known, &mut censored, q) {
                QuantileValue::Exactly(found) => prop_assert_eq!(found, truth),
                QuantileValue::AtLeast(bound) => prop_assert!(bound <= truth),
                few => prop_assert!(false, "{few:?}"),
            }
        }

        #[test]
        fn a_quantile_leaves_at_most_its_share_below(
            mut known in prop::collection::vec(1_u64..1000, 1..100), q in 0.001_f64..0.999,
        ) {
            let value = quantile_of(&mut known, &mut [], q).lower_bound().unwrap().0;
            let n = known.len() as f64;
            let at_most = known.iter().filter(|ns| **ns <= value).count() as f64;
            let below = known.iter().filter(|ns| **ns < value).count() as f64;
            prop_assert!(at_most + 1e-6 >= q * n && below < q * n + 1e-6);
        }
    }
}
