//! Correlation between series, with the words of study 000 and a significance that knows about autocorrelation.
//!
//! - *Spearman* (default): of mid-ranks; what had not ended is tied on top, what was below the resolution at the bottom.
//! - *Pearson*: of the values as recorded (bounds where censored): what study 000 did. One long stall decides it.
//! - *Pearson of logarithms*: half the resolution stands for what was below it.
//!
//! p is two-sided: the share of circular block permutations (see [`super::permutation`]) whose coefficient is at least as far from zero.
//! Drawing stops early once it is clear that nothing is there (20 exceedances after 199 draws; Besag and Clifford 1991). Where none of 999
//! reaches the coefficient, p is taken from Student's t with the effective number of pairs instead, since a matrix of many pairs
//! needs p below 1/1000; not for Pearson of raw values, whose tails follow no formula. The *effective pairs* are those of independent values
//! whose coefficient would scatter as the permuted ones do: `1 + 1 / variance`.
//!
//! Of records of more than 20,000 values the correlation time is that of the whole series rather than of the joined values, and drawing also
//! stops after 199 orders if none reached the coefficient and Student's t with the effective pairs gives p below 1/100,000.

use std::fmt;

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use super::join::{Pair, default_tolerance, join_nearest};
use super::observed::TimedValues;
use super::permutation::{BlockPermutation, block_length, correlation_time};
use crate::statistics::dependence::{ascending, mid_ranks, ranks_in};

/// Pairs below which no coefficient is computed.
pub const PAIRS_LEAST: usize = 10;

const PERMUTATIONS: usize = 999;
const PERMUTATIONS_LEAST: usize = 199;
const EXCEEDANCES_ENOUGH: usize = 20;
/// A p that is so small after the least number of orders is told by the formula.
const CLEAR_P: f64 = 1e-5;
/// Longer records than this are asked in ways that save time: seven months of quarter hours are shorter.
const LONG_RECORD: usize = 20_000;

/// What is correlated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CorrelationMethod {
    /// Ranks.
    #[default]
    Spearman,
    /// Values as recorded.
    Pearson,
    /// Logarithms of values.
    PearsonLog,
}

/// The words of study 000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strength {
    /// At most 0.1.
    None,
    /// Above 0.1.
    Small,
    /// Above 0.3.
    Medium,
    /// Above 0.5.
    Strong,
}

impl Strength {
    /// The word for a coefficient of either sign.
    pub fn of(coefficient: f64) -> Self {
        match coefficient.abs() {
            size if size > 0.5 => Self::Strong,
            size if size > 0.3 => Self::Medium,
            size if size > 0.1 => Self::Small,
            _ => Self::None,
        }
    }
}

impl fmt::Display for Strength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::None => "no",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Strong => "strong",
        })
    }
}

/// How two series go together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// Values that were measured together.
    pub pairs: u64,
    /// Independent pairs that would tell as much.
    pub pairs_effective: f64,
    /// -1 to 1; positive if both are slow together.
    pub coefficient: f64,
    /// Its word.
    pub strength: Strength,
    /// Probability of a coefficient at least as far from zero if the two had nothing to do with each other.
    pub p: f64,
    /// Values in a block of the permutations.
    pub block: u64,
}

/// Coefficient of Pearson of two slices of equal length; `None` if one does not vary.
pub fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    let (left, right) = (standardised(left)?, standardised(right)?);
    Some(product(&left, &right).clamp(-1.0, 1.0))
}

/// Coefficient of Spearman: Pearson's of the mid-ranks. Infinite values are ranked like any other.
pub fn spearman(left: &[f64], right: &[f64]) -> Option<f64> {
    pearson(&mid_ranks(left), &mid_ranks(right))
}

/// Correlates two series, values being joined by nearest time within `tolerance` (by default half the longer period). `None` for
/// fewer than [`PAIRS_LEAST`] pairs, if one side does not vary, or if it has no logarithms and they are asked for.
pub fn correlate(
    left: &TimedValues,
    right: &TimedValues,
    method: CorrelationMethod,
    tolerance: Option<Nanoseconds>,
    seed: u64,
) -> Option<Correlation> {
    let tolerance = tolerance.unwrap_or_else(|| default_tolerance(left, right));
    let pairs = join_nearest(left.moments(), right.moments(), 0, tolerance);
    correlate_pairs(&Scored::of(left, method)?, &Scored::of(right, method)?, &pairs, seed)
}

/// A series as it is correlated with others: what every pair with it needs.
#[derive(Debug)]
pub(crate) struct Scored<'a> {
    values: &'a TimedValues,
    method: CorrelationMethod,
    /// What coefficients, or ranks, are made of.
    scores: Vec<f64>,
    /// Places from the smallest score to the greatest; empty unless ranks are wanted.
    order: Vec<usize>,
    whole: Option<Whole>,
}

/// What is taken from the whole of a long series instead of from each joined part of it: it hardly differs.
#[derive(Debug)]
struct Whole {
    /// Ranks for Spearman, else the scores.
    scores: Vec<f64>,
    correlation_time: f64,
}

impl<'a> Scored<'a> {
    /// `None` if there are no logarithms and they are asked for.
    pub(crate) fn of(values: &'a TimedValues, method: CorrelationMethod) -> Option<Self> {
        let (scores, order) = match method {
            CorrelationMethod::Spearman => {
                let scores = values.ordered();
                let order = ascending(&scores);
                (scores, order)
            }
            CorrelationMethod::Pearson => (values.values().to_vec(), Vec::new()),
            CorrelationMethod::PearsonLog => (values.logarithms()?, Vec::new()),
        };
        let whole = (values.len() > LONG_RECORD).then(|| {
            let scores = if order.is_empty() { scores.clone() } else { ranks_in(&order, &scores) };
            Whole { correlation_time: correlation_time(&scores), scores }
        });
        Some(Self { values, method, scores, order, whole })
    }

    pub(crate) const fn values(&self) -> &'a TimedValues {
        self.values
    }

    /// The scores of these places: ranks among them for Spearman.
    fn of_places(&self, places: &[usize]) -> Vec<f64> {
        if self.method != CorrelationMethod::Spearman {
            return places.iter().map(|place| self.scores[*place]).collect();
        }
        let mut is_chosen = vec![false; self.scores.len()];
        places.iter().for_each(|place| is_chosen[*place] = true);
        let order: Vec<usize> = self.order.iter().copied().filter(|place| is_chosen[*place]).collect();
        let ranks = ranks_in(&order, &self.scores);
        places.iter().map(|place| ranks[*place]).collect()
    }
}

/// Correlates values that were joined before.
pub(crate) fn correlate_pairs(
    left: &Scored<'_>,
    right: &Scored<'_>,
    pairs: &[Pair],
    seed: u64,
) -> Option<Correlation> {
    if pairs.len() < PAIRS_LEAST {
        return None;
    }
    let (left_places, right_places) = places_of(pairs);
    let (left_scores, right_scores) = (left.of_places(&left_places), right.of_places(&right_places));
    let time = match (&left.whole, &right.whole) {
        (Some(left), Some(right)) => left.correlation_time.min(right.correlation_time),
        _ => correlation_time(&left_scores).min(correlation_time(&right_scores)),
    };
    let moments = left.values.moments();
    let days = moments[*left_places.last()?].since(moments[*left_places.first()?]).as_seconds() / 86_400.0;
    let per_day = if days > 0.0 { pairs.len() as f64 / days } else { 0.0 };
    let block = block_length(pairs.len(), time, per_day);
    significance(&standardised(&left_scores)?, &standardised(&right_scores)?, block, left.method, seed)
}

/// Coefficient alone. Of long series ranks are those of the whole.
pub(crate) fn coefficient_of_pairs(left: &Scored<'_>, right: &Scored<'_>, pairs: &[Pair]) -> Option<f64> {
    if pairs.len() < PAIRS_LEAST {
        return None;
    }
    let (left_places, right_places) = places_of(pairs);
    let gathered = |whole: &Whole, places: &[usize]| -> Vec<f64> {
        places.iter().map(|place| whole.scores[*place]).collect()
    };
    match (&left.whole, &right.whole) {
        (Some(left), Some(right)) => pearson(&gathered(left, &left_places), &gathered(right, &right_places)),
        _ => pearson(&left.of_places(&left_places), &right.of_places(&right_places)),
    }
}

fn places_of(pairs: &[Pair]) -> (Vec<usize>, Vec<usize>) {
    pairs.iter().map(|pair| (pair.left, pair.right)).unzip()
}

/// Centred and of unit length, so that a sum of products is the coefficient. `None` if all values are equal.
fn standardised(values: &[f64]) -> Option<Vec<f64>> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let length = product(&centred, &centred).sqrt();
    // Rounding leaves something of equal values: it is no variation.
    let varies = length.is_finite() && length > 1e-12 * mean.abs() * (values.len() as f64).sqrt();
    varies.then(|| centred.iter().map(|value| value / length).collect())
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    // Four sums at once: the compiler may not reorder a single one.
    let mut sums = [0.0; 4];
    let (left_chunks, right_chunks) = (left.chunks_exact(4), right.chunks_exact(4));
    let rest: f64 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The same in single precision, sums of many at once: for what chance does to long records.
fn product_of_many(left: &[f32], right: &[f32]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let (left_chunks, right_chunks) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest: f32 = left_chunks.remainder().iter().zip(right_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left_chunks.zip(right_chunks) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().map(|sum| f64::from(*sum)).sum::<f64>() + f64::from(rest)
}

/// A sequence and another one of the same length, closed to a circle, that is put in other orders.
enum Circle<'a> {
    Short(&'a [f64], Vec<f64>),
    /// In single precision: half the memory to go through. Each block is summed by itself, so that rounding stays below a ten-thousandth of
    /// the scatter.
    Long(Vec<f32>, Vec<f32>),
}

impl<'a> Circle<'a> {
    fn of(left: &'a [f64], right: &[f64]) -> Self {
        // Appended once more, the circle needs no wrapping around.
        let twice = right.iter().chain(right);
        if left.len() <= LONG_RECORD {
            return Self::Short(left, twice.copied().collect());
        }
        let single = |value: &f64| *value as f32;
        Self::Long(left.iter().map(single).collect(), twice.map(single).collect())
    }

    /// The product of `length` values from `at` on with those of the circle from `first` on.
    fn product(&self, at: usize, first: usize, length: usize) -> f64 {
        match self {
            Self::Short(left, circle) => product(&left[at..at + length], &circle[first..first + length]),
            Self::Long(left, circle) => {
                product_of_many(&left[at..at + length], &circle[first..first + length])
            }
        }
    }
}

fn significance(
    left: &[f64],
    right: &[f64],
    block: usize,
    method: CorrelationMethod,
    seed: u64,
) -> Option<Correlation> {
    let n = left.len();
    let coefficient = product(left, right).clamp(-1.0, 1.0);
    let circle = Circle::of(left, right);
    let mut permutation = BlockPermutation::new(n, block, seed);
    let (mut drawn, mut exceeding, mut squares) = (0, 0, 0.0);
    let effective = |drawn: usize, squares: f64| (1.0 + drawn as f64 / squares).clamp(2.0, n as f64);
    // More orders would not tell more of a long record: p comes from the formula anyway.
    let is_clear = |drawn: usize, exceeding: usize, squares: f64| {
        n > LONG_RECORD
            && exceeding == 0
            && method != CorrelationMethod::Pearson
            && student_p(coefficient, effective(drawn, squares)) < CLEAR_P
    };
    while drawn < PERMUTATIONS && !(drawn >= PERMUTATIONS_LEAST && exceeding >= EXCEEDANCES_ENOUGH) {
        if drawn == PERMUTATIONS_LEAST && is_clear(drawn, exceeding, squares) {
            break;
        }
        let mut at = 0;
        let mut permuted = 0.0;
        for (first, length) in permutation.next_order() {
            permuted += circle.product(at, first, length);
            at += length;
        }
        squares += permuted * permuted;
        exceeding += usize::from(permuted.abs() >= coefficient.abs() - 1e-12);
        drawn += 1;
    }
    let pairs_effective = effective(drawn, squares);
    let mut p = (exceeding + 1) as f64 / (drawn + 1) as f64;
    if exceeding == 0 && method != CorrelationMethod::Pearson {
        p = p.min(student_p(coefficient, pairs_effective));
    }
    Some(Correlation {
        pairs: n as u64,
        pairs_effective,
        coefficient,
        strength: Strength::of(coefficient),
        p,
        block: block as u64,
    })
}

/// Two-sided p of a coefficient of `pairs` independent pairs by Student's t.
fn student_p(coefficient: f64, pairs: f64) -> f64 {
    let freedom = pairs - 2.0;
    if freedom <= 0.0 {
        return 1.0;
    }
    // t²/(df + t²) is the squared coefficient.
    beta_reg(freedom / 2.0, 0.5, (1.0 - coefficient * coefficient).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;
    use proptest::prelude::*;

    use super::*;

    fn every_quarter(values: &[f64], offset: i64) -> TimedValues {
        let moments: Vec<WallTime> =
            (0..values.len()).map(|slot| WallTime::from_seconds(slot as i64 * 900 + offset)).collect();
        TimedValues::known(&moments, values)
    }

    #[test]
    fn the_words_are_those_of_the_study() {
        let words = [0.603, 0.5, 0.300, 0.301, 0.102, -0.029, -0.51].map(Strength::of);
        use Strength::{Medium, None, Small, Strong};
        assert_eq!(words, [Strong, Medium, Small, Medium, Small, None, Strong]);
    }

    #[test]
    fn equal_series_correlate_fully_and_constant_ones_not_at_all() {
        let values: Vec<f64> = (0..50).map(|index| f64::from(index * 7919 % 101)).collect();
        let series = every_quarter(&values, 0);
        let found =
            correlate(&series, &every_quarter(&values, 300), CorrelationMethod::Spearman, None, 1).unwrap();
        assert!((found.coefficient - 1.0).abs() < 1e-12 && found.pairs == 50 && found.p < 1e-3, "{found:?}");
        let constant = every_quarter(&[2.5; 50], 0);
        assert_eq!(correlate(&series, &constant, CorrelationMethod::Spearman, None, 1), None);
        let short = every_quarter(&values[..9], 0);
        assert_eq!(correlate(&short, &short, CorrelationMethod::Pearson, None, 1), None);
    }

    #[test]
    fn long_records_are_permuted_as_short_ones_are() {
        let mut noise = crate::synthetic::Noise::new(77);
        let n = LONG_RECORD + 777;
        let mut values = || -> Vec<f64> {
            let plain: Vec<f64> = (0..n).map(|_| noise.normal()).collect();
            standardised(&plain).unwrap()
        };
        let (left, right) = (values(), values());
        let twice: Vec<f64> = right.iter().chain(&right).copied().collect();
        let (short, long) = (Circle::Short(&left, twice), Circle::of(&left, &right));
        assert!(matches!(long, Circle::Long(..)));
        for (at, first, length) in [(0, 5, 1440), (1000, n - 3, 1439), (n - 7, 2 * n - 7, 7), (0, n, n)] {
            let apart = short.product(at, first, length) - long.product(at, first, length);
            // The scatter of a whole permuted coefficient is 1/√n = 0.007.
            assert!(apart.abs() < 7e-7, "{apart}");
        }
    }

    #[test]
    fn student_p_is_that_of_the_textbook() {
        // r = 0.5 of 20 pairs is t = 2.4494897; SciPy's stats.t.sf(t, 18) * 2.
        assert!((student_p(0.5, 20.0) - 0.024_769_558_804_109_737).abs() < 1e-12);
        assert_eq!(student_p(0.3, 2.0), 1.0);
    }

    proptest! {
        #[test]
        fn ranks_do_not_care_for_the_scale(values in prop::collection::vec((1.0_f64..1e6, 1.0_f64..1e6), 10..60)) {
            let (left, right): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
            let logarithms: Vec<f64> = left.iter().map(|value| value.ln()).collect();
            let (plain, scaled) = (spearman(&left, &right), spearman(&logarithms, &right));
            prop_assert!((plain.unwrap_or(0.0) - scaled.unwrap_or(0.0)).abs() < 1e-9);
            let back = spearman(&right, &left);
            prop_assert!((plain.unwrap_or(0.0) - back.unwrap_or(0.0)).abs() < 1e-12);
        }
    }
}
