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

use std::fmt;

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

use super::join::{Pair, default_tolerance, join_nearest};
use super::observed::TimedValues;
use super::permutation::{BlockPermutation, block_length, correlation_time};
use crate::autocorrelation::mid_ranks;

/// Pairs below which no coefficient is computed.
pub const PAIRS_LEAST: usize = 10;

const PERMUTATIONS: usize = 999;
const PERMUTATIONS_LEAST: usize = 199;
const EXCEEDANCES_ENOUGH: usize = 20;

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
    correlate_pairs(left, right, &pairs, method, seed)
}

/// The same for values that were joined before.
pub(crate) fn correlate_pairs(
    left: &TimedValues,
    right: &TimedValues,
    pairs: &[Pair],
    method: CorrelationMethod,
    seed: u64,
) -> Option<Correlation> {
    let (left_scores, right_scores) = paired_scores(left, right, pairs, method)?;
    let time = correlation_time(&left_scores).min(correlation_time(&right_scores));
    let first = left.moments()[pairs.first()?.left];
    let days = left.moments()[pairs.last()?.left].since(first).as_seconds() / 86_400.0;
    let per_day = if days > 0.0 { pairs.len() as f64 / days } else { 0.0 };
    let block = block_length(pairs.len(), time, per_day);
    significance(&standardised(&left_scores)?, &standardised(&right_scores)?, block, method, seed)
}

/// Coefficient alone.
pub(crate) fn coefficient_of_pairs(
    left: &TimedValues,
    right: &TimedValues,
    pairs: &[Pair],
    method: CorrelationMethod,
) -> Option<f64> {
    let (left, right) = paired_scores(left, right, pairs, method)?;
    pearson(&left, &right)
}

fn paired_scores(
    left: &TimedValues,
    right: &TimedValues,
    pairs: &[Pair],
    method: CorrelationMethod,
) -> Option<(Vec<f64>, Vec<f64>)> {
    if pairs.len() < PAIRS_LEAST {
        return None;
    }
    let scores = |values: Vec<f64>, place: fn(&Pair) -> usize| -> Vec<f64> {
        pairs.iter().map(|pair| values[place(pair)]).collect()
    };
    let both = |of: fn(&TimedValues) -> Option<Vec<f64>>| {
        Some((scores(of(left)?, |pair| pair.left), scores(of(right)?, |pair| pair.right)))
    };
    match method {
        CorrelationMethod::Spearman => {
            let (left, right) = both(|side| Some(side.ordered()))?;
            Some((mid_ranks(&left), mid_ranks(&right)))
        }
        CorrelationMethod::Pearson => both(|side| Some(side.values().to_vec())),
        CorrelationMethod::PearsonLog => both(TimedValues::logarithms),
    }
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

fn significance(
    left: &[f64],
    right: &[f64],
    block: usize,
    method: CorrelationMethod,
    seed: u64,
) -> Option<Correlation> {
    let n = left.len();
    let coefficient = product(left, right).clamp(-1.0, 1.0);
    // Appended once more, the circle needs no wrapping around.
    let circle: Vec<f64> = right.iter().chain(right).copied().collect();
    let mut permutation = BlockPermutation::new(n, block, seed);
    let (mut drawn, mut exceeding, mut squares) = (0, 0, 0.0);
    while drawn < PERMUTATIONS && !(drawn >= PERMUTATIONS_LEAST && exceeding >= EXCEEDANCES_ENOUGH) {
        let mut at = 0;
        let mut permuted = 0.0;
        for (first, length) in permutation.next_order() {
            permuted += product(&left[at..at + length], &circle[first..first + length]);
            at += length;
        }
        squares += permuted * permuted;
        exceeding += usize::from(permuted.abs() >= coefficient.abs() - 1e-12);
        drawn += 1;
    }
    let pairs_effective = (1.0 + drawn as f64 / squares).clamp(2.0, n as f64);
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
