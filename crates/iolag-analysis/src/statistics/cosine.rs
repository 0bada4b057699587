//! The cosine transform (type II, orthonormal) of a sequence of any length, and sums of cosines.
//!
//! A sequence that is mirrored at its ends has no jump where the circle closes, so its cosine coefficients are nearly independent if it is
//! stationary, exactly so for white noise and for a random walk (Rao and Yip 1990): that is why spectra and steps are looked at here and not in
//! Fourier's coefficients. Any length is transformed by three transforms of a power of two (Bluestein 1970).

use std::f64::consts::PI;

use super::fourier::{Complex, Transform, times};

/// Transforms of sequences of one length.
#[derive(Debug, Clone)]
pub(crate) struct Cosines {
    count: usize,
    /// `exp(πi k/2n)` for k from 0 to n.
    half_turns: Vec<Complex>,
    /// `exp(πi k²/2n)` for k from 0 to n.
    chirp: Vec<Complex>,
    transform: Transform,
    /// The transform of the conjugate chirp, closed to a circle.
    kernel: Vec<Complex>,
}

impl Cosines {
    /// For sequences of `count` values, at least one.
    pub(crate) fn of(count: usize) -> Self {
        let turn = |index: usize| {
            // The square is taken modulo the circle, so that long sequences lose no digits.
            let square = (index as u128 * index as u128) % (4 * count.max(1)) as u128;
            let (sine, cosine) = (PI * square as f64 / (2 * count.max(1)) as f64).sin_cos();
            [cosine, sine]
        };
        let chirp: Vec<Complex> = (0..=count).map(turn).collect();
        let size = (2 * count + 1).next_power_of_two();
        let mut kernel = vec![[0.0, 0.0]; size];
        for (index, value) in chirp.iter().enumerate() {
            kernel[index] = conjugate(*value);
            kernel[(size - index) % size] = conjugate(*value);
        }
        let transform = Transform::of(size);
        transform.apply(&mut kernel);
        let half_turn = |index: usize| {
            let (sine, cosine) = (PI * index as f64 / (2 * count.max(1)) as f64).sin_cos();
            [cosine, sine]
        };
        Self { count, half_turns: (0..=count).map(half_turn).collect(), chirp, transform, kernel }
    }

    /// Coefficients of the values: `c[j] = √(2/n) Σ x[t] cos(πj (t + ½)/n)`, the first by another √2.
    pub(crate) fn coefficients(&self, values: &[f64]) -> Vec<f64> {
        let sums = self.sums(values.iter().map(|value| [*value, 0.0]));
        let scale = (2.0 / self.count as f64).sqrt();
        (0..self.count)
            .map(|j| {
                let scale = if j == 0 { scale / 2.0_f64.sqrt() } else { scale };
                scale * times(sums[j], self.half_turns[j])[0]
            })
            .collect()
    }

    /// The values that have these coefficients.
    pub(crate) fn values(&self, coefficients: &[f64]) -> Vec<f64> {
        let scale = (2.0 / self.count as f64).sqrt();
        let turned = coefficients.iter().zip(&self.half_turns).enumerate().map(|(j, (coefficient, turn))| {
            let scale = if j == 0 { scale / 2.0_f64.sqrt() } else { scale };
            [scale * coefficient * turn[0], scale * coefficient * turn[1]]
        });
        self.sums(turned)[..self.count].iter().map(|sum| sum[0]).collect()
    }

    /// `Σ a[j] cos(πjq/n)` for q from 0 to n.
    pub(crate) fn cosine_sums(&self, weights: &[f64]) -> Vec<f64> {
        self.sums(weights.iter().map(|weight| [*weight, 0.0])).iter().map(|sum| sum[0]).collect()
    }

    /// sin(πj/2n), for j up to n.
    pub(crate) fn sine(&self, j: usize) -> f64 {
        self.half_turns[j][1]
    }

    /// Coefficients of a step from 0 to 1 at this place, at most the number of values.
    pub(crate) fn of_step(&self, at: usize) -> Vec<f64> {
        let count = self.count;
        let scale = -(2.0 / count as f64).sqrt();
        // sin(πk/2n) of any k, from those of a quarter of the circle.
        let sine = |k: usize| match k {
            k if k < 2 * count => self.half_turns[k.min(2 * count - k)][1],
            k => -self.half_turns[(k - 2 * count).min(4 * count - k)][1],
        };
        let mut k = 0;
        (0..count)
            .map(|j| {
                if j == 0 {
                    return (count - at) as f64 / (count as f64).sqrt();
                }
                k += 2 * at;
                k -= if k >= 4 * count { 4 * count } else { 0 };
                scale * sine(k) / (2.0 * self.sine(j))
            })
            .collect()
    }

    /// `Σ a[j] exp(πi jq/n)` for q from 0 to n: with jq = (j² + q² - (j - q)²)/2 it is a convolution with the chirp.
    fn sums(&self, terms: impl Iterator<Item = Complex>) -> Vec<Complex> {
        let size = self.kernel.len();
        let mut data = vec![[0.0, 0.0]; size];
        for ((place, term), turn) in data.iter_mut().zip(terms).zip(&self.chirp) {
            *place = times(term, *turn);
        }
        self.transform.apply(&mut data);
        // The way back is the same transform of conjugates.
        data.iter_mut()
            .zip(&self.kernel)
            .for_each(|(place, kernel)| *place = conjugate(times(*place, *kernel)));
        self.transform.apply(&mut data);
        let scale = 1.0 / size as f64;
        let back = data.iter().zip(&self.chirp).map(|(place, turn)| times(conjugate(*place), *turn));
        back.map(|[real, imaginary]| [scale * real, scale * imaginary]).collect()
    }
}

const fn conjugate(value: Complex) -> Complex {
    [value[0], -value[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    #[test]
    fn coefficients_are_the_sums_they_stand_for_and_come_back() {
        let mut noise = Noise::new(1);
        for count in [1, 2, 7, 16, 45] {
            let values: Vec<f64> = (0..count).map(|_| noise.normal()).collect();
            let cosines = Cosines::of(count);
            let found = cosines.coefficients(&values);
            for (j, coefficient) in found.iter().enumerate() {
                let turn = |t: usize| (PI * j as f64 * (t as f64 + 0.5) / count as f64).cos();
                let sum: f64 = values.iter().enumerate().map(|(t, value)| value * turn(t)).sum();
                let scale = if j == 0 { 1.0 } else { 2.0 } / count as f64;
                assert!((coefficient - scale.sqrt() * sum).abs() < 1e-10, "{count} {j}");
            }
            let back = cosines.values(&found);
            assert!(back.iter().zip(&values).all(|(back, value)| (back - value).abs() < 1e-10), "{count}");
        }
    }

    #[test]
    fn a_step_has_the_coefficients_of_its_values() {
        for (count, at) in [(1, 0), (1, 1), (2, 1), (9, 4), (40, 0), (40, 17), (40, 39), (40, 40)] {
            let values: Vec<f64> = (0..count).map(|place| if place < at { 0.0 } else { 1.0 }).collect();
            let cosines = Cosines::of(count);
            let found = cosines.of_step(at);
            let expected = cosines.coefficients(&values);
            assert!(
                found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-10),
                "{count} {at}: {found:?} {expected:?}"
            );
        }
    }

    #[test]
    fn sums_of_cosines_are_exact() {
        let weights = [0.5, -1.0, 2.0, 0.25, 3.0];
        for (q, found) in Cosines::of(5).cosine_sums(&weights).iter().enumerate() {
            let terms = weights.iter().enumerate();
            let exact: f64 = terms.map(|(j, weight)| weight * (PI * (j * q) as f64 / 5.0).cos()).sum();
            assert!((found - exact).abs() < 1e-12, "{q}");
        }
    }
}
