//! Weighted least squares on cosine coefficients, in noise whose spectrum is fitted at the same time.

use super::coloured::{Bands, Spectrum};

/// How often weights and amounts are computed by turns.
const ROUNDS: usize = 3;

/// Sequences, by their cosine coefficients, that explain another.
#[derive(Debug, Clone)]
pub(crate) struct Regression<'a> {
    pub(crate) bands: &'a Bands,
    pub(crate) columns: Vec<Vec<f64>>,
}

/// What explains a sequence, and what is left of it.
#[derive(Debug, Clone)]
pub(crate) struct Fit {
    pub(crate) noise: Spectrum,
    pub(crate) rest: Vec<f64>,
}

impl Regression<'_> {
    /// The likeliest amounts and noise, beginning with the noise `start`.
    pub(crate) fn fit(&self, coefficients: &[f64], start: Option<&Spectrum>) -> Fit {
        if self.columns.is_empty() {
            return Fit { noise: self.bands.fit(coefficients), rest: coefficients.to_vec() };
        }
        let quick;
        let start = match start {
            Some(noise) => noise,
            None => {
                quick = self.bands.fit_quick(coefficients, 12);
                &quick
            }
        };
        let mut fit = self.weighted(coefficients, start);
        for _ in 1..ROUNDS {
            let next = self.weighted(coefficients, &fit.noise);
            if next.noise.likelihood <= fit.noise.likelihood + 1e-3 {
                break;
            }
            fit = next;
        }
        fit
    }

    fn weighted(&self, coefficients: &[f64], noise: &Spectrum) -> Fit {
        let product = |one: &[f64], other: &[f64]| -> f64 {
            one.iter().zip(other).zip(&noise.weights).map(|((one, other), weight)| one * other * weight).sum()
        };
        let row = |index: usize| {
            self.columns.iter().take(index + 1).map(|other| product(&self.columns[index], other)).collect()
        };
        let products: Vec<Vec<f64>> = (0..self.columns.len()).map(row).collect();
        let aims: Vec<f64> = self.columns.iter().map(|column| product(column, coefficients)).collect();
        let amounts = solve(products, aims);
        let mut rest = coefficients.to_vec();
        for (column, amount) in self.columns.iter().zip(&amounts) {
            rest.iter_mut().zip(column).for_each(|(rest, value)| *rest -= amount * value);
        }
        Fit { noise: self.bands.fit(&rest), rest }
    }
}

/// Solves a symmetric system, of which the lower half is given, by Cholesky's factors; columns that the ones before explain get 0.
fn solve(mut factor: Vec<Vec<f64>>, mut aims: Vec<f64>) -> Vec<f64> {
    let count = aims.len();
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|index| factor[row][index] * factor[column][index]).sum();
            let left = factor[row][column] - known;
            factor[row][column] = if row > column {
                if factor[column][column] > 0.0 { left / factor[column][column] } else { 0.0 }
            } else if left > 1e-9 * factor[row][row].abs() {
                left.sqrt()
            } else {
                0.0
            };
        }
    }
    for row in 0..count {
        let known: f64 = (0..row).map(|index| factor[row][index] * aims[index]).sum();
        aims[row] = if factor[row][row] > 0.0 { (aims[row] - known) / factor[row][row] } else { 0.0 };
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|index| factor[index][row] * aims[index]).sum();
        aims[row] = if factor[row][row] > 0.0 { (aims[row] - known) / factor[row][row] } else { 0.0 };
    }
    aims
}
