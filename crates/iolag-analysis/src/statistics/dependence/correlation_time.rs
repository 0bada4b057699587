//! Significance in the presence of autocorrelation: what chance does to sequences whose neighbours resemble each other.
//!
//! *Circular block permutation*: the sequence is closed to a circle, cut into blocks of equal length at a random place, and the blocks
//! are put together in random order. Within blocks everything stays as it was, so a daily cycle or an hour's storm counts as the one thing
//! that it is. The seed is fixed: the same history gives the same answer.
//!
//! The block length is the greatest of: the cube root of n; four times the correlation time; one day, if at least 14 days are
//! covered; and at most a twelfth of the sequence, since fewer blocks have too few orders.
//!
//! Limits: correlation over more than a twelfth of the record is not accounted for; the p of such a sequence is too small.

use crate::statistics::ranking::mid_ranks;
use iolag_model::Random;

use crate::statistics::spectrum::fourier::{autocorrelation, autocorrelation_near};

/// Blocks that a sequence must at least be cut into.
pub const BLOCKS_LEAST: usize = 12;

/// Days that must be covered before blocks are whole days.
const DAYS_LEAST: f64 = 14.0;

/// Lags that are looked at first in records of at least so many values: sequences rarely stay positive for longer.
const NEAR_LAGS: usize = 4096;
const NEAR_FROM: usize = 16 * NEAR_LAGS;

/// Length of time, in values, over which a sequence resembles itself: `1 + 2 Σ ρ(lag)` of its ranks by the initial positive
/// sequence of Geyer 1992; 1 if ρ(1) is within chance (1.645/√n).
pub fn correlation_time(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 4 {
        return 1.0;
    }
    let ranks = mid_ranks(values);
    let is_long = n >= NEAR_FROM;
    let rho = if is_long { autocorrelation_near(&ranks, NEAR_LAGS) } else { autocorrelation(&ranks) };
    if rho.len() < 2 || rho[1] <= 1.645 / (n as f64).sqrt() {
        return 1.0;
    }
    let positive = match initial_positive_sequence(&rho[..rho.len().min(n / 2)]) {
        (_, SequenceEnd::Open) if is_long => initial_positive_sequence(&autocorrelation(&ranks)[..n / 2]).0,
        (positive, _) => positive,
    };
    (2.0 * positive - 1.0).clamp(1.0, n as f64)
}

/// Whether an initial positive sequence ended within the lags that were looked at.
enum SequenceEnd {
    Reached,
    Open,
}

/// Sum of pairs of neighbouring lags as long as they are positive.
fn initial_positive_sequence(rho: &[f64]) -> (f64, SequenceEnd) {
    let mut sum = 0.0;
    for pair in rho.chunks_exact(2).map(|pair| pair[0] + pair[1]) {
        if pair <= 0.0 {
            return (sum, SequenceEnd::Reached);
        }
        sum += pair;
    }
    (sum, SequenceEnd::Open)
}

/// Length of blocks for `n` values with this correlation time, of which `per_day` fall on a day (0: unknown).
pub fn block_length(n: usize, correlation_time: f64, per_day: f64) -> usize {
    let wanted = (n as f64).cbrt().max(4.0 * correlation_time);
    let wanted =
        if per_day >= 1.0 && n as f64 >= DAYS_LEAST * per_day { wanted.max(per_day) } else { wanted };
    (wanted.ceil() as usize).min(n / BLOCKS_LEAST).max(1)
}

/// A whole number from 0 up to, not including, `limit`. The bias of the product is below 2^-53 × limit.
pub(crate) fn below(limit: usize, noise: &mut Random) -> usize {
    ((noise.unit() * limit as f64) as usize).min(limit.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_days_where_there_are_enough_of_them() {
        assert_eq!(block_length(96 * 14, 1.0, 96.0), 96);
        assert_eq!(block_length(96 * 13, 1.0, 96.0), 11);
        assert_eq!(block_length(96 * 365, 50.0, 96.0), 200);
        assert_eq!(block_length(240, 500.0, 96.0), 20);
        assert_eq!(block_length(3, 1.0, 0.0), 1);
    }

    #[test]
    fn the_correlation_time_of_an_autoregression_is_found() {
        let mut noise = Random::new(7);
        let mut state = 0.0;
        let values: Vec<f64> = (0..20_000)
            .map(|_| {
                state = 0.8 * state + noise.normal();
                state
            })
            .collect();
        let time = correlation_time(&values);
        assert!((7.5..11.0).contains(&time), "{time}");
        let independent: Vec<f64> = (0..1000).map(|_| noise.normal()).collect();
        assert!(correlation_time(&independent) < 2.0);
    }

    #[test]
    fn a_long_record_resembles_itself_as_long_by_the_quick_way() {
        let mut noise = Random::new(8);
        for phi in [0.0, 0.9, 0.9999] {
            let mut state = 0.0;
            let values: Vec<f64> = (0..NEAR_FROM + 1234)
                .map(|_| {
                    state = phi * state + noise.normal();
                    state
                })
                .collect();
            let rho = autocorrelation(&mid_ranks(&values));
            let near = autocorrelation_near(&mid_ranks(&values), NEAR_LAGS);
            assert!(near.iter().zip(&rho).all(|(near, full)| (near - full).abs() < 1e-9), "{phi}");
            let positive = initial_positive_sequence(&rho[..values.len() / 2]).0;
            let full =
                if rho[1] <= 1.645 / (values.len() as f64).sqrt() { 1.0 } else { 2.0 * positive - 1.0 };
            assert!((correlation_time(&values) - full).abs() < 1e-6 * full, "{phi}: {full}");
        }
    }
}
