//! Campaigns that compare two sides in eight cells, of which the truth is known.
//!
//! A run is lucky or not: its values are log-normal around the truth, and runs that follow one another may resemble each other. What a run's attempts
//! tell of it is off by 2 % more, as of 900 attempts whose logarithms have a standard deviation of 0.6.

use iolag_analysis::{LogRange, RunCell, RunPairing};
use iolag_model::Random;

use crate::process::SIGMA;

/// Cells of a table.
pub const CELLS: usize = 8;
/// How far a run's value is off, by the number of its attempts.
pub const WITHIN: f64 = SIGMA / 30.0;
/// Share of the variance that cells of a run have in common, where they have.
const COMMON_SHARE: f64 = 0.5;
/// How much slower a run now and then is, and how often: as one tmpfs was.
const SELDOM_FACTOR: f64 = 3.6;
const SELDOM_SHARE: f64 = 0.1;
/// A hung run was so much slower when it was last seen.
pub const HUNG_FACTOR: f64 = 2.0;
/// A duration has about so many steps of a coarse clock.
const STEPS: f64 = 10.0;

/// What the campaigns of a row have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Campaigns {
    /// Standard deviation of the logarithm between runs.
    pub spread: f64,
    /// How much a run resembles the one before.
    pub coefficient: f64,
    /// Whose luck it is.
    pub luck: Luck,
    /// What is seldom.
    pub tails: Tails,
    /// Which run follows which.
    pub order: Order,
    /// Runs of a side.
    pub blocks: usize,
    /// How much faster the other side is.
    pub factor: f64,
    /// In so many cells.
    pub differing: usize,
    /// What hangs.
    pub hung: Hung,
    /// What durations are read from.
    pub clock: Clock,
}

/// Whose luck a run's is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Luck {
    /// Each cell has its own.
    OfCell,
    /// Half of it is that of all cells of a run.
    OfRun,
}

/// How the luck of runs is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tails {
    /// Normally.
    Normal,
    /// As Student's t with 3 degrees of freedom.
    Heavy,
    /// One run in ten is 3.6 times slower.
    Seldom,
}

/// Which run follows which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A B, B A, or B A, A B, drawn for every two blocks, and compared as such.
    Interleaved,
    /// Drawn for each block.
    Random,
    /// All runs of the base, then so many of the other side, and compared as such.
    Apart(usize),
}

/// Which runs hang, and have bounds for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hung {
    /// So many of either side.
    Anywhere(usize),
    /// So many of the other side.
    OtherSide(usize),
}

/// What durations are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// A clock whose steps nobody sees.
    Fine,
    /// One that has made ten steps, rounded down.
    Coarse,
}

/// One campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct Campaign {
    /// What was measured.
    pub cells: Vec<RunCell>,
    /// By how much the other side is truly faster, on the logarithm.
    pub truths: Vec<f64>,
    /// In each block: 1 if the base was first, else -1.
    pub firsts: Vec<f64>,
}

impl Campaigns {
    /// Equal sides in nine interleaved blocks.
    pub const EQUAL: Self = Self {
        spread: 0.05,
        coefficient: 0.0,
        luck: Luck::OfCell,
        tails: Tails::Normal,
        order: Order::Interleaved,
        blocks: 9,
        factor: 1.0,
        differing: 0,
        hung: Hung::Anywhere(0),
        clock: Clock::Fine,
    };

    /// One campaign.
    pub fn draw(&self, noise: &mut Random) -> Campaign {
        let firsts = self.firsts(noise);
        let moments = self.moments(&firsts);
        let common = self.luck_of_runs(noise);
        let hung = self.hung_runs(noise);
        let (of_cell, of_run) = match self.luck {
            Luck::OfCell => (1.0, 0.0),
            Luck::OfRun => ((1.0 - COMMON_SHARE).sqrt(), COMMON_SHARE.sqrt()),
        };
        let truths: Vec<f64> =
            (0..CELLS).map(|cell| if cell < self.differing { self.factor.ln() } else { 0.0 }).collect();
        let cells = truths.iter().map(|truth| {
            let own = self.luck_of_runs(noise);
            let level = noise.unit();
            let sides = [0, 1].map(|side| -> Vec<f64> {
                let value = |block: usize| {
                    let moment = moments[block][side];
                    let luck = of_cell * own[moment] + of_run * common[moment];
                    self.read(luck + WITHIN * noise.normal() + side as f64 * truth, level)
                };
                (0..self.blocks).map(value).collect()
            });
            self.cell(&sides, &hung)
        });
        Campaign { cells: cells.collect(), truths, firsts }
    }

    fn firsts(&self, noise: &mut Random) -> Vec<f64> {
        let mut firsts: Vec<f64> = Vec::with_capacity(self.blocks);
        for block in 0..self.blocks {
            let before =
                firsts.last().copied().filter(|_| self.order == Order::Interleaved && block % 2 == 1);
            firsts.push(before.map_or_else(|| if noise.unit() < 0.5 { 1.0 } else { -1.0 }, |before| -before));
        }
        firsts
    }

    /// Which of all runs in their order are the base's and the other side's of a block.
    fn moments(&self, firsts: &[f64]) -> Vec<[usize; 2]> {
        let of_block = |(block, first): (usize, &f64)| match self.order {
            Order::Apart(_) => [block, self.blocks + block],
            _ if *first > 0.0 => [2 * block, 2 * block + 1],
            _ => [2 * block + 1, 2 * block],
        };
        firsts.iter().enumerate().map(of_block).collect()
    }

    /// The luck of all runs in their order.
    fn luck_of_runs(&self, noise: &mut Random) -> Vec<f64> {
        let mut state = noise.normal();
        (0..2 * self.blocks)
            .map(|_| {
                let now = self.spread * state;
                let luck = match self.tails {
                    Tails::Normal => now,
                    Tails::Heavy => {
                        let squares: f64 = (0..3).map(|_| noise.normal().powi(2)).sum();
                        // With the variance of the others.
                        now / squares.sqrt()
                    }
                    Tails::Seldom if noise.unit() < SELDOM_SHARE => now - SELDOM_FACTOR.ln(),
                    Tails::Seldom => now,
                };
                state = self.coefficient * state + (1.0 - self.coefficient.powi(2)).sqrt() * noise.normal();
                luck
            })
            .collect()
    }

    /// What a clock shows of a speed; the level is where between two of its steps the truth is.
    fn read(&self, speed: f64, level: f64) -> f64 {
        match self.clock {
            Clock::Fine => speed,
            Clock::Coarse => -((STEPS + level) * (-speed).exp()).floor().max(1.0).ln(),
        }
    }

    /// Which runs hang, of the base's blocks and then of the other side's.
    fn hung_runs(&self, noise: &mut Random) -> Vec<bool> {
        let (first, count) = match self.hung {
            Hung::Anywhere(count) => (0, count),
            Hung::OtherSide(count) => (self.blocks, count),
        };
        let mut hung = vec![false; 2 * self.blocks];
        let mut left = count.min(hung.len() - first);
        while left > 0 {
            let place = first + noise.below((hung.len() - first) as u64) as usize;
            left -= usize::from(!std::mem::replace(&mut hung[place], true));
        }
        hung
    }

    fn cell(&self, sides: &[Vec<f64>; 2], hung: &[bool]) -> RunCell {
        let margin = match self.clock {
            Clock::Fine => 0.0,
            // A step of either middle.
            Clock::Coarse => {
                let step = |side: &Vec<f64>| (side.iter().sum::<f64>() / side.len() as f64).exp().ln_1p();
                sides.iter().map(step).sum()
            }
        };
        let known = |side: usize, block: usize| {
            let speed = sides[side][block];
            let is_hung = hung[side * self.blocks + block];
            if is_hung { LogRange::at_most(speed - HUNG_FACTOR.ln()) } else { LogRange::exactly(speed) }
        };
        let blocks = (0..self.blocks).map(|block| [known(0, block), known(1, block)]);
        let pairing = match self.order {
            Order::Apart(others) => {
                let base = blocks.clone().map(|[base, _]| base);
                RunPairing::Apart([base.collect(), blocks.take(others).map(|[_, other]| other).collect()])
            }
            Order::Random => RunPairing::Blocks(blocks.collect()),
            Order::Interleaved => RunPairing::TurnedBlocks(blocks.collect()),
        };
        RunCell { pairing, margin }
    }
}

impl Campaign {
    /// The differences within the blocks of each cell, where all runs are known and paired.
    pub fn differences(&self) -> Option<Vec<Vec<f64>>> {
        let of_cell = |cell: &RunCell| match &cell.pairing {
            RunPairing::Blocks(blocks) | RunPairing::TurnedBlocks(blocks) => {
                blocks.iter().map(|[base, other]| Some(other.known()? - base.known()?)).collect()
            }
            RunPairing::Apart(_) | RunPairing::Strata(_) | RunPairing::Days(_) | RunPairing::DaysApart(_) => {
                None
            }
        };
        self.cells.iter().map(of_cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_what_is_drawn() {
        let campaigns = Campaigns { spread: 0.3, factor: 2.0, differing: 8, blocks: 400, ..Campaigns::EQUAL };
        let campaign = campaigns.draw(&mut Random::new(1));
        let variance = 2.0 * (0.3_f64.powi(2) + WITHIN.powi(2));
        for differences in campaign.differences().unwrap() {
            let mean = differences.iter().sum::<f64>() / 400.0;
            let found = differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 399.0;
            assert!(
                (mean - 2.0_f64.ln()).abs() < 0.1 && (found / variance - 1.0).abs() < 0.3,
                "{mean} {found}"
            );
        }
    }

    #[test]
    fn every_two_blocks_are_turned_round() {
        let firsts = Campaigns::EQUAL.draw(&mut Random::new(2)).firsts;
        assert!(firsts.chunks_exact(2).all(|two| two[0] == -two[1]) && firsts.len() == 9);
        let moments = Campaigns::EQUAL.moments(&[1.0, -1.0]);
        assert_eq!(moments, [[0, 1], [3, 2]]);
    }

    #[test]
    fn so_many_runs_hang() {
        let bounded = |hung| {
            let campaign = Campaigns { hung, ..Campaigns::EQUAL }.draw(&mut Random::new(3));
            let RunPairing::TurnedBlocks(blocks) = &campaign.cells[0].pairing else { panic!("not paired") };
            [0, 1].map(|side| blocks.iter().filter(|block| block[side].known().is_none()).count())
        };
        assert_eq!(bounded(Hung::Anywhere(3)).iter().sum::<usize>(), 3);
        assert_eq!(bounded(Hung::OtherSide(3)), [0, 3]);
    }

    #[test]
    fn a_coarse_clock_has_its_steps_in_the_margin() {
        let campaign =
            Campaigns { clock: Clock::Coarse, spread: 0.0, ..Campaigns::EQUAL }.draw(&mut Random::new(4));
        for cell in campaign.cells {
            assert!((0.17..0.22).contains(&cell.margin), "{}", cell.margin);
        }
    }
}
