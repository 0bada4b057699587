//! The differences of all pairs of two samples in order, with censoring and strata.
//!
//! An amount is an interval: a point if it is known, open above if it had not ended, open below if it is
//! below the clock's resolution. The difference of a pair then lies between two ends. A pair whose difference
//! may lie on both sides of a limit counts half on each: Gehan's generalisation (1965) of the ranks of
//! Wilcoxon, Mann and Whitney.
//!
//! Nothing makes a list of the n · m pairs: for a limit they are counted by walking along both sorted
//! samples, and the k-th difference is found by halving the range of floating-point numbers, which is exact
//! after at most 64 steps: O((n + m) · 64). Of samples of more than 20,000 together a difference is found to a
//! millionth of the range that a random choice of pairs leaves, in a tenth of the steps; it is that of a pair.

use super::crossing::last_below_zero;
use super::strata::{Range, Stratum};
use crate::statistics::dependence::correlation_time::below;
use iolag_model::Random;

/// Larger samples are compared to a millionth of what matters.
const EXACT_MOST: usize = 20_000;
/// Pairs that say where a difference in large samples is to be looked for.
const DRAWN_PAIRS: usize = 4096;
/// How far from the wanted share that may be wrong, in standard errors.
const DRAWN_ERRORS: f64 = 4.0;
const SEED: u64 = 2008;

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
    /// Weight of the pairs whose difference, second less first, does not exceed `limit` at this end.
    fn at_most(&self, limit: f64, end: DifferenceEnd) -> f64 {
        let low = || count_at_most(&self.first.highs, &self.second.lows, limit);
        let high = || count_at_most(&self.first.lows, &self.second.highs, limit);
        self.weight
            * match end {
                _ if self.is_exact => low(),
                DifferenceEnd::Low => low(),
                DifferenceEnd::High => high(),
                DifferenceEnd::Both => (low() + high()) / 2.0,
            }
    }

    /// The least difference of a pair above `limit` at this end.
    fn least_above(&self, limit: f64, end: DifferenceEnd) -> f64 {
        let low = || least_above(&self.first.highs, &self.second.lows, limit);
        let high = || least_above(&self.first.lows, &self.second.highs, limit);
        match end {
            DifferenceEnd::Low => low(),
            DifferenceEnd::High => high(),
            DifferenceEnd::Both => low().min(high()),
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

/// The least of second less first above `limit`; infinite if there is none. Both slices ascend.
fn least_above(first: &[f64], second: &[f64], limit: f64) -> f64 {
    let mut above = 0;
    let mut least = f64::INFINITY;
    for value in second {
        while above < first.len() && value - first[above] > limit {
            above += 1;
        }
        // The last one passed is the greatest whose difference exceeds the limit.
        if let Some(nearest) = above.checked_sub(1).and_then(|place| first.get(place)) {
            least = least.min(value - nearest);
        }
    }
    least
}

/// The difference that the share `q` of all pairs does not exceed, at this end; infinite if that lies among
/// the open ones.
pub(crate) fn difference_at(strata: &[Stratum], q: f64, end: DifferenceEnd) -> f64 {
    let total: f64 = strata.iter().map(Stratum::total).sum();
    // A hair less: sums of weights are rounded.
    let wanted = q * total * (1.0 - 1e-13);
    let excess = |limit: f64| strata.iter().map(|stratum| stratum.at_most(limit, end)).sum::<f64>() - wanted;
    let reaches = |limit: f64| excess(limit) >= 0.0;
    let observations: usize =
        strata.iter().map(|stratum| stratum.first.lows.len() + stratum.second.lows.len()).sum();
    if observations > EXACT_MOST
        && let Some(found) = difference_near(strata, q, end, &excess)
    {
        return found;
    }
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

/// The same of large samples: a difference of a pair, within a millionth of where a random choice of pairs says that the wanted
/// one lies. `None` if that choice was unlucky, or everything there is open or equal.
fn difference_near(
    strata: &[Stratum],
    q: f64,
    end: DifferenceEnd,
    excess: &dyn Fn(f64) -> f64,
) -> Option<f64> {
    let mut drawn = drawn_differences(strata, end);
    drawn.sort_unstable_by(f64::total_cmp);
    let reach = DRAWN_ERRORS * (q * (1.0 - q) / drawn.len() as f64).sqrt() + 1.0 / drawn.len() as f64;
    let at = |share: f64| {
        let place = (share * drawn.len() as f64) as usize;
        drawn.get(place.min(drawn.len() - 1)).copied().filter(|difference| difference.is_finite())
    };
    let (low, high) = (at((q - reach).max(0.0))?, at(q + reach)?);
    if low == high {
        // So many pairs are equal that the wanted one is one of them, as a rule.
        return (excess(low) >= 0.0 && excess(low.next_down()) < 0.0).then_some(low);
    }
    let low = last_below_zero(low, high, excess)?;
    let above = strata.iter().map(|stratum| stratum.least_above(low, end));
    Some(above.fold(f64::INFINITY, f64::min)).filter(|found| found.is_finite())
}

/// Differences of pairs drawn at random, each pair as likely as it weighs; open ones are infinite.
fn drawn_differences(strata: &[Stratum], end: DifferenceEnd) -> Vec<f64> {
    let mut noise = Random::new(SEED);
    let mut passed = 0.0;
    let ends: Vec<f64> = strata
        .iter()
        .map(|stratum| {
            passed += stratum.total();
            passed
        })
        .collect();
    (0..DRAWN_PAIRS)
        .filter_map(|_| {
            let place = noise.unit() * passed;
            let stratum = strata.get(ends.partition_point(|end| *end <= place).min(strata.len() - 1))?;
            let mut one = |ranges: &[Range]| ranges.get(below(ranges.len(), &mut noise)).copied();
            let (first, second) = (one(&stratum.first.ranges)?, one(&stratum.second.ranges)?);
            let is_low = match end {
                DifferenceEnd::Low => true,
                DifferenceEnd::High => false,
                // Either end counts half.
                DifferenceEnd::Both => noise.bits() & 1 == 0,
            };
            Some(if is_low { second.low - first.high } else { second.high - first.low })
        })
        .collect()
}

/// The median difference at this end: the middle of the two that enclose it.
pub(crate) fn median_difference(strata: &[Stratum], end: DifferenceEnd) -> f64 {
    let low = difference_at(strata, 0.5, end);
    let observations: usize =
        strata.iter().map(|stratum| stratum.first.lows.len() + stratum.second.lows.len()).sum();
    if observations > EXACT_MOST {
        // The two are closer together than that.
        return low;
    }
    let high = difference_above(strata, 0.5, end);
    if low == high { low } else { low + (high - low) / 2.0 }
}

/// The difference that more than the share `q` of all pairs does not exceed: [`difference_at`] of the share 1 - `q` when the
/// comparison is turned round. It is the next one up where exactly that share lies at or below one.
pub(crate) fn difference_above(strata: &[Stratum], q: f64, end: DifferenceEnd) -> f64 {
    difference_at(strata, q + 1e-12, end)
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

#[cfg(test)]
mod tests {
    use super::super::relative_effect::RelativeEffect;
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[f64]) -> Vec<Range> {
        values.iter().map(|value| Range { at: 0, low: *value, high: *value }).collect()
    }

    fn stratum(first: &[f64], second: &[f64]) -> [Stratum; 1] {
        [Stratum::new(points(first), points(second)).unwrap()]
    }

    fn of(strata: &[Stratum]) -> RelativeEffect {
        RelativeEffect::of(strata, 0.0)
    }

    #[test]
    fn differences_of_large_samples_are_those_of_pairs_where_the_exact_ones_are() {
        let mut noise = Random::new(17);
        let mut side = |count: i64, level: f64| -> Vec<Range> {
            (0..count)
                .map(|index| {
                    let low = level + 0.5 * noise.normal();
                    Range { at: index, low, high: if index % 50 == 0 { f64::INFINITY } else { low } }
                })
                .collect()
        };
        let strata = [
            Stratum::new(side(9000, 0.0), side(7000, 0.7)).unwrap(),
            Stratum::new(side(5000, 1.0), side(6000, 1.9)).unwrap(),
        ];
        for end in [DifferenceEnd::Low, DifferenceEnd::Both, DifferenceEnd::High] {
            for q in [0.1, 0.5, 0.9] {
                let found = difference_at(&strata, q, end);
                // The share that is reached there, and just below.
                let total: f64 = strata.iter().map(Stratum::total).sum();
                let reached =
                    |limit: f64| strata.iter().map(|one| one.at_most(limit, end)).sum::<f64>() / total;
                assert!(
                    reached(found) >= q - 1e-6 && reached(found - 1e-6) <= q + 1e-12,
                    "{q} {end:?} {found}"
                );
                assert!(difference_near(&strata, q, end, &|limit| reached(limit) - q).is_some());
            }
        }
    }

    #[test]
    fn large_samples_of_few_values_have_their_differences() {
        let of = |shift: usize| {
            points(&(0..15_000).map(|index| ((index * 7) % 5 + shift) as f64).collect::<Vec<_>>())
        };
        let strata = [Stratum::new(of(0), of(3)).unwrap()];
        assert_eq!(difference_at(&strata, 0.5, DifferenceEnd::Low), 3.0);
        assert_eq!(median_difference(&strata, DifferenceEnd::Both), 3.0);
        assert_eq!(difference_at(&strata, 0.3, DifferenceEnd::High), 2.0);
    }

    #[test]
    fn open_ends_move_the_median_to_infinity_only_when_they_are_many() {
        let second = |open: usize| {
            let mut ranges = points(&[1.0, 2.0, 3.0, 4.0]);
            (0..open).for_each(|_| ranges.push(Range { at: 0, low: 5.0, high: f64::INFINITY }));
            [Stratum::new(points(&[0.0]), ranges).unwrap()]
        };
        assert_eq!(median_difference(&second(1), DifferenceEnd::High), 3.0);
        assert_eq!(median_difference(&second(5), DifferenceEnd::High), f64::INFINITY);
        assert_eq!(median_difference(&second(5), DifferenceEnd::Low), 5.0);
    }

    #[test]
    fn the_undecided_count_half() {
        let open = Range { at: 0, low: 1.0, high: f64::INFINITY };
        let both = [Stratum::new(vec![open], vec![open]).unwrap()];
        assert_eq!(of(&both).probability, 0.5);
        // 2 against at least 1: it may be either way.
        let one = [Stratum::new(vec![open], points(&[2.0])).unwrap()];
        assert_eq!(of(&one).probability, 0.5);
        let below = Range { at: 0, low: f64::NEG_INFINITY, high: 0.5 };
        let apart = [Stratum::new(vec![below], vec![open]).unwrap()];
        assert_eq!(of(&apart).probability, 1.0);
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
        fn an_upper_end_is_a_lower_end_turned_round(
            first in prop::collection::vec(-5_i32..5, 1..9), second in prop::collection::vec(-5_i32..5, 1..9), step in 1_u32..8,
        ) {
            let [first, second] = [first, second].map(|side| side.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
            let q = f64::from(step) / 8.0;
            let (forth, back) = (stratum(&first, &second), stratum(&second, &first));
            prop_assert_eq!(difference_at(&forth, q, DifferenceEnd::Low), -difference_above(&back, 1.0 - q, DifferenceEnd::High));
        }

        #[test]
        fn turning_the_comparison_turns_the_probability(
            first in prop::collection::vec(-20_i32..20, 1..25), second in prop::collection::vec(-20_i32..20, 1..25),
        ) {
            let [first, second] = [first, second].map(|side| side.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
            let forth = of(&stratum(&first, &second));
            let back = of(&stratum(&second, &first));
            prop_assert!((forth.probability + back.probability - 1.0).abs() < 1e-12);
            prop_assert!((forth.standard_error() - back.standard_error()).abs() < 1e-12);
        }
    }
}
