//! Weighted least squares on cosine coefficients, in noise whose spectrum is fitted at the same time.

use super::coloured_noise::{Bands, QUICK_BAND, Spectrum};

/// How often weights and amounts are computed by turns.
const ROUNDS: usize = 3;

/// Sequences, by their cosine coefficients, that explain another; of all of them, those that are [`Bands::without_left_out`].
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
        let products = self.products(coefficients);
        if self.columns.is_empty() {
            let noise = self.bands.spectrum(&self.bands.likeliest(&products.of_aim));
            return Fit { noise, rest: coefficients.to_vec() };
        }
        let weighted = |weights: &[f64]| {
            let amounts = products.amounts(weights);
            (self.bands.likeliest(&products.squares_left(&amounts)), amounts)
        };
        let (mut noise, mut amounts) = match start {
            Some(start) => weighted(&start.weights_by_band),
            None => weighted(&self.bands.fit_quick(&products.of_aim, QUICK_BAND).weights_by_band),
        };
        for _ in 1..ROUNDS {
            let next = weighted(&self.bands.weights_by_band(&noise));
            if next.0.likelihood <= noise.likelihood + 1e-3 {
                break;
            }
            (noise, amounts) = next;
        }
        let mut rest = coefficients.to_vec();
        for (column, amount) in self.columns.iter().zip(&amounts) {
            rest.iter_mut().zip(column).for_each(|(rest, value)| *rest -= amount * value);
        }
        Fit { noise: self.bands.spectrum(&noise), rest }
    }

    fn products(&self, coefficients: &[f64]) -> Products {
        let product = |one: &[f64], other: &[f64]| self.bands.products(one, other);
        let row = |index: usize| {
            self.columns.iter().take(index + 1).map(|other| product(&self.columns[index], other)).collect()
        };
        Products {
            of_columns: (0..self.columns.len()).map(row).collect(),
            with_aim: self.columns.iter().map(|column| product(column, coefficients)).collect(),
            of_aim: product(coefficients, coefficients),
        }
    }
}

/// Of all pairs of sequences, by band: whatever the weights of the bands, amounts and what is left are sums of them.
struct Products {
    /// The lower half.
    of_columns: Vec<Vec<Vec<f64>>>,
    with_aim: Vec<Vec<f64>>,
    of_aim: Vec<f64>,
}

impl Products {
    /// By column, the amount that leaves least.
    fn amounts(&self, weights: &[f64]) -> Vec<f64> {
        let sum =
            |bands: &Vec<f64>| bands.iter().zip(weights).map(|(product, weight)| product * weight).sum();
        let products = self.of_columns.iter().map(|row| row.iter().map(sum).collect()).collect();
        solve(products, self.with_aim.iter().map(sum).collect())
    }

    /// By band, the sum of squares that amounts of the columns leave.
    fn squares_left(&self, amounts: &[f64]) -> Vec<f64> {
        let mut left = self.of_aim.clone();
        let mut add = |products: &[f64], factor: f64| {
            left.iter_mut().zip(products).for_each(|(left, product)| *left += factor * product);
        };
        for (index, amount) in amounts.iter().enumerate() {
            add(&self.with_aim[index], -2.0 * amount);
            for (products, other) in self.of_columns[index].iter().zip(&amounts[..index]) {
                add(products, 2.0 * amount * other);
            }
            add(&self.of_columns[index][index], amount * amount);
        }
        // Rounding may leave less than nothing of what is explained wholly.
        left.iter_mut().for_each(|left| *left = left.max(0.0));
        left
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
