//! How much greater the second of two samples is, and how often: the estimates that a comparison rests on.
//!
//! The methods are explained in `history/comparison.rs`. Invariant: turning the comparison round turns every
//! number.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::factorial::ln_binomial;

use super::differences::{DifferenceEnd, difference_above, difference_at, median_difference};
use super::relative_effect::{RelativeEffect, contributions};
use super::strata::Stratum;
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::interval::mean_error::MeanError;
use crate::statistics::student::CONFIDENCE;
use crate::statistics::student::student_two_sided;

/// On which scale amounts are subtracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShiftScale {
    /// Second by first: durations.
    Ratio,
    /// Second less first: values.
    Difference,
}

/// What is known of a shift.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShiftEstimate {
    /// This.
    Exactly(f64),
    /// This or more: the second sample is censored from above.
    AtLeast(f64),
    /// This or less: the second sample is below the clock's resolution.
    AtMost(f64),
    /// Censoring hides it.
    Unknown,
}

/// 95 % interval of a shift; an absent end is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShiftInterval {
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// How much longer or greater the second sample is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shift {
    /// On which scale.
    pub scale: ShiftScale,
    /// The shift of Hodges and Lehmann.
    pub estimate: ShiftEstimate,
    /// Interval as if every attempt were independent.
    pub interval_naive: ShiftInterval,
    /// Interval with the effective sample sizes: the one to show.
    pub interval: ShiftInterval,
}

impl Shift {
    /// Moves the ends of the intervals of a ratio by these logarithms.
    pub(crate) fn widen(&mut self, ends: [f64; 2]) {
        let moved = |end: Option<f64>, by: f64| {
            end.map(|end| end * by.exp()).filter(|end| *end > 0.0 && end.is_finite())
        };
        for interval in [&mut self.interval_naive, &mut self.interval] {
            *interval =
                ShiftInterval { low: moved(interval.low, ends[0]), high: moved(interval.high, ends[1]) };
        }
    }
}

/// How often the second of two is greater.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Greater {
    /// Probability, ties and the undecided counting half; 1/2 if neither tends to be greater.
    pub probability: f64,
    /// Lower end of its interval, with the effective sample sizes.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p of Brunner and Munzel as if every attempt were independent.
    pub p_naive: f64,
    /// The same with the dependence of what follows one another.
    pub p: f64,
    /// p after all verdicts of the result were counted: the one to show.
    pub p_adjusted: f64,
}

/// What the pairs say, before it is put on a scale.
pub(crate) struct Judged<'a> {
    strata: &'a [Stratum],
    /// Median difference with each pair at its least, in the middle, at its most.
    low: f64,
    middle: f64,
    high: f64,
    /// The probability after the samples were aligned, as if all observations were independent.
    aligned_naive: RelativeEffect,
    /// The error of that probability; absent if nothing varies then.
    aligned: Option<MeanError>,
}

impl<'a> Judged<'a> {
    pub(crate) fn of(strata: &'a [Stratum]) -> Option<Self> {
        if strata.is_empty() {
            return None;
        }
        let middle = median_difference(strata, DifferenceEnd::Both);
        let is_exact = strata.iter().all(Stratum::is_exact);
        let other = |end| if is_exact { middle } else { median_difference(strata, end) };
        let (low, high) = (other(DifferenceEnd::Low), other(DifferenceEnd::High));
        let shift = aligned_by(middle, low, high);
        let (aligned_naive, aligned) = (RelativeEffect::of(strata, shift), error_of(strata, shift));
        Some(Self { strata, low, middle, high, aligned_naive, aligned })
    }

    pub(crate) fn shift(&self, scale: ShiftScale) -> Shift {
        let put = |difference: f64| match scale {
            ShiftScale::Ratio => difference.exp(),
            ShiftScale::Difference => difference,
        };
        let reach_naive = reach_of(&self.aligned_naive);
        Shift {
            scale,
            estimate: match (self.low.is_finite(), self.high.is_finite()) {
                (true, true) => ShiftEstimate::Exactly(put(self.middle)),
                (true, false) => ShiftEstimate::AtLeast(put(self.low)),
                (false, true) => ShiftEstimate::AtMost(put(self.high)),
                (false, false) => ShiftEstimate::Unknown,
            },
            interval_naive: self.interval(reach_naive, put),
            interval: self.interval(self.aligned.as_ref().map_or(reach_naive, MeanError::reach), put),
        }
    }

    fn interval(&self, reach: f64, put: impl Fn(f64) -> f64) -> ShiftInterval {
        let (below, above) = (0.5 - reach, 0.5 + reach);
        let low = if below > 0.0 {
            difference_at(self.strata, below, DifferenceEnd::Low)
        } else {
            f64::NEG_INFINITY
        };
        let high = if above < 1.0 {
            difference_above(self.strata, above, DifferenceEnd::High)
        } else {
            f64::INFINITY
        };
        let end = |difference: f64| difference.is_finite().then(|| put(difference));
        ShiftInterval { low: end(low), high: end(high) }
    }

    pub(crate) fn greater(&self, sizes: [EffectiveSampleSize; 2]) -> Greater {
        let naive = RelativeEffect::of(self.strata, 0.0);
        let error = error_of(self.strata, 0.0);
        let reach = error.as_ref().map_or_else(|| reach_of(&naive), MeanError::reach);
        let excess = naive.probability - 0.5;
        let effective = sizes.map(|size| size.effective);
        let all = sizes.map(|size| size.attempts as f64);
        let p = error.map_or_else(|| p_apart(excess, effective), |error| error.p(excess));
        Greater {
            probability: naive.probability,
            low: (naive.probability - reach).max(0.0),
            high: (naive.probability + reach).min(1.0),
            p_naive: p_of(&naive, all),
            p,
            p_adjusted: p,
        }
    }

    /// The share of all observations that counts as independent; absent if nothing varies.
    pub(crate) fn share_effective(&self) -> Option<f64> {
        Some(self.aligned.as_ref()?.share_effective(self.aligned_naive.standard_error().powi(2)))
    }
}

fn aligned_by(middle: f64, low: f64, high: f64) -> f64 {
    [middle, high, low].into_iter().find(|shift| shift.is_finite()).unwrap_or_default()
}

/// The error of the probability with the dependence of what follows one another. Two samples of the same time are one sequence, so that what both
/// share falls out; of different times they are two.
fn error_of(strata: &[Stratum], shift: f64) -> Option<MeanError> {
    let amounts = |side: Vec<(i64, f64)>| side.into_iter().map(|one| one.1).collect::<Vec<f64>>();
    let mut parts = contributions(strata, shift);
    if parts.len() > 1 {
        let stretches = parts.into_iter().flatten().map(|side| (amounts(side), 1));
        return MeanError::of(&stretches.collect::<Vec<_>>());
    }
    let [first, second] = parts.pop()?;
    let (from, until) = (
        |side: &[(i64, f64)]| side.first().map(|one| one.0),
        |side: &[(i64, f64)]| side.last().map(|one| one.0),
    );
    let are_apart = until(&first) < from(&second) || until(&second) < from(&first);
    if are_apart {
        return MeanError::of(&[(amounts(first), 1), (amounts(second), 1)]);
    }
    let mut all = first;
    all.extend(second);
    // At one moment in an order that is the same when the comparison is turned round.
    all.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.abs().total_cmp(&other.1.abs())));
    MeanError::of(&[(amounts(all), 2)])
}

/// Half the width of the naive interval.
fn reach_of(naive: &RelativeEffect) -> f64 {
    student_two_sided(naive.degrees_of_freedom(), CONFIDENCE) * naive.standard_error()
}

/// Two-sided p of the hypothesis that neither tends to be greater, by Brunner and Munzel.
fn p_of(effect: &RelativeEffect, independent: [f64; 2]) -> f64 {
    let excess = effect.probability - 0.5;
    let error = effect.standard_error();
    if error > 0.0 {
        let statistic = (excess / error).abs();
        return (2.0 * student(effect.degrees_of_freedom()).map_or(0.0, |law| law.sf(statistic))).min(1.0);
    }
    p_apart(excess, independent)
}

/// Samples that do not overlap have no variance: their p is that of the exact test of ranks, 2 / (n + m over n).
fn p_apart(excess: f64, independent: [f64; 2]) -> f64 {
    if excess == 0.0 {
        return 1.0;
    }
    let [first, second] = independent.map(|count| count.floor().max(1.0) as u64);
    (std::f64::consts::LN_2 - ln_binomial(first + second, first)).exp().min(1.0)
}

fn student(degrees_of_freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()
}
