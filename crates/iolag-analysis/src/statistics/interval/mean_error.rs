//! How far an estimate may be off that is a sum over a sequence whose neighbours resemble each other.
//!
//! What each observation contributes to the estimate's error, in time order, is summed with the lowest cosines of the stretch: each such sum
//! scatters as the error does, and the mean of K of their squares is its variance with K degrees of freedom (equal-weighted cosines: Müller 2004;
//! Lazarus, Lewis, Stock and Watson 2018). The greater K, the shorter the interval, and the more of the dependence is missed; so K = 4, 8, 16, …
//! are tried, and the effective number of values ([`effective_sample_size_of`]) beside them, and the widest answer counts. Where power grows
//! towards long times as k^-b, what is longer than the record is allowed for: the variance is multiplied by `1 + 4 b`, b being the
//! slope of the logarithms less half its standard error.
//!
//! Samples are binned once, into at most [`BINS_MOST`] bins; nothing is resampled.
//!
//! Limits: a wandering load that is far slower than the record is not seen in it.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::statistics::dependence::effective_size::{effective_sample_size_of, variance_of};
use crate::statistics::spectrum::cosine::Cosines;
use crate::statistics::student::CONFIDENCE;
use crate::statistics::student::{NORMAL_TWO_SIDED, student_two_sided};

/// Bins of a stretch.
const BINS_MOST: usize = 4096;
/// The least number of cosines.
const COSINES_LEAST: usize = 4;
/// Cosines of which at least a slope is told.
const SLOPED_LEAST: usize = 24;
/// What the slope of the spectrum is multiplied by.
const MEMORY: f64 = 4.0;
/// Standard deviation of the logarithm of a squared normal number: π/√2.
const LOG_SCATTER: f64 = 2.221_441_469;

/// How far an estimate may be off.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeanError {
    candidates: Vec<Part>,
}

/// A variance and the degrees of freedom with which it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Part {
    variance: f64,
    freedom: f64,
}

impl Part {
    /// Of a sum of independent ones: Satterthwaite's formula.
    fn sum(parts: &[Self]) -> Self {
        let variance: f64 = parts.iter().map(|part| part.variance).sum();
        let squares: f64 = parts.iter().map(|part| part.variance.powi(2) / part.freedom).sum();
        Self { variance, freedom: if squares > 0.0 { (variance * variance / squares).max(1.0) } else { 1.0 } }
    }

    fn reach(&self) -> f64 {
        student_two_sided(self.freedom, CONFIDENCE) * self.variance.sqrt()
    }
}

impl MeanError {
    /// `stretches` are apart in time; each has what its observations contribute, in time order, with a sum of about zero, and how many of them
    /// fall on a moment. `None` if nothing varies.
    pub(crate) fn of(stretches: &[(Vec<f64>, usize)]) -> Option<Self> {
        let binned: Vec<Vec<f64>> =
            stretches.iter().map(|(contributions, of_moment)| bins_of(contributions, *of_moment)).collect();
        let spectra: Vec<Spectrum> = binned.iter().map(|bins| Spectrum::of(bins)).collect();
        let most = spectra.iter().map(|spectrum| spectrum.cosines_most).max()?;
        let mut candidates = Vec::new();
        let mut count = COSINES_LEAST;
        while count <= most {
            let parts: Vec<Part> = spectra.iter().map(|spectrum| spectrum.part(count)).collect();
            candidates.push(Part::sum(&parts));
            count *= 2;
        }
        let by_worth: Vec<Part> = binned.iter().map(|bins| by_effective_number(bins)).collect();
        candidates.push(Part::sum(&by_worth));
        candidates.iter().any(|part| part.variance > 0.0).then_some(Self { candidates })
    }

    /// Half the width of a 95 % interval.
    pub(crate) fn reach(&self) -> f64 {
        self.candidates.iter().map(Part::reach).fold(0.0, f64::max)
    }

    /// Two-sided p of an estimate that lies so far from what it would be by chance.
    pub(crate) fn p(&self, excess: f64) -> f64 {
        let of = |part: &Part| {
            let statistic = (excess / part.variance.sqrt()).abs();
            let law = StudentsT::new(0.0, 1.0, part.freedom).ok().filter(|_| statistic.is_finite());
            (2.0 * law.map_or(0.0, |law| law.sf(statistic))).min(1.0)
        };
        self.candidates.iter().map(of).fold(0.0, f64::max)
    }

    /// The share of the observations that would tell as much if they were independent, `variance` being that of the estimate then.
    pub(crate) fn share_effective(&self, variance: f64) -> f64 {
        let error = self.reach() / NORMAL_TWO_SIDED;
        (variance / (error * error)).min(1.0)
    }
}

/// Sums of equal numbers of contributions.
fn bins_of(contributions: &[f64], of_moment: usize) -> Vec<f64> {
    let n = contributions.len();
    let bins = (n / of_moment.max(1)).clamp(1, BINS_MOST).min(n.max(1));
    (0..bins).map(|bin| contributions[bin * n / bins..(bin + 1) * n / bins].iter().sum()).collect()
}

/// The bins' number times the variance of the sum of independent ones, divided by what the bins are worth.
fn by_effective_number(bins: &[f64]) -> Part {
    let n = bins.len() as f64;
    let effective = effective_sample_size_of(bins).effective.max(1.0);
    Part { variance: n * variance_of(bins) * n / effective, freedom: (effective - 1.0).max(1.0) }
}

/// Squared sums of a stretch with its lowest cosines.
struct Spectrum {
    /// From the first cosine on, each scattering as the sum of the stretch does.
    powers: Vec<f64>,
    cosines_most: usize,
    /// What the variance is multiplied by.
    allowance: f64,
}

impl Spectrum {
    fn of(bins: &[f64]) -> Self {
        let n = bins.len() as f64;
        let powers: Vec<f64> =
            Cosines::of(bins.len()).coefficients(bins).iter().skip(1).map(|one| one * one * n).collect();
        let cosines_most = ((0.4 * n.powf(2.0 / 3.0)) as usize).max(2 * COSINES_LEAST).min(powers.len());
        let sloped = (n.sqrt() as usize).max(SLOPED_LEAST).min(powers.len());
        Self { allowance: 1.0 + MEMORY * slope_of(&powers[..sloped]), powers, cosines_most }
    }

    fn part(&self, cosines: usize) -> Part {
        let count = cosines.min(self.cosines_most).min(self.powers.len());
        if count == 0 {
            return Part { variance: 0.0, freedom: 1.0 };
        }
        let mean = self.powers[..count].iter().sum::<f64>() / count as f64;
        Part { variance: self.allowance * mean, freedom: count as f64 }
    }
}

/// How steeply the logarithm of the power falls with that of the frequency, less half a standard error; at least 0.
fn slope_of(powers: &[f64]) -> f64 {
    let points: Vec<(f64, f64)> = powers
        .iter()
        .enumerate()
        .filter(|(_, power)| **power > 0.0)
        .map(|(index, power)| (((index + 1) as f64).ln(), power.ln()))
        .collect();
    let mean = points.iter().map(|point| point.0).sum::<f64>() / points.len().max(1) as f64;
    let spread: f64 = points.iter().map(|point| (point.0 - mean).powi(2)).sum();
    if spread <= 0.0 {
        return 0.0;
    }
    let falls = -points.iter().map(|point| (point.0 - mean) * point.1).sum::<f64>() / spread;
    (falls - 0.5 * LOG_SCATTER / spread.sqrt()).clamp(0.0, 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    fn autoregressive(n: usize, phi: f64, noise: &mut Random) -> Vec<f64> {
        let mut state = noise.normal();
        (0..n)
            .map(|_| {
                state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
                state
            })
            .collect()
    }

    /// The mean, and its error.
    fn mean_and_error(values: &[f64]) -> (f64, MeanError) {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let contributions = values.iter().map(|value| (value - mean) / n).collect();
        (mean, MeanError::of(&[(contributions, 1)]).unwrap())
    }

    #[test]
    fn means_of_sequences_that_resemble_themselves_are_covered() {
        let mut noise = Random::new(81);
        for phi in [0.0, 0.8, 0.95] {
            let outside = (0..200).filter(|_| {
                let (mean, error) = mean_and_error(&autoregressive(672, phi, &mut noise));
                assert_eq!(error.p(mean) < 0.05, mean.abs() > error.reach());
                mean.abs() > error.reach()
            });
            let outside = outside.count();
            assert!(outside <= 12, "{outside} of 200 at {phi}");
        }
    }

    #[test]
    fn independent_values_are_worth_nearly_what_they_are() {
        let mut noise = Random::new(82);
        let values = autoregressive(1000, 0.0, &mut noise);
        let (_, error) = mean_and_error(&values);
        let share = error.share_effective(variance_of(&values) / 1000.0);
        assert!(share > 0.3, "{share}");
    }

    #[test]
    fn nothing_and_what_does_not_vary_have_no_error() {
        for contributions in [vec![], vec![0.0], vec![0.0, 0.0], vec![0.0; 50]] {
            assert_eq!(MeanError::of(&[(contributions, 1)]), None);
        }
        assert_eq!(MeanError::of(&[]), None);
        for few in [vec![0.1], vec![0.1, -0.1], vec![0.1, -0.2, 0.1]] {
            let error = MeanError::of(&[(few, 1)]);
            assert!(error.is_none_or(|error| error.reach() > 0.0 && error.p(0.1) <= 1.0));
        }
    }
}
