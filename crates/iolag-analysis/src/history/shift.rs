//! How much greater the second of two samples is, and how often: the estimates that a comparison rests on.
//!
//! The methods are explained in `comparison.rs`. Invariant: turning the comparison round turns every
//! number.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::factorial::ln_binomial;

use super::pairs::{DifferenceEnd, RelativeEffect, Stratum, difference_at, median_difference};
use crate::statistics::dependence::EffectiveSampleSize;
use crate::statistics::interval::CONFIDENCE;
use crate::statistics::student::NORMAL_TWO_SIDED;

/// What p has to be below.
pub(crate) const SIGNIFICANCE: f64 = 1.0 - CONFIDENCE;

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
    /// The same with the effective sample sizes: the one to show.
    pub p: f64,
}

/// What the pairs say, before it is put on a scale.
pub(crate) struct Judged<'a> {
    strata: &'a [Stratum],
    worth: [f64; 2],
    /// Median difference with each pair at its least, in the middle, at its most.
    low: f64,
    middle: f64,
    high: f64,
}

impl<'a> Judged<'a> {
    pub(crate) fn of(strata: &'a [Stratum], worth: [f64; 2]) -> Option<Self> {
        if strata.is_empty() {
            return None;
        }
        let middle = median_difference(strata, DifferenceEnd::Both);
        let is_exact = strata.iter().all(Stratum::is_exact);
        let other = |end| if is_exact { middle } else { median_difference(strata, end) };
        let (low, high) = (other(DifferenceEnd::Low), other(DifferenceEnd::High));
        Some(Self { strata, worth, low, middle, high })
    }

    pub(crate) fn shift(&self, scale: ShiftScale) -> Shift {
        let put = |difference: f64| match scale {
            ShiftScale::Ratio => difference.exp(),
            ShiftScale::Difference => difference,
        };
        let [interval_naive, interval] = self.intervals(put);
        Shift {
            scale,
            estimate: match (self.low.is_finite(), self.high.is_finite()) {
                (true, true) => ShiftEstimate::Exactly(put(self.middle)),
                (true, false) => ShiftEstimate::AtLeast(put(self.low)),
                (false, true) => ShiftEstimate::AtMost(put(self.high)),
                (false, false) => ShiftEstimate::Unknown,
            },
            interval_naive,
            interval,
        }
    }

    /// The interval as if every attempt were independent, and that for what they are worth.
    fn intervals(&self, put: impl Fn(f64) -> f64) -> [ShiftInterval; 2] {
        let aligned_by = [self.middle, self.high, self.low, 0.0];
        let shift = aligned_by.into_iter().find(|shift| shift.is_finite()).unwrap_or_default();
        RelativeEffect::of(self.strata, shift, [[1.0, 1.0], self.worth])
            .map(|effect| self.interval(&effect, &put))
    }

    fn interval(&self, effect: &RelativeEffect, put: impl Fn(f64) -> f64) -> ShiftInterval {
        let reach = student_two_sided(effect.degrees_of_freedom()) * effect.standard_error();
        let (below, above) = (0.5 - reach, 0.5 + reach);
        let low = if below > 0.0 {
            difference_at(self.strata, below, DifferenceEnd::Low)
        } else {
            f64::NEG_INFINITY
        };
        let high =
            if above < 1.0 { difference_at(self.strata, above, DifferenceEnd::High) } else { f64::INFINITY };
        let end = |difference: f64| difference.is_finite().then(|| put(difference));
        ShiftInterval { low: end(low), high: end(high) }
    }

    pub(crate) fn greater(&self, sizes: [EffectiveSampleSize; 2]) -> Greater {
        let [naive, effect] = RelativeEffect::of(self.strata, 0.0, [[1.0, 1.0], self.worth]);
        let reach = student_two_sided(effect.degrees_of_freedom()) * effect.standard_error();
        let effective = sizes.map(|size| size.effective);
        let all = sizes.map(|size| size.attempts as f64);
        Greater {
            probability: effect.probability,
            low: (effect.probability - reach).max(0.0),
            high: (effect.probability + reach).min(1.0),
            p_naive: p_of(&naive, all),
            p: p_of(&effect, effective),
        }
    }
}

/// Two-sided p of the hypothesis that neither tends to be greater. Samples that do not overlap have no
/// variance: there it is that of the exact test of ranks, 2 / (n + m over n).
fn p_of(effect: &RelativeEffect, independent: [f64; 2]) -> f64 {
    let excess = effect.probability - 0.5;
    let error = effect.standard_error();
    if error > 0.0 {
        let statistic = (excess / error).abs();
        return (2.0 * student(effect.degrees_of_freedom()).map_or(0.0, |law| law.sf(statistic))).min(1.0);
    }
    if excess == 0.0 {
        return 1.0;
    }
    let [first, second] = independent.map(|count| count.floor().max(1.0) as u64);
    (std::f64::consts::LN_2 - ln_binomial(first + second, first)).exp().min(1.0)
}

fn student(degrees_of_freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()
}

/// The 97.5 % point of Student's distribution; the normal one where that is the same in print.
fn student_two_sided(degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom.is_nan() || degrees_of_freedom > 1e5 {
        return NORMAL_TWO_SIDED;
    }
    student(degrees_of_freedom).map_or(NORMAL_TWO_SIDED, |law| law.inverse_cdf(1.0 - SIGNIFICANCE / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn students_points_are_those_of_the_tables() {
        for (freedom, point) in [
            (1.0, 12.706_204_736),
            (5.5, 2.501_858_617_6),
            (20.0, 2.085_963_447),
            (200.0, 1.971_896_224),
            (5e4, 1.960_011_431),
        ] {
            let found = student_two_sided(freedom);
            assert!((found / point - 1.0).abs() < 1e-6, "{freedom}: {found}");
        }
    }
}
