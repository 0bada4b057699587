//! All pairs of two samples at once: their differences in order, and how often the second is greater, with
//! censoring and strata.
//!
//! An amount is an interval: a point if it is known, open above if it had not ended, open below if it is
//! below the clock's resolution. The difference of a pair then lies between two ends. A pair whose difference
//! may lie on both sides of a limit counts half on each: Gehan's generalisation (1965) of the ranks of
//! Wilcoxon, Mann and Whitney.
//!
//! Nothing makes a list of the n · m pairs: for a limit they are counted by walking along both sorted
//! samples, and the k-th difference is found by halving the range of floating-point numbers, which is exact
//! after at most 64 steps: O((n + m) · 64).

use super::observed::Knowledge;
use super::weighting::Observation;

/// What is known of an amount on the scale of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// Not less than this.
    pub low: f64,
    /// Not more than this.
    pub high: f64,
}

impl Range {
    /// The range of an observation, after `scale` has been applied to its amount. What had not ended is
    /// longer than what ended at its bound, and what lies below the resolution is shorter than the
    /// resolution.
    pub(crate) fn of(one: &Observation, scale: impl Fn(f64) -> f64) -> Self {
        let amount = scale(one.amount);
        match one.knowledge {
            Knowledge::Exactly => Self { low: amount, high: amount },
            Knowledge::AtLeast => Self { low: amount.next_up(), high: f64::INFINITY },
            Knowledge::AtMost => Self { low: f64::NEG_INFINITY, high: amount.next_down() },
        }
    }
}

/// Two samples under the same circumstances: the whole, or one hour of the week.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stratum {
    first: Side,
    second: Side,
    /// Weight of a pair, so that strata count n m / (n + m).
    weight: f64,
}

/// One sample, with both ends of its ranges in order.
#[derive(Debug, Clone, PartialEq)]
struct Side {
    ranges: Vec<Range>,
    lows: Vec<f64>,
    highs: Vec<f64>,
}

impl Side {
    fn new(ranges: Vec<Range>) -> Self {
        let sorted = |end: fn(&Range) -> f64| {
            let mut ends: Vec<f64> = ranges.iter().map(end).collect();
            ends.sort_unstable_by(f64::total_cmp);
            ends
        };
        Self { lows: sorted(|range| range.low), highs: sorted(|range| range.high), ranges }
    }
}

/// Which end of the differences is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DifferenceEnd {
    /// The least that the difference may be.
    Low,
    /// The most that it may be.
    High,
    /// Both, half each.
    Both,
}

impl Stratum {
    /// `None` if either side is empty.
    pub(crate) fn new(first: Vec<Range>, second: Vec<Range>) -> Option<Self> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let weight = 1.0 / (first.len() + second.len()) as f64;
        Some(Self { first: Side::new(first), second: Side::new(second), weight })
    }

    /// Weight of all its pairs together.
    fn total(&self) -> f64 {
        self.weight * self.first.lows.len() as f64 * self.second.lows.len() as f64
    }

    /// Weight of the pairs whose difference, second less first, does not exceed `limit` at this end.
    fn at_most(&self, limit: f64, end: DifferenceEnd) -> f64 {
        let low = || count_at_most(&self.first.highs, &self.second.lows, limit);
        let high = || count_at_most(&self.first.lows, &self.second.highs, limit);
        self.weight
            * match end {
                DifferenceEnd::Low => low(),
                DifferenceEnd::High => high(),
                DifferenceEnd::Both => (low() + high()) / 2.0,
            }
    }

    fn greatest_finite(&self) -> f64 {
        let far = |ends: &[f64]| {
            let finite = ends.iter().filter(|end| end.is_finite());
            finite.fold(0.0_f64, |far, end| far.max(end.abs()))
        };
        let sides = [&self.first.lows, &self.first.highs, &self.second.lows, &self.second.highs];
        2.0 * sides.map(|ends| far(ends)).into_iter().fold(0.0, f64::max)
    }
}

/// Pairs whose second less first does not exceed `limit`. Both slices ascend.
fn count_at_most(first: &[f64], second: &[f64], limit: f64) -> f64 {
    let mut above = 0;
    let mut count = 0_u64;
    for value in second {
        while above < first.len() && value - first[above] > limit {
            above += 1;
        }
        count += (first.len() - above) as u64;
    }
    count as f64
}

/// The difference that the share `q` of all pairs does not exceed, at this end; infinite if that lies among
/// the open ones.
pub(crate) fn difference_at(strata: &[Stratum], q: f64, end: DifferenceEnd) -> f64 {
    let total: f64 = strata.iter().map(Stratum::total).sum();
    // A hair less: sums of weights are rounded.
    let wanted = q * total * (1.0 - 1e-13);
    let reaches =
        |limit: f64| strata.iter().map(|stratum| stratum.at_most(limit, end)).sum::<f64>() >= wanted;
    let far = strata.iter().map(Stratum::greatest_finite).fold(0.0, f64::max);
    let (mut low, mut high) = (ordinal(-far), ordinal(far));
    if reaches(f64::NEG_INFINITY) {
        return f64::NEG_INFINITY;
    }
    if !reaches(far) {
        return f64::INFINITY;
    }
    if reaches(-far) {
        return -far;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if reaches(from_ordinal(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    from_ordinal(high)
}

/// The median difference at this end: the middle of the two that enclose it.
pub(crate) fn median_difference(strata: &[Stratum], end: DifferenceEnd) -> f64 {
    let low = difference_at(strata, 0.5, end);
    // The next one up, if exactly half of the pairs lie at or below it.
    let high = difference_at(strata, 0.5 + 1e-12, end);
    if low == high { low } else { low + (high - low) / 2.0 }
}

/// Floating-point numbers as integers in the same order.
fn ordinal(value: f64) -> i128 {
    let bits = i128::from(value.to_bits() & !(1 << 63));
    if value.is_sign_negative() { -bits } else { bits }
}

fn from_ordinal(ordinal: i128) -> f64 {
    let magnitude = f64::from_bits(ordinal.unsigned_abs() as u64);
    if ordinal < 0 { -magnitude } else { magnitude }
}

/// Probability that the second is greater, ties and the undecided counting half, and its variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RelativeEffect {
    /// P(first < second) + P(tie) / 2.
    pub probability: f64,
    /// Variance that the first sample contributes, and its degrees of freedom.
    pub first: VariancePart,
    /// The same of the second.
    pub second: VariancePart,
}

/// A part of a variance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct VariancePart {
    pub variance: f64,
    /// Σ (part of a stratum)² / (its degrees of freedom), for Satterthwaite's formula.
    pub squares: f64,
}

impl RelativeEffect {
    /// Of `strata`, the second sample being moved by `-shift` first. Variances are those of Brunner and
    /// Munzel (2000): how much the share of the other sample that an observation exceeds varies. `worth` is
    /// the share of each sample that counts as independent.
    pub(crate) fn of(strata: &[Stratum], shift: f64, worth: [f64; 2]) -> Self {
        let total: f64 = strata.iter().map(Stratum::total).sum();
        let mut effect =
            Self { probability: 0.0, first: VariancePart::default(), second: VariancePart::default() };
        for stratum in strata {
            let share = stratum.total() / total;
            let first = placements(&stratum.first, &stratum.second, -shift);
            let second = placements(&stratum.second, &stratum.first, shift);
            effect.probability += share * second.iter().sum::<f64>() / second.len() as f64;
            effect.first.add(&first, share, worth[0]);
            effect.second.add(&second, share, worth[1]);
        }
        effect
    }

    /// Standard error of the probability.
    pub(crate) fn standard_error(&self) -> f64 {
        (self.first.variance + self.second.variance).sqrt()
    }

    /// Degrees of freedom by Satterthwaite's formula.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        let variance = self.first.variance + self.second.variance;
        (variance * variance / (self.first.squares + self.second.squares)).max(1.0)
    }
}

impl VariancePart {
    fn add(&mut self, placements: &[f64], share: f64, worth: f64) {
        let independent = (placements.len() as f64 * worth).max(2.0);
        let part = share * share * crate::autocorrelation::variance_of(placements) / independent;
        self.variance += part;
        self.squares += part * part / (independent - 1.0);
    }
}

/// For each of `these`, the share of `others` that it exceeds after `others` were moved up by `shift`, ties
/// and the undecided counting half.
fn placements(these: &Side, others: &Side, shift: f64) -> Vec<f64> {
    let count = others.lows.len() as f64;
    let below = |ends: &[f64], limit: f64| {
        let under = ends.partition_point(|end| *end + shift < limit);
        let up_to = under + ends[under..].partition_point(|end| *end + shift <= limit);
        (under + up_to) as f64 / 2.0
    };
    let placement = |one: &Range| {
        // This one is certainly greater than those whose upper end is below its lower end, and so on.
        let certainly = if one.low.is_finite() { below(&others.highs, one.low) } else { 0.0 };
        let possibly = if one.high.is_finite() { below(&others.lows, one.high) } else { count };
        (certainly + possibly) / 2.0 / count
    };
    these.ranges.iter().map(placement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[f64]) -> Vec<Range> {
        values.iter().map(|value| Range { low: *value, high: *value }).collect()
    }

    fn stratum(first: &[f64], second: &[f64]) -> [Stratum; 1] {
        [Stratum::new(points(first), points(second)).unwrap()]
    }

    #[test]
    fn open_ends_move_the_median_to_infinity_only_when_they_are_many() {
        let second = |open: usize| {
            let mut ranges = points(&[1.0, 2.0, 3.0, 4.0]);
            (0..open).for_each(|_| ranges.push(Range { low: 5.0, high: f64::INFINITY }));
            [Stratum::new(points(&[0.0]), ranges).unwrap()]
        };
        assert_eq!(median_difference(&second(1), DifferenceEnd::High), 3.0);
        assert_eq!(median_difference(&second(5), DifferenceEnd::High), f64::INFINITY);
        assert_eq!(median_difference(&second(5), DifferenceEnd::Low), 5.0);
    }

    #[test]
    fn the_undecided_count_half() {
        let open = Range { low: 1.0, high: f64::INFINITY };
        let both = [Stratum::new(vec![open], vec![open]).unwrap()];
        assert_eq!(RelativeEffect::of(&both, 0.0, [1.0, 1.0]).probability, 0.5);
        // 2 against at least 1: it may be either way.
        let one = [Stratum::new(vec![open], points(&[2.0])).unwrap()];
        assert_eq!(RelativeEffect::of(&one, 0.0, [1.0, 1.0]).probability, 0.5);
        let below = Range { low: f64::NEG_INFINITY, high: 0.5 };
        let apart = [Stratum::new(vec![below], vec![open]).unwrap()];
        assert_eq!(RelativeEffect::of(&apart, 0.0, [1.0, 1.0]).probability, 1.0);
    }

    #[test]
    fn numbers_keep_their_order_as_integers() {
        let values = [f64::NEG_INFINITY, -2.5, -0.0, 0.0, f64::MIN_POSITIVE, 1.0, f64::INFINITY];
        let ordinals = values.map(ordinal);
        assert!(ordinals.is_sorted(), "{ordinals:?}");
        assert!(values.iter().all(|value| from_ordinal(ordinal(*value)) == *value));
    }

    proptest! {
        #[test]
        fn differences_are_those_of_all_pairs(
            first in prop::collection::vec(-50_i32..50, 1..25), second in prop::collection::vec(-50_i32..50, 1..25),
            q in 0.01_f64..1.0,
        ) {
            let [first, second] = [first, second].map(|side| side.iter().map(|value| f64::from(*value) / 7.0).collect::<Vec<_>>());
            let mut all: Vec<f64> = second.iter().flat_map(|late| first.iter().map(move |early| late - early)).collect();
            all.sort_unstable_by(f64::total_cmp);
            let pairs = stratum(&first, &second);
            let rank = (q * all.len() as f64).ceil() as usize;
            prop_assert_eq!(difference_at(&pairs, q, DifferenceEnd::Low), all[rank - 1]);
            prop_assert_eq!(difference_at(&pairs, q, DifferenceEnd::Both), all[rank - 1]);
            let middle = (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0;
            prop_assert!((median_difference(&pairs, DifferenceEnd::High) - middle).abs() < 1e-12);
        }

        #[test]
        fn turning_the_comparison_turns_the_probability(
            first in prop::collection::vec(-20_i32..20, 1..25), second in prop::collection::vec(-20_i32..20, 1..25),
        ) {
            let [first, second] = [first, second].map(|side| side.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
            let forth = RelativeEffect::of(&stratum(&first, &second), 0.0, [1.0, 1.0]);
            let back = RelativeEffect::of(&stratum(&second, &first), 0.0, [1.0, 1.0]);
            prop_assert!((forth.probability + back.probability - 1.0).abs() < 1e-12);
            prop_assert!((forth.standard_error() - back.standard_error()).abs() < 1e-12);
        }
    }
}
