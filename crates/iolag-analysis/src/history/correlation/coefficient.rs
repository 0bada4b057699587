//! Correlation between series, with the words of study 000 and a significance that knows about autocorrelation.
//!
//! - *Spearman* (default): of mid-ranks; what had not ended is tied on top, what was below the resolution at the bottom.
//! - *Pearson*: of the values as recorded (bounds where censored): what study 000 did. One long stall decides it.
//! - *Pearson of logarithms*: half the resolution stands for what was below it.
//!
//! p is two-sided and knows that neighbours resemble each other: see `statistics/spectrum/coherence.rs`. Nothing is drawn.
//!
//! Two places that are busy at noon go together whatever they have to do with each other. Where four days are covered, each series' profile by hour
//! (see `statistics/rhythm/profile.rs`) is taken out of its scores, and the coefficient of the rest is that *beyond the daily cycle*. What swings more on one day than
//! on the next leaves a rest that is alike within days, so its significance also knows how much the days differ.

use std::fmt;

use iolag_model::{Nanoseconds, WallTime};
use serde::{Deserialize, Serialize};

use super::join::{Pair, join_nearest};
use crate::history::calendar::daily_levels::beyond_clock;
use crate::history::calendar::local_time::LocalTime;
use crate::history::series::timed_values::TimedValues;
use crate::statistics::ranking::{mid_ranks, ranks_among};
use crate::statistics::spectrum::coherence::coherence_of;

/// Pairs below which no coefficient is computed.
pub const PAIRS_LEAST: usize = 10;

/// What is correlated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
}

/// Coefficient of Pearson of two slices of equal length; `None` if one does not vary.
pub fn pearson(left: &[f64], right: &[f64]) -> Option<f64> {
    coefficient_of(left.len(), || left.iter().copied().zip(right.iter().copied()))
}

/// The same of `count` pairs of values, which are gone through twice and copied nowhere: lags are scanned by it.
fn coefficient_of<Pairs>(count: usize, pairs: impl Fn() -> Pairs) -> Option<f64>
where
    Pairs: Iterator<Item = (f64, f64)>,
{
    let sum = pairs().fold((0.0, 0.0), |sum, (one, other)| (sum.0 + one, sum.1 + other));
    let (mean, other_mean) = (sum.0 / count as f64, sum.1 / count as f64);
    let (mut products, mut squares, mut other_squares) = (0.0, 0.0, 0.0);
    for (one, other) in pairs().map(|(one, other)| (one - mean, other - other_mean)) {
        products += one * other;
        squares += one * one;
        other_squares += other * other;
    }
    let (length, other_length) = (f64::sqrt(squares), f64::sqrt(other_squares));
    let varies = is_varying(length, mean, count) && is_varying(other_length, other_mean, count);
    varies.then(|| (products / length / other_length).clamp(-1.0, 1.0))
}

/// Coefficient of Spearman: Pearson's of the mid-ranks. Infinite values are ranked like any other.
pub fn spearman(left: &[f64], right: &[f64]) -> Option<f64> {
    pearson(&mid_ranks(left), &mid_ranks(right))
}

/// Correlates two series at the same time, values being joined by nearest time within `tolerance` (by default half the longer period). `None` for
/// fewer than [`PAIRS_LEAST`] pairs, if one side does not vary, or if it has no logarithms and they are asked for.
pub fn correlate(
    left: &TimedValues,
    right: &TimedValues,
    method: CorrelationMethod,
    tolerance: Option<Nanoseconds>,
) -> Option<Correlation> {
    let (left, right) = (Scored::of(left, method)?, Scored::of(right, method)?);
    let tolerance = tolerance.unwrap_or_else(|| left.tolerance(&right));
    correlate_pairs(&left, &right, &join_nearest(left.moments(), right.moments(), 0, tolerance))
}

/// A series as it is correlated with others: what every pair with it needs, and no more, since all series are in memory together.
#[derive(Debug)]
pub(crate) struct Scored {
    moments: Vec<WallTime>,
    /// The usual time between two of them; zero if there is none.
    spacing: Nanoseconds,
    method: CorrelationMethod,
    /// What coefficients are made of: the ranks of all values, or the values.
    whole: Vec<f64>,
    /// The same without the profile by hour, and the places at which a day begins, where a profile is known.
    rest: Option<(Vec<f64>, Vec<usize>)>,
}

impl Scored {
    /// `None` if there are no logarithms and they are asked for.
    pub(crate) fn of(values: &TimedValues, method: CorrelationMethod) -> Option<Self> {
        let whole = match method {
            CorrelationMethod::Spearman => mid_ranks(&values.ordered()),
            CorrelationMethod::Pearson => values.values().to_vec(),
            CorrelationMethod::PearsonLog => values.logarithms()?,
        };
        let spacing = values.usual_spacing().unwrap_or(Nanoseconds::ZERO);
        Some(Self { moments: values.moments().to_vec(), spacing, method, whole, rest: None })
    }

    /// The same with what is left beyond the daily cycle.
    pub(crate) fn with_rest(mut self, local_time: &LocalTime) -> Self {
        let rest = beyond_clock(&self.moments, &self.whole, local_time);
        self.rest = rest.map(|rest| (rest, days_of(&self.moments, local_time)));
        self
    }

    pub(crate) fn moments(&self) -> &[WallTime] {
        &self.moments
    }

    /// The longer of the two usual spacings.
    pub(crate) fn slot(&self, other: &Self) -> Nanoseconds {
        self.spacing.max(other.spacing)
    }

    /// How far apart values of a pair may be: half the longer spacing.
    pub(crate) fn tolerance(&self, other: &Self) -> Nanoseconds {
        Nanoseconds(self.slot(other).0 / 2)
    }

    /// Of these places, which ascend: ranks among them for Spearman.
    fn of_places(&self, places: impl ExactSizeIterator<Item = usize>) -> Vec<f64> {
        let is_all = places.len() == self.whole.len();
        let chosen: Vec<f64> = places.map(|place| self.whole[place]).collect();
        if self.method != CorrelationMethod::Spearman || is_all {
            return chosen;
        }
        ranks_among(&chosen, self.whole.len())
    }
}

/// Correlates values that were joined before, as they are.
pub(crate) fn correlate_pairs(left: &Scored, right: &Scored, pairs: &[Pair]) -> Option<Correlation> {
    let left = left.of_places(pairs.iter().map(|pair| pair.left));
    correlation_of(left, right.of_places(pairs.iter().map(|pair| pair.right)), &[])
}

/// Correlates what is left of them beyond the daily cycle; `None` where no profile is known.
pub(crate) fn correlate_rests(left: &Scored, right: &Scored, pairs: &[Pair]) -> Option<Correlation> {
    let ((left_rest, days), (right_rest, _)) = (left.rest.as_ref()?, right.rest.as_ref()?);
    let ends = days.iter().map(|begin| pairs.partition_point(|pair| pair.left < *begin));
    let mut passed = 0;
    let lengths = ends.chain([pairs.len()]).map(|end| end - std::mem::replace(&mut passed, end));
    let lengths: Vec<usize> = lengths.filter(|length| *length > 0).collect();
    let left = pairs.iter().map(|pair| left_rest[pair.left]).collect();
    correlation_of(left, pairs.iter().map(|pair| right_rest[pair.right]).collect(), &lengths)
}

/// Coefficient alone, of the rests where both are known. Ranks are those among all values.
pub(crate) fn coefficient_of_pairs(left: &Scored, right: &Scored, pairs: &[Pair]) -> Option<f64> {
    if pairs.len() < PAIRS_LEAST {
        return None;
    }
    let (one, other) = match (&left.rest, &right.rest) {
        (Some((one, _)), Some((other, _))) => (one, other),
        _ => (&left.whole, &right.whole),
    };
    coefficient_of(pairs.len(), || pairs.iter().map(|pair| (one[pair.left], other[pair.right])))
}

/// The places of these moments, which ascend, at which a day begins.
fn days_of(moments: &[WallTime], local_time: &LocalTime) -> Vec<usize> {
    let day = |moment: &WallTime| local_time.at(*moment).day;
    let mut begins: Vec<usize> = Vec::new();
    for (place, pair) in moments.windows(2).enumerate() {
        if day(&pair[0]) != day(&pair[1]) {
            begins.push(place + 1);
        }
    }
    begins
}

/// `lengths` are those of the days, where they count.
fn correlation_of(left: Vec<f64>, right: Vec<f64>, lengths: &[usize]) -> Option<Correlation> {
    if left.len() < PAIRS_LEAST {
        return None;
    }
    let (left, right) = (standardised(left)?, standardised(right)?);
    let mut found = coherence_of(&left, &right);
    if lengths.len() > 1 {
        found = found.with_stretches(&left, &right, lengths);
    }
    Some(Correlation {
        pairs: left.len() as u64,
        pairs_effective: found.pairs_effective,
        coefficient: found.coefficient,
        strength: Strength::of(found.coefficient),
        p: found.p,
    })
}

/// Centred and of unit length, so that a sum of products is the coefficient. `None` if all values are equal.
fn standardised(mut values: Vec<f64>) -> Option<Vec<f64>> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
    let length = product(&values, &values).sqrt();
    values.iter_mut().for_each(|value| *value /= length);
    is_varying(length, mean, values.len()).then_some(values)
}

/// Rounding leaves something of equal values: it is no variation.
fn is_varying(length: f64, mean: f64, count: usize) -> bool {
    length.is_finite() && length > 1e-12 * mean.abs() * (count as f64).sqrt()
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
        let mut noise = iolag_model::Random::new(79);
        let values: Vec<f64> = (0..50).map(|_| noise.unit()).collect();
        let series = every_quarter(&values, 0);
        let found =
            correlate(&series, &every_quarter(&values, 300), CorrelationMethod::Spearman, None).unwrap();
        assert!((found.coefficient - 1.0).abs() < 1e-12 && found.pairs == 50 && found.p < 1e-3, "{found:?}");
        let constant = every_quarter(&[2.5; 50], 0);
        assert_eq!(correlate(&series, &constant, CorrelationMethod::Spearman, None), None);
        let short = every_quarter(&values[..9], 0);
        assert_eq!(correlate(&short, &short, CorrelationMethod::Pearson, None), None);
    }

    #[test]
    fn two_places_that_are_busy_at_noon_have_nothing_in_common_beyond_it() {
        let mut noise = iolag_model::Random::new(78);
        let mut busy = |days: usize| -> TimedValues {
            let values: Vec<f64> = (0..days * 96)
                .map(|slot| {
                    (0.5 * (slot as f64 / 96.0 * std::f64::consts::TAU).sin() + 0.4 * noise.normal()).exp()
                })
                .collect();
            every_quarter(&values, 0)
        };
        let (left, right) = (busy(14), busy(14));
        let scored =
            |values| Scored::of(values, CorrelationMethod::Spearman).unwrap().with_rest(&LocalTime::UTC);
        let pairs = join_nearest(left.moments(), right.moments(), 0, Nanoseconds::from_seconds(10));
        let same = correlate_pairs(&scored(&left), &scored(&right), &pairs).unwrap();
        let beyond = correlate_rests(&scored(&left), &scored(&right), &pairs).unwrap();
        assert!(
            same.coefficient > 0.3 && beyond.strength == Strength::None && beyond.p > 0.05,
            "{same:?} {beyond:?}"
        );
        let (left, right) = (busy(2), busy(2));
        assert_eq!(
            correlate_rests(&scored(&left), &scored(&right), &pairs[..100]),
            None,
            "two days are too short"
        );
    }

    #[test]
    fn two_places_that_are_busy_in_office_hours_have_nothing_in_common_beyond_them() {
        let mut noise = iolag_model::Random::new(81);
        let monday = 4 * 86_400;
        let mut busy = |days: usize| -> TimedValues {
            let is_busy = |slot: usize| slot / 96 % 7 < 5 && (36..68).contains(&(slot % 96));
            let level = |slot: usize| if is_busy(slot) { 3.0_f64.ln() } else { 0.0 };
            let values: Vec<f64> =
                (0..days * 96).map(|slot| (level(slot) + 0.5 * noise.normal()).exp()).collect();
            every_quarter(&values, monday)
        };
        for days in [7, 10, 31] {
            let (left, right) = (busy(days), busy(days));
            let scored =
                |values| Scored::of(values, CorrelationMethod::Spearman).unwrap().with_rest(&LocalTime::UTC);
            let pairs = join_nearest(left.moments(), right.moments(), 0, Nanoseconds::from_seconds(10));
            let beyond = correlate_rests(&scored(&left), &scored(&right), &pairs).unwrap();
            assert!(beyond.strength == Strength::None && beyond.p > 0.01, "{days}: {beyond:?}");
        }
    }

    #[test]
    fn daily_cycles_of_another_size_each_day_are_no_evidence() {
        let mut noise = iolag_model::Random::new(80);
        let mut swinging = || -> TimedValues {
            let sizes: Vec<f64> = (0..14).map(|_| 0.5 + 0.5 * noise.normal()).collect();
            let wave = |slot: usize| (slot as f64 / 96.0 * std::f64::consts::TAU).cos();
            let values: Vec<f64> = (0..14 * 96)
                .map(|slot| (sizes[slot / 96] * wave(slot) + 0.6 * noise.normal()).exp())
                .collect();
            every_quarter(&values, 0)
        };
        let wrong = (0..150).filter(|_| {
            let (left, right) = (swinging(), swinging());
            let scored =
                |values| Scored::of(values, CorrelationMethod::Spearman).unwrap().with_rest(&LocalTime::UTC);
            let pairs = join_nearest(left.moments(), right.moments(), 0, Nanoseconds::from_seconds(10));
            correlate_rests(&scored(&left), &scored(&right), &pairs).unwrap().p < 0.01
        });
        let wrong = wrong.count();
        assert!(wrong <= 5, "{wrong} of 150");
    }

    #[test]
    fn one_moment_at_which_both_are_slow_is_no_evidence() {
        let mut values = vec![1.0; 500];
        values[200] = 60.0;
        let found = correlate(
            &every_quarter(&values, 0),
            &every_quarter(&values, 0),
            CorrelationMethod::Spearman,
            None,
        );
        assert!(found.is_some_and(|found| found.coefficient > 0.99 && found.p > 0.1), "{found:?}");
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
