//! The periodogram of Lomb 1976 and Scargle 1982 with a floating mean (Zechmeister and Kürster 2009), for unevenly spaced values.
//!
//! The power at a frequency is the share of the variance that a sinusoid of that frequency explains, 0 to 1.
//!
//! Limits: moments are taken from the first value in units of seconds; powers of the whole grid come from the fast sums of
//! [`crate::statistics::spectrum::fourier`] and are within 1 % of the exact ones, which [`lomb_scargle_at`] gives, from one cycle on.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::fourier::{Complex, uneven_sums};

/// Mean square of a wave at the moments of the values, half that of most, below which it explains nothing: values every quarter of an hour
/// hardly see a wave of half an hour that is zero at each of them, and what little they see is the noise of all frequencies.
const SQUARE_LEAST: f64 = 0.2;

/// Power at one frequency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PeriodogramPoint {
    /// Cycles per second.
    pub frequency: f64,
    /// Share of the variance explained, 0 to 1.
    pub power: f64,
}

/// Weighted sums that the power is made of, weights being 1/n and values centred.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    value: Complex,
    once: Complex,
    /// Of twice the angle.
    twice: Complex,
}

/// Exact power at a frequency; zero if the values do not vary.
pub fn lomb_scargle_at(seconds: &[f64], values: &[f64], frequency: f64) -> f64 {
    power_at(seconds, values, frequency, 1e-12)
}

/// The same without waves that the moments of the values hardly see.
pub(crate) fn seen_power_at(seconds: &[f64], values: &[f64], frequency: f64) -> f64 {
    power_at(seconds, values, frequency, SQUARE_LEAST)
}

fn power_at(seconds: &[f64], values: &[f64], frequency: f64, square_least: f64) -> f64 {
    let (centred, variance) = centred(values);
    let weight = 1.0 / values.len().max(1) as f64;
    let mut sums = Sums::default();
    for (second, value) in seconds.iter().zip(&centred) {
        let wave = Complex::cis(TAU * (frequency * second).fract());
        sums.value += weight * value * wave;
        sums.once += weight * wave;
        sums.twice += weight * wave * wave;
    }
    power(sums, variance, square_least)
}

/// Power at the frequencies `step`, 2 `step`, … up to `count` of them, without waves that the moments of the values hardly see.
pub fn lomb_scargle(seconds: &[f64], values: &[f64], step: f64, count: usize) -> Vec<PeriodogramPoint> {
    let [of_values, _] = powers_on_grid(seconds, values, step, count);
    of_values
}

/// The same, and how much of each wave the moments themselves have: the spectral window, 0 to 1. Near 1, they see a wave that is faster by this frequency as the
/// same.
pub(crate) fn powers_on_grid(
    seconds: &[f64],
    values: &[f64],
    step: f64,
    count: usize,
) -> [Vec<PeriodogramPoint>; 2] {
    let (centred, variance) = centred(values);
    let weight = 1.0 / values.len().max(1) as f64;
    let weights = vec![weight; values.len()];
    let weighted: Vec<f64> = centred.iter().map(|value| value * weight).collect();
    let cycles: Vec<f64> = seconds.iter().map(|second| second * step).collect();
    let doubled: Vec<f64> = cycles.iter().map(|cycle| 2.0 * cycle).collect();
    let [value, once] = uneven_sums(&cycles, [&weighted, &weights], count + 1);
    let [twice, _] = uneven_sums(&doubled, [&weights, &weights], count + 1);
    let point = |index: usize, power: f64| PeriodogramPoint { frequency: step * index as f64, power };
    let of_values = |index: usize| {
        let sums = Sums { value: value[index], once: once[index], twice: twice[index] };
        point(index, power(sums, variance, SQUARE_LEAST))
    };
    let of_moments = |index: usize| point(index, once[index].norm_sqr());
    [(1..=count).map(of_values).collect(), (1..=count).map(of_moments).collect()]
}

fn centred(values: &[f64]) -> (Vec<f64>, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let variance = centred.iter().map(|value| value * value).sum::<f64>() / n;
    (centred, variance)
}

/// The least-squares fit of a sinusoid and a constant, in the coordinates in which sine and cosine are orthogonal.
fn power(sums: Sums, variance: f64, square_least: f64) -> f64 {
    if variance <= 0.0 {
        return 0.0;
    }
    let Sums { value, once, twice } = sums;
    let (sine, cosine) = ((twice - once * once).arg() / 2.0).sin_cos();
    let axis = Complex::new(cosine, sine);
    let (value, once, twice) = (value * axis.conj(), once * axis.conj(), (twice * (axis * axis).conj()).re);
    let of_cosine = (1.0 + twice) / 2.0 - once.re * once.re;
    let of_sine = (1.0 - twice) / 2.0 - once.im * once.im;
    let part = |value: f64, square: f64| if square > square_least { value * value / square } else { 0.0 };
    ((part(value.re, of_cosine) + part(value.im, of_sine)) / variance).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    #[test]
    fn a_sinusoid_is_explained_fully_and_a_constant_not_at_all() {
        let mut noise = Random::new(3);
        let seconds: Vec<f64> = (0..200).map(|slot| f64::from(slot) * 900.0 + 300.0 * noise.unit()).collect();
        let wave: Vec<f64> =
            seconds.iter().map(|second| 5.0 + (TAU * second / 43_210.0 + 1.0).sin()).collect();
        assert!((lomb_scargle_at(&seconds, &wave, 1.0 / 43_210.0) - 1.0).abs() < 1e-9);
        assert!(lomb_scargle_at(&seconds, &wave, 1.0 / 10_000.0) < 0.05);
        assert_eq!(lomb_scargle_at(&seconds, &[2.0; 200], 1.0 / 10_000.0), 0.0);
    }

    #[test]
    fn a_wave_that_is_zero_whenever_it_is_looked_at_explains_nothing_of_it() {
        let mut noise = Random::new(5);
        let seconds: Vec<f64> = (0..500).map(|slot| f64::from(slot) * 900.0 + 20.0 * noise.unit()).collect();
        let mut state = 0.0;
        let mut wander = || {
            state = 0.98 * state + noise.normal();
            state
        };
        let values: Vec<f64> = seconds.iter().map(|_| wander()).collect();
        let (here, beside) = (1.0 / 1800.0, 1.0 / 1850.0);
        let [here, beside] = [here, beside].map(|at| seen_power_at(&seconds, &values, at));
        assert!(here < 1e-3 && beside < 1e-3, "{here} {beside}");
    }

    #[test]
    fn the_fast_grid_is_close_to_the_exact_powers() {
        let mut noise = Random::new(4);
        let seconds: Vec<f64> = (0..500).map(|slot| f64::from(slot) * 900.0 + 600.0 * noise.unit()).collect();
        let values: Vec<f64> =
            seconds.iter().map(|second| noise.normal() + (TAU * second / 86_400.0).sin()).collect();
        let step = 1.0 / (3.0 * 450_000.0);
        let points = lomb_scargle(&seconds, &values, step, 700);
        for point in points.iter().skip(2).step_by(23) {
            let exact = lomb_scargle_at(&seconds, &values, point.frequency);
            assert!((point.power - exact).abs() < 2e-3 + 0.01 * exact, "{point:?} {exact}");
        }
    }
}
