//! The cosine transform (type II, orthonormal) of a sequence of any length, and sums of cosines.
//!
//! A sequence that is mirrored at its ends has no jump where the circle closes, so its cosine coefficients are nearly independent if it is
//! stationary, exactly so for white noise and for a random walk (Rao and Yip 1990): that is why spectra and steps are looked at here and not in
//! Fourier's coefficients. It is Fourier's transform of the values in another order (Makhoul 1980).

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};
use std::sync::OnceLock;

use super::fourier::{Complex, Transform};

/// Transforms of sequences of one length.
#[derive(Debug, Clone)]
pub(crate) struct Cosines {
    count: usize,
    /// `exp(πi k/2n)` for k from 0 to n.
    half_turns: Vec<Complex>,
    transform: Transform,
    /// Of twice the length, once it is wanted.
    double: OnceLock<Transform>,
}

impl Cosines {
    /// For sequences of `count` values, at least one.
    pub(crate) fn of(count: usize) -> Self {
        let half_turn = |index: usize| Complex::cis(PI * index as f64 / (2 * count.max(1)) as f64);
        Self {
            count,
            half_turns: (0..=count).map(half_turn).collect(),
            transform: Transform::of(count),
            double: OnceLock::new(),
        }
    }

    /// Coefficients of the values: `c[j] = √(2/n) Σ x[t] cos(πj (t + ½)/n)`, the first by another √2.
    pub(crate) fn coefficients(&self, values: &[f64]) -> Vec<f64> {
        let mut data: Vec<Complex> = self.places().map(|place| values[place].into()).collect();
        self.transform.apply(&mut data);
        let turned = data.iter().zip(&self.half_turns).map(|(sum, turn)| (sum * turn).re);
        let scale = (2.0 / self.count as f64).sqrt();
        let mut coefficients: Vec<f64> = turned.map(|sum| scale * sum).collect();
        coefficients.first_mut().into_iter().for_each(|first| *first *= FRAC_1_SQRT_2);
        coefficients
    }

    /// The values that have these coefficients.
    pub(crate) fn values(&self, coefficients: &[f64]) -> Vec<f64> {
        let n = self.count;
        let scale = (n as f64 / 2.0).sqrt();
        let unscaled = |j: usize| match j {
            0 => scale * SQRT_2 * coefficients[0],
            j if j < n => scale * coefficients[j],
            _ => 0.0,
        };
        let term = |j: usize| self.half_turns[j] * Complex::new(unscaled(j), -unscaled(n - j));
        let mut data: Vec<Complex> = (0..n).map(term).collect();
        self.transform.apply(&mut data);
        let mut values = vec![0.0; n];
        for (place, value) in self.places().zip(&data) {
            values[place] = value.re / n as f64;
        }
        values
    }

    /// `Σ a[j] cos(πjq/n)` for q from 0 to n.
    pub(crate) fn cosine_sums(&self, weights: &[f64]) -> Vec<f64> {
        let mut data: Vec<Complex> = weights.iter().map(|weight| (*weight).into()).collect();
        data.resize(2 * self.count, Complex::ZERO);
        self.double.get_or_init(|| Transform::of(2 * self.count)).apply(&mut data);
        data[..=self.count].iter().map(|sum| sum.re).collect()
    }

    /// Places in the order in which they are transformed: the even ones ascending, then the odd ones descending.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let even = (0..self.count).step_by(2);
        even.chain((1..self.count).step_by(2).rev())
    }

    /// sin(πj/2n), for j up to n.
    pub(crate) fn sine(&self, j: usize) -> f64 {
        self.half_turns[j].im
    }

    /// Coefficients of a step from 0 to 1 at this place, at most the number of values.
    pub(crate) fn of_step(&self, at: usize) -> Vec<f64> {
        self.of_ramp(at, at + 1)
    }

    /// Coefficients of what rises from 0 to 1, in equal parts at every place from `first` up to, not including, `end`: the mean of steps at these places, whose
    /// sines in arithmetic progression have a sum in closed form.
    pub(crate) fn of_ramp(&self, first: usize, end: usize) -> Vec<f64> {
        let count = self.count;
        let length = end - first;
        let scale = -(2.0 / count as f64).sqrt() / (2.0 * length as f64);
        // sin(πk/2n) of k up to 4n, from those of a quarter of the circle.
        let sine = |k: usize| match k {
            k if k < 2 * count => self.half_turns[k.min(2 * count - k)].im,
            k => -self.half_turns[(k - 2 * count).min(4 * count - k)].im,
        };
        let turn = |k: usize, by: usize| if k + by >= 4 * count { k + by - 4 * count } else { k + by };
        let (twice_middle, mut middles, mut lengths) = (first + end - 1, 0, 0);
        (0..count)
            .map(|j| {
                if j == 0 {
                    return (count as f64 - twice_middle as f64 / 2.0) / (count as f64).sqrt();
                }
                (middles, lengths) = (turn(middles, twice_middle), turn(lengths, length));
                scale * sine(middles) * sine(lengths) / (self.sine(j) * self.sine(j))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    #[test]
    fn coefficients_are_the_sums_they_stand_for_and_come_back() {
        let mut noise = Random::new(1);
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
    fn steps_and_ramps_have_the_coefficients_of_their_values() {
        let steps = [(1, 0), (1, 1), (2, 1), (9, 4), (40, 0), (40, 17), (40, 39), (40, 40)];
        let ramps = [(9, 0, 9), (40, 0, 8), (40, 3, 40), (40, 17, 30), (45, 44, 45)];
        for (count, first, end) in steps.map(|(count, at)| (count, at, at + 1)).into_iter().chain(ramps) {
            let cosines = Cosines::of(count);
            let found = cosines.of_ramp(first, end);
            let expected = cosines.coefficients(&risen(count, first, end));
            assert!(
                found.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-10),
                "{count} {first} {end}: {found:?} {expected:?}"
            );
        }
    }

    /// From 0 to 1, in equal parts at every place from `first` up to, not including, `end`.
    fn risen(count: usize, first: usize, end: usize) -> Vec<f64> {
        let length = (end - first) as f64;
        (0..count).map(|place| ((place + 1).saturating_sub(first) as f64 / length).min(1.0)).collect()
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
