//! Long memory: a sequence that wanders on every scale.
//!
//! Noise whose power grows towards long periods like 1/f has no correlation time: however long the record, a longer one would
//! have wandered further, and the mean of what was seen says little of the level. Near frequency 0 the spectrum is taken for
//! G f^(-2d) and d estimated by the local Whittle method (Künsch 1987; Robinson 1995) from the lowest n^0.6 frequencies. It counts if it exceeds
//! 0.25 and two of its standard errors, 1/(2 √m), and if the power law fits these frequencies better than what a
//! correlation of any finite time makes, G / (1 + (f/c)²). Then the power that belongs to the mean is that of half a cycle a record, and
//! of all below it, 1 / (1 - 2d).
//!
//! Limits: below 64 values nothing is asked; correlation over more than a tenth of a record cannot be told from long memory.

use crate::statistics::spectrum::fourier::{Complex, Transform};
use crate::statistics::student::{normal_density, normal_quantile};

const VALUES_LEAST: usize = 64;
const FREQUENCIES_POWER: f64 = 0.6;
const MEMORY_LEAST: f64 = 0.25;
/// A power law that is as good as that, in units of the log-likelihood, counts as better: to miss long memory is worse.
const TOLERANCE: f64 = 0.1;
/// From here on the variance of a mean does not exist; it is taken for very large.
const MEMORY_MOST: f64 = 0.49;

/// How many times as much the mean of a sequence varies as that of independent values, because of long memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongMemory {
    /// Of normal scores; 1: there is none.
    pub inflation: f64,
}

impl LongMemory {
    /// None at all.
    pub const NONE: Self = Self { inflation: 1.0 };

    /// Of `sums` of normal scores over equal stretches of time, `attempts` of them in all.
    pub fn of(sums: &[f64], attempts: u64) -> Self {
        if sums.len() < VALUES_LEAST {
            return Self::NONE;
        }
        let powers = lowest_powers(sums, (sums.len() as f64).powf(FREQUENCIES_POWER) as usize);
        let law = PowerLaw::of(&powers);
        let error = 0.5 / (powers.len() as f64).sqrt();
        if law.memory < MEMORY_LEAST.max(2.0 * error)
            || law.misfit >= misfit_of_finite_time(&powers) + TOLERANCE / powers.len() as f64
        {
            return Self::NONE;
        }
        let at_half_a_cycle = law.scale * 0.5_f64.powf(-2.0 * law.memory);
        let below = 1.0 - 2.0 * law.memory.min(MEMORY_MOST);
        let independent = attempts as f64 / sums.len() as f64;
        Self { inflation: (at_half_a_cycle / below / independent).max(1.0) }
    }

    /// The same for a share of the values: only so much of the scores' covariance is in the indicator of a limit (the first term of
    /// its Hermite expansion, Taqqu 1975), the least at the tails.
    pub fn inflation_at(self, share: f64) -> f64 {
        let density = normal_density(normal_quantile(share));
        1.0 + density * density / (share * (1.0 - share)) * (self.inflation - 1.0)
    }
}

/// The periodogram at the frequencies 1, 2, ... cycles a record: `|Σ x exp(iωt)|² / n`.
fn lowest_powers(values: &[f64], count: usize) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let mut data: Vec<Complex> = values.iter().map(|value| (value - mean).into()).collect();
    Transform::of(data.len()).apply(&mut data);
    data[1..=count].iter().map(|one| one.norm_sqr() / n).collect()
}

/// `scale × f^(-2 memory)` at f cycles a record.
struct PowerLaw {
    memory: f64,
    scale: f64,
    /// What the local Whittle method makes least, by frequency.
    misfit: f64,
}

impl PowerLaw {
    fn of(powers: &[f64]) -> Self {
        let (mut low, mut high) = (-0.5, 1.2);
        let misfit = |memory: f64| misfit_of(powers, |cycles| cycles.powf(-2.0 * memory)).1;
        // The misfit is convex: thirds close in on its least.
        for _ in 0..40 {
            let third = (high - low) / 3.0;
            if misfit(low + third) < misfit(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        let memory = (low + high) / 2.0;
        let (scale, misfit) = misfit_of(powers, |cycles| cycles.powf(-2.0 * memory));
        Self { memory, scale, misfit }
    }
}

/// The least misfit of a correlation of finite time.
fn misfit_of_finite_time(powers: &[f64]) -> f64 {
    const STEPS: i32 = 60;
    let (least, most) = (0.4_f64, powers.len() as f64);
    let corner = |step: i32| least * (most / least).powf(f64::from(step) / f64::from(STEPS - 1));
    let misfit = |corner: f64| misfit_of(powers, |cycles| 1.0 / (1.0 + (cycles / corner).powi(2))).1;
    (0..STEPS).map(|step| misfit(corner(step))).fold(f64::INFINITY, f64::min)
}

/// Scale and misfit (Whittle 1953, by frequency) of a spectrum of this shape.
fn misfit_of(powers: &[f64], shape: impl Fn(f64) -> f64) -> (f64, f64) {
    let count = powers.len() as f64;
    let (mut scale, mut logarithms) = (0.0, 0.0);
    for (cycles, power) in (1..).zip(powers) {
        let shape = shape(f64::from(cycles));
        scale += power / shape / count;
        logarithms += shape.ln() / count;
    }
    (scale, scale.ln() + logarithms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    fn autoregressive(n: usize, phi: f64, noise: &mut Random) -> Vec<f64> {
        let mut state = noise.normal();
        let mut next = || {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            state
        };
        (0..n).map(|_| next()).collect()
    }

    /// Equal power in each octave of time scales.
    fn wandering(n: usize, noise: &mut Random) -> Vec<f64> {
        let octaves: Vec<Vec<f64>> =
            (0..14).map(|octave| autoregressive(n, (-0.5_f64.powi(octave)).exp(), noise)).collect();
        (0..n).map(|at| octaves.iter().map(|octave| octave[at]).sum::<f64>() / 14_f64.sqrt()).collect()
    }

    fn found(make: impl Fn(&mut Random) -> Vec<f64>) -> usize {
        let mut noise = Random::new(11);
        (0..50).filter(|_| LongMemory::of(&make(&mut noise), 1000) != LongMemory::NONE).count()
    }

    #[test]
    fn what_wanders_on_every_scale_has_long_memory_and_what_forgets_has_not() {
        assert!(found(|noise| wandering(1000, noise)) >= 40);
        for phi in [0.0, 0.5, 0.8] {
            assert!(found(|noise| autoregressive(1000, phi, noise)) <= 5, "{phi}");
        }
    }

    #[test]
    fn little_and_equal_values_have_none() {
        for values in [vec![], vec![1.0; 3], vec![0.0; 500]] {
            assert_eq!(LongMemory::of(&values, values.len() as u64), LongMemory::NONE);
        }
    }

    #[test]
    fn shares_in_the_tail_have_less_of_it() {
        let memory = LongMemory { inflation: 101.0 };
        assert!((memory.inflation_at(0.5) - 64.7).abs() < 0.1, "2/pi of it at the median");
        assert!(memory.inflation_at(0.01) < 10.0);
        assert_eq!(LongMemory::NONE.inflation_at(0.3), 1.0);
    }
}
