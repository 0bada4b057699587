//! The fast Fourier transform of any length and what is built on it here: autocorrelation, and sums of sines and cosines over unevenly spaced
//! moments (Press and Rybicki 1989: each value is spread over the neighbouring points of an even grid by Lagrange's weights, and the grid is
//! transformed).
//!
//! Limits: the uneven sums are within 0.1 % of the exact ones (tested), which is why the best period is computed again exactly.

use std::fmt;
use std::sync::Arc;

use rustfft::{Fft, FftPlanner};

/// A complex number.
pub(crate) type Complex = rustfft::num_complex::Complex<f64>;

/// Points over which a value is spread.
const SPREAD: usize = 6;

/// Transforms of one length.
#[derive(Clone)]
pub(crate) struct Transform(Arc<dyn Fft<f64>>);

impl Transform {
    /// Of sequences of this length.
    pub(crate) fn of(length: usize) -> Self {
        Self(FftPlanner::new().plan_fft_inverse(length))
    }

    /// `X[k] = Σ x[j] exp(+2πi jk / n)` in place, without scaling; of the length that it was made for.
    pub(crate) fn apply(&self, data: &mut [Complex]) {
        self.0.process(data);
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transform({})", self.0.len())
    }
}

/// Autocorrelation of a sequence at the lags 0 to n - 1 (divided by n, so that it shrinks with the lag). Empty if all values are
/// equal.
pub(crate) fn autocorrelation(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n.max(1) as f64;
    let mut data = vec![Complex::ZERO; (2 * n).next_power_of_two()];
    let transform = Transform::of(data.len());
    for (place, value) in data.iter_mut().zip(values) {
        place.re = value - mean;
    }
    transform.apply(&mut data);
    for place in &mut data {
        *place = place.norm_sqr().into();
    }
    transform.apply(&mut data);
    let variance = data.first().map_or(0.0, |place| place.re);
    if variance <= 0.0 {
        return Vec::new();
    }
    data[..n].iter().map(|place| place.re / variance).collect()
}

/// The same at the lags 0 to `lags` - 1 only, in stretches: many times as fast where `lags` is far below the number of values.
pub(crate) fn autocorrelation_near(values: &[f64], lags: usize) -> Vec<f64> {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n.max(1) as f64;
    let stretch = lags.next_power_of_two();
    let mut spectrum = vec![Complex::ZERO; 2 * stretch];
    let transform = Transform::of(spectrum.len());
    for first in (0..n).step_by(stretch) {
        // A stretch as real part, the same and the next as imaginary part: all products at lags below `stretch`.
        let mut data = vec![Complex::ZERO; 2 * stretch];
        for (place, value) in data.iter_mut().zip(&values[first..]) {
            place.im = value - mean;
        }
        for place in &mut data[..stretch.min(n - first)] {
            place.re = place.im;
        }
        transform.apply(&mut data);
        let size = data.len();
        for (index, sum) in spectrum.iter_mut().enumerate() {
            let [short, long] = apart(data[index], data[(size - index) % size]);
            // Back again by the same transform: the conjugate of `long`, so that lags count forward.
            *sum += short * long.conj();
        }
    }
    transform.apply(&mut spectrum);
    let variance = spectrum[0].re;
    if variance <= 0.0 {
        return Vec::new();
    }
    spectrum[..lags].iter().map(|place| place.re / variance).collect()
}

/// The coefficients of two real sequences that were transformed as real and imaginary part of one, by the one here and that of the negative frequency.
fn apart(here: Complex, mirrored: Complex) -> [Complex; 2] {
    let (sum, difference) = (here + mirrored.conj(), here - mirrored.conj());
    [sum / 2.0, Complex::new(difference.im, -difference.re) / 2.0]
}

/// `Σ weight[j] exp(2πi k step t[j])` for k from 0 up to `count`, for two sets of weights at once. `cycles` are `step × t`: how far
/// each moment is, in cycles of the lowest frequency.
pub(crate) fn uneven_sums(cycles: &[f64], weights: [&[f64]; 2], count: usize) -> [Vec<Complex>; 2] {
    // Eight points to the shortest period keep the spreading accurate.
    let size = (8 * count).next_power_of_two().max(2 * SPREAD);
    let mut grid = vec![Complex::ZERO; size];
    for (index, cycle) in cycles.iter().enumerate() {
        let place = cycle.rem_euclid(1.0) * size as f64;
        let first = place.floor() - (SPREAD / 2 - 1) as f64;
        for (point, share) in spreading(place - first).into_iter().enumerate() {
            let at = (first as i64 + point as i64).rem_euclid(size as i64) as usize;
            grid[at].re += share * weights[0][index];
            grid[at].im += share * weights[1][index];
        }
    }
    Transform::of(grid.len()).apply(&mut grid);
    let sums = (0..count).map(|index| apart(grid[index], grid[(size - index) % size]));
    sums.map(|[first, second]| (first, second)).unzip().into()
}

/// Lagrange's weights of the points 0 to `SPREAD` - 1 for a place among them.
fn spreading(place: f64) -> [f64; SPREAD] {
    std::array::from_fn(|point| {
        let others = (0..SPREAD).filter(|other| *other != point);
        others.map(|other| (place - other as f64) / (point as f64 - other as f64)).product()
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use iolag_model::Random;

    #[test]
    fn the_transform_is_the_sum_it_stands_for() {
        let mut noise = Random::new(1);
        for length in [1, 2, 16, 45, 97] {
            let values: Vec<Complex> =
                (0..length).map(|_| Complex::new(noise.normal(), noise.normal())).collect();
            let mut fast = values.clone();
            Transform::of(length).apply(&mut fast);
            for (k, found) in fast.iter().enumerate() {
                let turn = |j: usize| Complex::cis(TAU * (j * k) as f64 / length as f64);
                let slow: Complex = values.iter().enumerate().map(|(j, value)| value * turn(j)).sum();
                assert!((found - slow).norm() < 1e-11, "{length} {k}");
            }
        }
    }

    #[test]
    fn autocorrelation_is_the_sum_of_products() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
        let mean = values.iter().sum::<f64>() / 7.0;
        let at = |lag: usize| -> f64 {
            values[lag..].iter().zip(&values).map(|(late, early)| (late - mean) * (early - mean)).sum()
        };
        let found = autocorrelation(&values);
        for (lag, value) in found.iter().enumerate() {
            assert!((value - at(lag) / at(0)).abs() < 1e-12, "{lag}");
        }
        assert_eq!(found.len(), 7);
        assert!(autocorrelation(&[2.0; 5]).is_empty() && autocorrelation(&[]).is_empty());
    }

    #[test]
    fn uneven_sums_are_close_to_exact() {
        let mut noise = Random::new(2);
        let cycles: Vec<f64> = (0..300).map(|_| 0.3 * noise.unit()).collect();
        let weights: Vec<f64> = (0..300).map(|_| noise.normal()).collect();
        let ones = vec![1.0; 300];
        let [first, second] = uneven_sums(&cycles, [&weights, &ones], 500);
        for k in [0, 1, 17, 250, 499] {
            for (found, weight) in [(first[k], &weights), (second[k], &ones)] {
                let terms = cycles.iter().zip(weight);
                let exact: Complex =
                    terms.map(|(cycle, weight)| weight * Complex::cis(TAU * k as f64 * cycle)).sum();
                assert!((found - exact).norm() < 1e-3 * 300.0_f64.sqrt(), "{k}: {found:?} {exact:?}");
            }
        }
    }
}
