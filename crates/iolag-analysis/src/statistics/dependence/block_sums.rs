//! A sequence of durations in fixed memory, in the order of arrival: sums over blocks of equal length.
//!
//! It merges, and tells how durations went on ([`Sequence::part_means_ns`]) and roughly what they are worth together for a curve
//! ([`Sequence::effective_sample_size`]): up to [`SEQUENCE_BLOCKS`] attempts as [`effective_sample_size_of`] says, beyond by batch means of
//! the blocks. Quantiles and shares have numbers of their own, from the moments of the attempts (`crate::run::clustering::second_reading`).
//!
//! Limits: several clients in one group count in the order of arrival; a correlation longer than 1/32 of the run cannot be told from
//! drift.

use super::effective_size::{effective_sample_size_of, variance_of};
use super::worth::EffectiveSampleSize;

/// Blocks kept per sequence; when they are full, neighbours are joined and the block length doubles.
pub const SEQUENCE_BLOCKS: usize = 1024;

const LEAST_BLOCKS: usize = 32;

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
        let ratio = if self.block_length == 1 {
            let scores: Vec<f64> = self.blocks.iter().map(|block| block.score as f64).collect();
            effective_sample_size_of(&scores).ratio()
        } else {
            1.0 / self.integrated_time_of_blocks(variance)
        };
        EffectiveSampleSize { attempts, effective: attempts as f64 * ratio }
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

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Random;

    /// Autoregressive scores around 1000: τ = (1 + φ) / (1 - φ).
    fn autoregressive(n: usize, phi: f64) -> Vec<usize> {
        seeded(n, phi, 42)
    }

    fn seeded(n: usize, phi: f64, seed: u64) -> Vec<usize> {
        let mut noise = Random::new(seed);
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
        let fully = (0..20).filter(|seed| effective_ratio(&seeded(500, 0.0, *seed)) == 1.0);
        assert!(fully.count() >= 17, "chance shrinks one in twenty");
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
}
