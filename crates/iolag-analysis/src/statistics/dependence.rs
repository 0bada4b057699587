//! How many independent attempts a sequence is worth.
//!
//! Attempts that follow each other closely meet the same caches, queues and neighbours; an interval that
//! ignores this is too narrow. The effective sample size is `n / τ`, `τ = 1 + 2 Σ ρ(lag)` being the
//! integrated autocorrelation time of a score of the durations (their rank, or the histogram bucket, which
//! grows with the logarithm), so that one long stall does not decide.
//!
//! Rules, as documented in docs/statistics.md:
//! - Up to [`SEQUENCE_BLOCKS`] attempts the whole sequence is known: ρ of the ranks, summed by Geyer's
//!   initial positive sequence (1992: pairs of neighbouring lags while their sum is positive), but only if
//!   ρ(1) exceeds what chance gives in one of twenty independent sequences (1.645/√n).
//! - Beyond, sums of equal blocks are kept: τ = block length × variance of block means / variance of scores,
//!   the greatest over all block lengths that leave at least 32 blocks, where it exceeds 1 by more than 3 of
//!   its standard errors.
//!
//! Limits: several clients in one group count in the order of arrival; a correlation longer than 1/32 of the
//! run cannot be told from drift.

use serde::{Deserialize, Serialize};

/// Blocks kept per sequence; when they are full, neighbours are joined and the block length doubles.
pub const SEQUENCE_BLOCKS: usize = 1024;

const LEAST_BLOCKS: usize = 32;

/// What a sequence is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectiveSampleSize {
    /// Attempts.
    pub attempts: u64,
    /// Independent attempts that would tell as much; never more than `attempts`.
    pub effective: f64,
}

impl EffectiveSampleSize {
    /// Every attempt tells something of its own.
    pub fn independent(attempts: u64) -> Self {
        Self { attempts, effective: attempts as f64 }
    }

    /// Whether the correction changes anything.
    pub fn is_reduced(&self) -> bool {
        self.effective + 0.5 < self.attempts as f64
    }

    /// Effective by actual attempts, 0 to 1; 1 without attempts.
    pub fn ratio(&self) -> f64 {
        if self.attempts == 0 { 1.0 } else { self.effective / self.attempts as f64 }
    }
}

/// The sequence of a group's durations in fixed memory: sums over blocks of equal length, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    /// Sum of scores and of ns of each full block.
    blocks: Vec<Block>,
    open: Block,
    open_length: u64,
    block_length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Block {
    score: u64,
    ns: u64,
}

impl Default for Sequence {
    fn default() -> Self {
        Self { blocks: Vec::new(), open: Block::default(), open_length: 0, block_length: 1 }
    }
}

impl Sequence {
    /// Appends an attempt with this score (a histogram bucket) and duration.
    #[inline]
    pub fn push(&mut self, score: usize, ns: u64) {
        self.open.score += score as u64;
        self.open.ns = self.open.ns.wrapping_add(ns);
        self.open_length += 1;
        if self.open_length >= self.block_length {
            self.close_block();
        }
    }

    #[inline(never)]
    fn close_block(&mut self) {
        self.blocks.push(self.open);
        self.open = Block::default();
        self.open_length = 0;
        if self.blocks.len() == SEQUENCE_BLOCKS {
            self.double();
        }
    }

    fn double(&mut self) {
        let joined = self.blocks.chunks_exact(2).map(|pair| pair[0].joined(pair[1]));
        let joined: Vec<_> = joined.collect();
        // A last block without neighbour is counted on as the open one.
        if self.blocks.len() % 2 == 1 {
            let last = self.blocks[self.blocks.len() - 1];
            self.open = last.joined(self.open);
            self.open_length += self.block_length;
        }
        self.blocks = joined;
        self.block_length *= 2;
        if self.open_length >= self.block_length {
            self.close_block();
        }
    }

    /// Appends the other sequence after this one. Attempts in both open blocks that do not fill one are left
    /// out of the sequence (never out of counts and quantiles).
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        while self.block_length < other.block_length {
            self.double();
        }
        while other.block_length < self.block_length {
            other.double();
        }
        self.blocks.extend_from_slice(&other.blocks);
        while self.blocks.len() >= SEQUENCE_BLOCKS {
            self.double();
        }
    }

    /// Means of up to `parts` equal parts in ns, in order: each attempt's duration while there are no more of
    /// them.
    pub fn part_means_ns(&self, parts: usize) -> Vec<f64> {
        let size = self.blocks.len().div_ceil(parts.max(1)).max(1);
        let full = self.blocks.chunks(size).filter(|part| part.len() == size || self.blocks.len() <= size);
        full.map(|part| {
            let ns: f64 = part.iter().map(|block| block.ns as f64).sum();
            ns / (part.len() as u64 * self.block_length) as f64
        })
        .collect()
    }

    /// What `attempts` attempts are worth, `variance` being that of all their scores.
    pub fn effective_sample_size(&self, attempts: u64, variance: f64) -> EffectiveSampleSize {
        let time = if self.block_length == 1 {
            let scores: Vec<f64> = self.blocks.iter().map(|block| block.score as f64).collect();
            integrated_time_of_ranks(&scores)
        } else {
            self.integrated_time_of_blocks(variance)
        };
        EffectiveSampleSize { attempts, effective: attempts as f64 / time.max(1.0) }
    }

    fn integrated_time_of_blocks(&self, variance: f64) -> f64 {
        let mut sums: Vec<f64> = self.blocks.iter().map(|block| block.score as f64).collect();
        let mut length = self.block_length as f64;
        let mut greatest: f64 = 1.0;
        while sums.len() >= LEAST_BLOCKS && variance > 0.0 {
            let means: Vec<f64> = sums.iter().map(|sum| sum / length).collect();
            let time = length * variance_of(&means) / variance;
            let standard_error = (2.0 / (sums.len() as f64 - 1.0)).sqrt();
            if time > 1.0 + 3.0 * standard_error {
                greatest = greatest.max(time);
            }
            sums = sums.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect();
            length *= 2.0;
        }
        greatest
    }
}

impl Block {
    fn joined(self, next: Self) -> Self {
        Self { score: self.score + next.score, ns: self.ns.saturating_add(next.ns) }
    }
}

/// What this sequence of values is worth, by the ranks' autocorrelation and Geyer's initial positive
/// sequence.
pub fn effective_sample_size_of(values: &[f64]) -> EffectiveSampleSize {
    let attempts = values.len() as u64;
    EffectiveSampleSize { attempts, effective: attempts as f64 / integrated_time_of_ranks(values) }
}

fn integrated_time_of_ranks(values: &[f64]) -> f64 {
    let n = values.len();
    let ranks = mid_ranks(values);
    let mean = (n as f64 + 1.0) / 2.0;
    let centred: Vec<f64> = ranks.iter().map(|rank| rank - mean).collect();
    let variance: f64 = centred.iter().map(|value| value * value).sum();
    if n < 4 || variance <= 0.0 {
        return 1.0;
    }
    let rho = |lag: usize| {
        let products = centred[lag..].iter().zip(&centred).map(|(late, early)| late * early);
        products.sum::<f64>() / variance
    };
    if rho(1) <= 1.645 / (n as f64).sqrt() {
        return 1.0;
    }
    let mut pairs = 0.0;
    for lag in (0..n / 2).step_by(2) {
        let pair = rho(lag) + rho(lag + 1);
        if pair <= 0.0 {
            break;
        }
        pairs += pair;
    }
    (2.0 * pairs - 1.0).clamp(1.0, n as f64)
}

/// Ranks from 1, equal values sharing the middle of theirs.
pub(crate) fn mid_ranks(values: &[f64]) -> Vec<f64> {
    ranks_in(&ascending(values), values)
}

/// Places of the values from the smallest to the greatest, as [`f64::total_cmp`] orders them.
pub(crate) fn ascending(values: &[f64]) -> Vec<usize> {
    // Whole numbers beside their places are sorted several times as fast as places whose values are looked up.
    let mut keyed: Vec<(u64, usize)> =
        values.iter().enumerate().map(|(place, value)| (key_of(*value), place)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, place)| place).collect()
}

/// A whole number that is greater where the value is, by [`f64::total_cmp`].
const fn key_of(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Mid-ranks among the places in `order`, which ascends; 0 at all other places.
pub(crate) fn ranks_in(order: &[usize], values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|left, right| values[*left] == values[*right]) {
        let middle = first as f64 + (equal.len() as f64 + 1.0) / 2.0;
        for &index in equal {
            ranks[index] = middle;
        }
        first += equal.len();
    }
    ranks
}

/// Sample variance (n - 1); 0 for fewer than two.
pub(crate) fn variance_of(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::Noise;

    /// Autoregressive scores around 1000: τ = (1 + φ) / (1 - φ).
    fn autoregressive(n: usize, phi: f64) -> Vec<usize> {
        let mut noise = Noise::new(42);
        let mut state = 0.0;
        (0..n)
            .map(|_| {
                state = phi * state + noise.normal() * (1.0 - phi * phi).sqrt();
                (1000.0 + 60.0 * state).round() as usize
            })
            .collect()
    }

    fn effective_ratio(scores: &[usize]) -> f64 {
        let mut sequence = Sequence::default();
        for score in scores {
            sequence.push(*score, 1);
        }
        let values: Vec<f64> = scores.iter().map(|score| *score as f64).collect();
        sequence.effective_sample_size(scores.len() as u64, variance_of(&values)).ratio()
    }

    #[test]
    fn independent_attempts_count_fully() {
        assert_eq!(effective_ratio(&autoregressive(500, 0.0)), 1.0);
        assert!(effective_ratio(&autoregressive(200_000, 0.0)) > 0.8);
    }

    #[test]
    fn correlated_attempts_count_by_their_integrated_time() {
        // φ = 0.8 has τ = 9.
        for n in [1000, 200_000] {
            let time = 1.0 / effective_ratio(&autoregressive(n, 0.8));
            assert!((5.0..16.0).contains(&time), "{time} for {n}");
        }
    }

    #[test]
    fn block_sums_keep_everything_that_fills_a_block() {
        let mut sequence = Sequence::default();
        for ns in 0..5000_u64 {
            sequence.push(1, ns);
        }
        assert!(sequence.blocks.len() < SEQUENCE_BLOCKS);
        let kept = sequence.blocks.len() as u64 * sequence.block_length + sequence.open_length;
        assert_eq!(kept, 5000);
        let means = sequence.part_means_ns(32);
        assert!(means.len() <= 32 && means.is_sorted());
    }

    #[test]
    fn merging_appends_in_order() {
        let (mut short, mut long) = (Sequence::default(), Sequence::default());
        (0..10).for_each(|ns| short.push(1, ns));
        (0..3000).for_each(|ns| long.push(1, 100 + ns));
        short.merge(&long);
        assert!(short.part_means_ns(16).is_sorted());
        assert_eq!(short.block_length, long.block_length);
    }

    #[test]
    fn ranks_of_equal_values_are_shared() {
        assert_eq!(mid_ranks(&[3.0, 1.0, 3.0]), [2.5, 1.0, 2.5]);
    }
}
