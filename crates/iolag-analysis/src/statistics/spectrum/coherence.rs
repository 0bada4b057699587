//! May two sequences go together by chance, if neighbours in each resemble each other?
//!
//! A coefficient is the sum of the products of both sequences' cosine coefficients. If the two have nothing to do with each other, the signs of these
//! products are those of a coin, whatever the powers: the sum has the variance Σ a²b², and its normalised value is no further from zero than that of
//! a normal number (Efron 1969). This is the test of random phases (Ebisuzaki 1997) with cosines instead of Fourier's waves: mirrored ends
//! have no jump, so that a random walk is no trend. No permutation is drawn, and the powers are those of the pair itself.
//!
//! Sequences of more than [`CELLS_MOST`] values are summed in as many cells; what differs within cells adds its own products, one for each.
//!
//! The same holds of the products at each moment, where values are independent; the greater variance counts. So a single moment at which both are
//! far away is no evidence either.
//!
//! Two daily cycles whose size differs from day to day are no random phases: both sides of their line tell the same. There the products are also summed by
//! day, and the scatter of these sums is judged by Student's law ([`Coherence::with_stretches`]).
//!
//! Limits: two sequences with one common line in their spectrum (a daily cycle) have one product: it can never be significant, for two such cycles
//! may share their phase by chance.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;

use super::cosine::Cosines;

/// Cells of long sequences.
const CELLS_MOST: usize = 4096;

/// So many stretches tell as much of their scatter as random phases do.
const PHASES_WORTH: f64 = 6.0;

/// How a coefficient compares with chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coherence {
    /// Sum of the products of both sequences.
    pub(crate) coefficient: f64,
    /// Independent pairs whose coefficient would scatter as much.
    pub(crate) pairs_effective: f64,
    /// Two-sided probability of a coefficient at least as far from zero.
    pub(crate) p: f64,
}

/// Compares two sequences of equal length, each centred and of unit length.
pub(crate) fn coherence_of(left: &[f64], right: &[f64]) -> Coherence {
    let n = left.len();
    let cells = n.clamp(1, CELLS_MOST);
    let (mut left_sums, mut right_sums) = (Vec::with_capacity(cells), Vec::with_capacity(cells));
    let (mut coefficient, mut within, mut at_moments) = (0.0, 0.0, 0.0);
    for cell in 0..cells {
        let places = cell * n / cells..(cell + 1) * n / cells;
        let root = (places.len().max(1) as f64).sqrt();
        let (mut left_sum, mut right_sum, mut products, mut squares) = (0.0, 0.0, 0.0, 0.0);
        for (one, other) in left[places.clone()].iter().zip(&right[places]) {
            let product = one * other;
            left_sum += one;
            right_sum += other;
            products += product;
            squares += product * product;
        }
        coefficient += products;
        at_moments += squares;
        within += (products - left_sum * right_sum / (root * root)).powi(2);
        left_sums.push(left_sum / root);
        right_sums.push(right_sum / root);
    }
    let coefficient = f64::clamp(coefficient, -1.0, 1.0);
    let cosines = Cosines::of(cells);
    let (left_waves, right_waves) = (cosines.coefficients(&left_sums), cosines.coefficients(&right_sums));
    let waves = left_waves.iter().zip(&right_waves).map(|(one, other)| (one * other).powi(2));
    let variance = (within + waves.sum::<f64>()).max(at_moments);
    let p = if variance > 0.0 { erfc(coefficient.abs() / (2.0 * variance).sqrt()) } else { 1.0 };
    Coherence { coefficient, pairs_effective: (1.0 / variance).clamp(2.0, n.max(2) as f64), p }
}

impl Coherence {
    /// The same with the scatter of the products' sums from stretch to stretch, each of so many values: what follows the clock, stronger on one day than on
    /// the next, has products of one sign for a day. The greater p counts.
    ///
    /// A week of days tells little of a scatter, so the variance of random phases is part of it like [`PHASES_WORTH`] stretches more.
    pub(crate) fn with_stretches(self, left: &[f64], right: &[f64], lengths: &[usize]) -> Self {
        let n = left.len() as f64;
        let mut products = left.iter().zip(right).map(|(one, other)| one * other);
        let (mut squares, mut lengths_squared) = (0.0, 0.0);
        for length in lengths {
            let share = *length as f64 / n;
            let sum: f64 = products.by_ref().take(*length).sum();
            squares += (sum - self.coefficient * share).powi(2);
            lengths_squared += share * share;
        }
        // Stretches of different length tell less than as many equal ones (Kish 1965).
        let freedom = 1.0 / lengths_squared - 1.0;
        let own = squares * (freedom + 1.0);
        let variance = (PHASES_WORTH / self.pairs_effective + own) / (PHASES_WORTH + freedom);
        let Ok(law) = StudentsT::new(0.0, 1.0, PHASES_WORTH + freedom) else { return self };
        let p = if variance > 0.0 { 2.0 * law.sf(self.coefficient.abs() / variance.sqrt()) } else { 1.0 };
        let pairs_effective = self.pairs_effective.min(1.0 / variance).max(2.0);
        Self { pairs_effective, p: self.p.max(p), ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use iolag_model::Random;

    fn standardised(mut values: Vec<f64>) -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter_mut().for_each(|value| *value -= mean);
        let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
        values.iter().map(|value| value / length).collect()
    }

    fn autoregressive(n: usize, phi: f64, noise: &mut Random) -> Vec<f64> {
        let mut state = noise.normal();
        let values = (0..n).map(|_| {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            state
        });
        standardised(values.collect())
    }

    #[test]
    fn unrelated_sequences_go_together_as_often_as_they_should() {
        let mut noise = Random::new(71);
        for (n, phi) in [(96, 0.0), (96, 0.95), (672, 0.8), (672, 0.98), (6000, 0.9)] {
            let runs = if n > 1000 { 60 } else { 200 };
            let wrong = (0..runs).filter(|_| {
                let (left, right) = (autoregressive(n, phi, &mut noise), autoregressive(n, phi, &mut noise));
                coherence_of(&left, &right).p < 0.05
            });
            let wrong = wrong.count();
            assert!(wrong * 100 <= 8 * runs, "{wrong} of {runs} with {n} values at {phi}");
        }
    }

    #[test]
    fn what_shares_a_cause_is_found_and_worth_what_it_is() {
        let mut noise = Random::new(72);
        for n in [300, 9000] {
            let cause = autoregressive(n, 0.5, &mut noise);
            let mut sharing = || {
                let scale = 1.0 / (n as f64).sqrt();
                standardised(cause.iter().map(|cause| cause + scale * noise.normal()).collect())
            };
            let found = coherence_of(&sharing(), &sharing());
            assert!(found.p < 1e-6 && (found.coefficient - 0.5).abs() < 0.15, "{found:?}");
            assert!(found.pairs_effective > n as f64 / 8.0, "{found:?}");
        }
    }

    #[test]
    fn waves_of_another_size_in_each_stretch_go_together_as_rarely_as_they_should() {
        let mut noise = Random::new(73);
        let mut waves = || {
            let sizes: Vec<f64> = (0..14).map(|_| noise.normal()).collect();
            standardised((0..280).map(|at| sizes[at / 20] * (at as f64 * TAU / 20.0).cos()).collect())
        };
        let (mut by_phases, mut by_stretches) = (0, 0);
        for _ in 0..200 {
            let (left, right) = (waves(), waves());
            let found = coherence_of(&left, &right);
            by_phases += usize::from(found.p < 0.05);
            by_stretches += usize::from(found.with_stretches(&left, &right, &[20; 14]).p < 0.05);
        }
        assert!(by_stretches <= 18 && by_phases > 20, "{by_stretches} and {by_phases} of 200");
    }

    #[test]
    fn what_all_stretches_tell_is_found() {
        let mut noise = Random::new(74);
        let values = autoregressive(280, 0.5, &mut noise);
        let found = coherence_of(&values, &values).with_stretches(&values, &values, &[40; 7]);
        assert!(found.p < 1e-4, "{found:?}");
    }

    #[test]
    fn nothing_and_two_values_are_no_evidence() {
        assert_eq!(coherence_of(&[], &[]).p, 1.0);
        let two = [0.5_f64.sqrt(), -(0.5_f64.sqrt())];
        let found = coherence_of(&two, &two);
        assert!(found.coefficient == 1.0 && found.p > 0.3, "{found:?}");
    }
}
