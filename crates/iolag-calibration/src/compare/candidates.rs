//! Other ways to judge the cells of a table, beside those that iolag takes.

use iolag_analysis::{LogRange, RunDifference, RunPairing};
use iolag_model::Random;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::campaigns::{CELLS, Campaign, WITHIN};
use crate::process::SIGMA;

/// What all words of a table together may be wrong by.
const LEVEL: f64 = 0.05;
/// So many choices of signs are tried where there are more.
const FLIPS_MOST: u64 = 512;
const SEED: u64 = 1908;

/// A way to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Candidate {
    /// Student's t within blocks, also where these are turned round.
    Plain,
    /// Student's t without what is due to the order within blocks.
    WithoutOrder,
    /// As runs that are apart, as if there were no blocks.
    Apart,
    /// Exact signed ranks.
    Ranks,
    /// Student's t within blocks, the greatest of a table judged by turning the signs of blocks.
    Signs,
    /// Normal theory on all attempts of a side in one heap.
    Pooled,
}

impl Candidate {
    /// All.
    pub const ALL: [Self; 6] =
        [Self::Plain, Self::WithoutOrder, Self::Apart, Self::Ranks, Self::Signs, Self::Pooled];

    /// As its column is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain t",
            Self::WithoutOrder => "without order",
            Self::Apart => "apart",
            Self::Ranks => "ranks",
            Self::Signs => "signs",
            Self::Pooled => "attempts pooled",
        }
    }

    /// Which cells it calls different: 1 if the other side is faster, -1 if slower, else 0.
    pub fn directions(self, campaign: &Campaign, differences: &[Vec<f64>]) -> Vec<f64> {
        let told = |(estimate, is_told): (f64, bool)| if is_told { estimate.signum() } else { 0.0 };
        let level = LEVEL / CELLS as f64;
        match self {
            Self::WithoutOrder => {
                let of = |cell: &Vec<f64>| without_order(cell, &campaign.firsts);
                let freedom = campaign.firsts.len() as f64 - 2.0;
                let judged = |(mean, error): (f64, f64)| (mean, p_of(mean / error, freedom) < level);
                differences.iter().map(|cell| told(judged(of(cell)))).collect()
            }
            Self::Plain | Self::Apart | Self::Ranks => {
                let judged = |pairing: RunPairing| {
                    let difference = RunDifference::of(&pairing, 0.0)?;
                    Some((difference.estimate().low(), difference.p() < level))
                };
                let pairing = match self {
                    Self::Ranks => bounded,
                    Self::Apart => apart,
                    _ => plain,
                };
                let cells = campaign.cells.iter();
                cells.map(|cell| judged(pairing(&cell.pairing)).map_or(0.0, told)).collect()
            }
            Self::Signs => {
                let limit = greatest_by_signs(differences);
                let judged = |cell: &Vec<f64>| (mean_of(cell), statistic(cell, |_| 1.0) >= limit);
                differences.iter().map(|cell| told(judged(cell))).collect()
            }
            Self::Pooled => differences.iter().map(|cell| told(pooled(cell, level))).collect(),
        }
    }
}

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Two-sided.
fn p_of(statistic: f64, freedom: f64) -> f64 {
    if statistic.is_nan() {
        return 1.0;
    }
    StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |law| 2.0 * law.sf(statistic.abs()))
}

/// Student's t of the differences, each with this sign.
fn statistic(differences: &[f64], sign: impl Fn(usize) -> f64) -> f64 {
    let turned: Vec<f64> = differences.iter().enumerate().map(|(block, one)| sign(block) * one).collect();
    let mean = mean_of(&turned);
    let squares: f64 = turned.iter().map(|one| (one - mean).powi(2)).sum();
    let count = turned.len() as f64;
    mean.abs() / (squares / (count - 1.0) / count).sqrt()
}

/// What the greatest statistic of a table reaches in 5 % of all choices of signs, the same in all cells of a block.
fn greatest_by_signs(differences: &[Vec<f64>]) -> f64 {
    let blocks = differences.first().map_or(0, Vec::len);
    // Turning all of them changes nothing: the first keeps its sign.
    let all = 1_u64 << (blocks.clamp(1, 63) - 1);
    let mut noise = Random::new(SEED);
    let mut greatest: Vec<f64> = (0..all.min(FLIPS_MOST))
        .map(|choice| {
            // The first choice is what was measured.
            let signs = if all <= FLIPS_MOST || choice == 0 { choice } else { noise.bits() };
            let sign = |block: usize| if signs >> block & 1 == 1 { -1.0 } else { 1.0 };
            differences.iter().map(|cell| statistic(cell, sign)).fold(0.0, f64::max)
        })
        .collect();
    greatest.sort_unstable_by(f64::total_cmp);
    let allowed = (LEVEL * greatest.len() as f64) as usize;
    match greatest.len().checked_sub(allowed) {
        Some(place) if allowed > 0 => greatest[place],
        _ => f64::INFINITY,
    }
}

/// The mean difference and its error, with a difference between first and second runs in the model.
fn without_order(differences: &[f64], firsts: &[f64]) -> (f64, f64) {
    let count = differences.len() as f64;
    let (mean, mean_first) = (mean_of(differences), mean_of(firsts));
    let spread: f64 = firsts.iter().map(|first| (first - mean_first).powi(2)).sum();
    let together: f64 = firsts.iter().zip(differences).map(|(first, one)| (first - mean_first) * one).sum();
    let slope = if spread > 0.0 { together / spread } else { 0.0 };
    let estimate = mean - slope * mean_first;
    let residual = |(first, one): (&f64, &f64)| (one - estimate - slope * first).powi(2);
    let variance = firsts.iter().zip(differences).map(residual).sum::<f64>() / (count - 2.0);
    let leverage = if spread > 0.0 { mean_first.powi(2) / spread } else { 0.0 };
    (estimate, (variance * (1.0 / count + leverage)).sqrt())
}

/// As if the runs of a side had been one: their attempts are so many that Student's distribution is the normal one.
fn pooled(differences: &[f64], level: f64) -> (f64, bool) {
    let count = differences.len() as f64;
    let mean = mean_of(differences);
    let between = differences.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (count - 1.0) / 2.0;
    let attempts = (SIGMA / WITHIN).powi(2) * count;
    let error = (2.0 * (SIGMA.powi(2) + between) / attempts).sqrt();
    (mean, p_of(mean / error, attempts) < level)
}

fn plain(pairing: &RunPairing) -> RunPairing {
    match pairing {
        RunPairing::TurnedBlocks(blocks) => RunPairing::Blocks(blocks.clone()),
        _ => pairing.clone(),
    }
}

fn apart(pairing: &RunPairing) -> RunPairing {
    match pairing {
        RunPairing::Blocks(blocks) | RunPairing::TurnedBlocks(blocks) => {
            RunPairing::Apart([0, 1].map(|side| blocks.iter().map(|block| block[side]).collect()))
        }
        _ => pairing.clone(),
    }
}

/// The same as bounds that are as good as values, so that ranks judge them.
fn bounded(pairing: &RunPairing) -> RunPairing {
    let nearly = |one: LogRange| LogRange::between(one.low(), one.high().next_up());
    match pairing {
        RunPairing::Blocks(blocks) | RunPairing::TurnedBlocks(blocks) => {
            RunPairing::Blocks(blocks.iter().map(|block| block.map(nearly)).collect())
        }
        RunPairing::Apart(sides) => {
            RunPairing::Apart(sides.each_ref().map(|side| side.iter().map(|one| nearly(*one)).collect()))
        }
        RunPairing::Strata(_) | RunPairing::Days(_) | RunPairing::DaysApart(_) => pairing.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::campaigns::Campaigns;
    use super::*;

    #[test]
    fn all_candidates_see_what_cannot_be_missed() {
        let campaigns = Campaigns { factor: 2.0, differing: CELLS, ..Campaigns::EQUAL };
        let campaign = campaigns.draw(&mut Random::new(5));
        let differences = campaign.differences().unwrap();
        for candidate in Candidate::ALL {
            assert_eq!(candidate.directions(&campaign, &differences), [1.0; CELLS], "{candidate:?}");
        }
    }

    /// Six blocks that all go the same way are one of 32 choices of signs.
    #[test]
    fn signs_are_judged_by_all_choices() {
        let cells = vec![vec![0.9, 1.0, 1.1, 1.2, 0.8, 1.05], vec![1.0, -1.0, 0.5, -0.5, 0.2, -0.2]];
        let limit = greatest_by_signs(&cells);
        assert_eq!(limit, statistic(&cells[0], |_| 1.0));
        assert_eq!(greatest_by_signs(&[vec![1.0, 2.0, 3.0]]), f64::INFINITY);
    }

    #[test]
    fn what_is_due_to_the_order_is_taken_out() {
        let firsts = [1.0, -1.0, -1.0, 1.0, 1.0];
        let differences = firsts.map(|first| 0.3 + 0.1 * first);
        let (estimate, error) = without_order(&differences, &firsts);
        assert!((estimate - 0.3).abs() < 1e-12 && error < 1e-9, "{estimate} {error}");
    }
}
