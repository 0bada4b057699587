//! Does a measurement go on as it began? One test over everything that was measured side by side.
//!
//! Each sequence is cut into the same number of parts in time order; their normal scores, averaged over the sequences, are one sequence, since
//! what was measured on one machine at one time drifts together. Its rank correlation with the order (Spearman 1904) is judged with the
//! effective number of the parts *without* their line (Hamed and Rao 1998; Yue and Wang 2004: a trend itself looks like
//! correlation), by Student's t.
//!
//! Limits: what wanders as slowly as the record is long cannot be told from a trend; then the effective number is small and nothing is said.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::statistics::dependence::effective_size::effective_sample_size_of;
use crate::statistics::ranking::{mid_ranks, normal_scores};

/// Parts that a sequence must have.
pub(crate) const PARTS_LEAST: usize = 10;

/// How the parts went up or down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// Rank correlation with the order, -1 to 1.
    pub coefficient: f64,
    /// Independent parts that would tell as much.
    pub parts_effective: f64,
    /// Two-sided probability of one as far from zero if nothing changed.
    pub p: f64,
}

/// The trend of these sequences together, those of fewer than [`PARTS_LEAST`] parts left out; `None` without any, or if none varies.
pub(crate) fn joint_trend(sequences: &[&[f64]]) -> Option<Trend> {
    let long: Vec<&&[f64]> = sequences.iter().filter(|parts| parts.len() >= PARTS_LEAST).collect();
    let count = long.iter().map(|parts| parts.len()).min()?;
    let mut joint = vec![0.0; count];
    for parts in &long {
        let scores = normal_scores(&thinned(parts, count));
        joint.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
    }
    trend_of(&joint)
}

/// As many means of neighbouring parts.
fn thinned(parts: &[f64], count: usize) -> Vec<f64> {
    let mean = |index: usize| {
        let part = &parts[index * parts.len() / count..(index + 1) * parts.len() / count];
        part.iter().sum::<f64>() / part.len() as f64
    };
    (0..count).map(mean).collect()
}

fn trend_of(values: &[f64]) -> Option<Trend> {
    let n = values.len() as f64;
    let ranks = mid_ranks(values);
    let centre = (n + 1.0) / 2.0;
    let (mut products, mut squares, mut orders) = (0.0, 0.0, 0.0);
    for (place, rank) in ranks.iter().enumerate() {
        let order = place as f64 + 1.0 - centre;
        products += order * (rank - centre);
        squares += (rank - centre).powi(2);
        orders += order * order;
    }
    if squares <= 0.0 {
        return None;
    }
    let (coefficient, slope) = (products / (squares * orders).sqrt(), products / orders);
    let rest = |(place, rank): (usize, &f64)| rank - slope * (place as f64 + 1.0 - centre);
    let rest: Vec<f64> = ranks.iter().enumerate().map(rest).collect();
    let parts_effective = effective_sample_size_of(&rest).effective;
    let freedom = parts_effective - 2.0;
    let p = match StudentsT::new(0.0, 1.0, freedom) {
        Ok(law) => {
            let left = (1.0 - coefficient * coefficient).max(f64::EPSILON);
            2.0 * law.sf((coefficient.abs() * (freedom / left).sqrt()).min(1e12))
        }
        Err(_) => 1.0,
    };
    Some(Trend { coefficient, parts_effective, p })
}

/// Spearman's rank correlation of values with their order, -1 to 1: drift. `None` for fewer than 4 or equal
/// values.
pub fn drift(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 4 {
        return None;
    }
    let ranks = mid_ranks(values);
    let mean = (n as f64 + 1.0) / 2.0;
    let order = |index: usize| index as f64 + 1.0 - mean;
    let product: f64 = ranks.iter().enumerate().map(|(index, rank)| (rank - mean) * order(index)).sum();
    let of_ranks: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    let of_order: f64 = (0..n).map(|index| order(index).powi(2)).sum();
    (of_ranks > 0.0).then(|| product / (of_ranks * of_order).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    /// Durations of a stationary operation, its logarithms following each other by `phi`, cut into 32 parts.
    fn parts(n: usize, phi: f64, slowing: f64, noise: &mut Random) -> Vec<f64> {
        let mut state = noise.normal();
        let mut next = |at: usize| {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            (0.6 * state).exp() * slowing.powf(at as f64 / n as f64)
        };
        let durations: Vec<f64> = (0..n).map(&mut next).collect();
        durations.chunks(n / 32).take(32).map(|part| part.iter().sum::<f64>() / part.len() as f64).collect()
    }

    /// How many of 200 checks of 16 operations show a trend.
    fn found(phi: f64, slowing: f64) -> usize {
        let mut noise = Random::new(77);
        let check = |_: &usize| {
            let operations: Vec<Vec<f64>> = (0..16).map(|_| parts(320, phi, slowing, &mut noise)).collect();
            let slices: Vec<&[f64]> = operations.iter().map(Vec::as_slice).collect();
            joint_trend(&slices).is_some_and(|trend| trend.p < 0.01)
        };
        (0..200).filter(check).count()
    }

    #[test]
    fn what_stays_as_it_is_has_no_trend_and_what_slows_down_has() {
        for phi in [0.0, 0.9, 0.98] {
            assert!(found(phi, 1.0) <= 8, "{phi}");
        }
        assert_eq!(found(0.0, 2.0), 200);
    }

    #[test]
    fn operations_that_wander_together_are_one_sequence() {
        let mut noise = Random::new(5);
        let one = parts(320, 0.98, 1.0, &mut noise);
        let many = joint_trend(&[&one, &one, &one, &one]).expect("it varies");
        let alone = joint_trend(&[&one]).expect("it varies");
        assert!((many.p - alone.p).abs() < 1e-9);
    }

    #[test]
    fn few_and_equal_parts_have_none() {
        assert_eq!(joint_trend(&[]), None);
        assert_eq!(joint_trend(&[&[1.0, 2.0, 3.0]]), None);
        assert_eq!(joint_trend(&[&[1.0; 20]]), None);
    }
}
