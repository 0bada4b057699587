//! What stands beside what: the values of the runs of two sides.

use super::likeness::{RankWorth, SeenLikeness};
use super::log_range::LogRange;
use super::mean::telling;

/// The values of the runs of two sides: logarithms of speeds.
#[derive(Debug, Clone, PartialEq)]
pub enum RunPairing {
    /// The base and the other side of each block, whose order was drawn for each.
    Blocks(Vec<[LogRange; 2]>),
    /// The same of blocks of which every other one has the order of the one before turned round: A B, B A.
    TurnedBlocks(Vec<[LogRange; 2]>),
    /// All of the base, and all of the other side.
    Apart([Vec<LogRange>; 2]),
    /// The same within each stratum of what is pooled: only like is compared with like.
    Strata(Vec<[Vec<LogRange>; 2]>),
    /// The base and the other side on each day, in the order of time.
    Days(Vec<[LogRange; 2]>),
    /// All days of the base, and all of the other side, in the order of time.
    DaysApart([Vec<LogRange>; 2]),
}

impl RunPairing {
    /// How many runs the base and the other side have.
    pub fn counts(&self) -> [usize; 2] {
        match self {
            Self::Blocks(pairs) | Self::TurnedBlocks(pairs) | Self::Days(pairs) => [pairs.len(); 2],
            Self::Apart(sides) | Self::DaysApart(sides) => sides.each_ref().map(Vec::len),
            Self::Strata(strata) => {
                [0, 1].map(|side| strata.iter().map(|sides: &[Vec<LogRange>; 2]| sides[side].len()).sum())
            }
        }
    }

    /// The middle of the base and that of the other side, whose difference is what is estimated where all runs are known.
    pub(crate) fn middles(&self) -> [LogRange; 2] {
        let of_side = |side: usize| match self {
            Self::Blocks(pairs) | Self::TurnedBlocks(pairs) | Self::Days(pairs) => {
                LogRange::mean(&pairs.iter().map(|pair| pair[side]).collect::<Vec<LogRange>>())
            }
            Self::Apart(sides) | Self::DaysApart(sides) => LogRange::mean(&sides[side]),
            Self::Strata(strata) => LogRange::weighted_mean(strata.iter().map(|sides| {
                (telling(sides[0].len() as f64, sides[1].len() as f64), LogRange::mean(&sides[side]))
            })),
        };
        [0, 1].map(of_side)
    }

    /// Whether all of them are known, and none only bounded.
    pub(super) fn is_known(&self) -> bool {
        let is_known = |one: &LogRange| one.known().is_some();
        match self {
            Self::Blocks(pairs) | Self::TurnedBlocks(pairs) | Self::Days(pairs) => {
                pairs.as_flattened().iter().all(is_known)
            }
            Self::Apart(sides) | Self::DaysApart(sides) => sides.iter().flatten().all(is_known),
            Self::Strata(strata) => strata.as_flattened().iter().flatten().all(is_known),
        }
    }
}

/// By how much the other side of each block is faster.
pub(super) fn differences(pairs: &[[LogRange; 2]]) -> Vec<LogRange> {
    pairs.iter().map(|[base, other]| other.less(*base)).collect()
}

/// How far the days of both sides are seen to be alike; of runs nothing asks for it.
pub(super) fn likeness_of(pairing: &RunPairing) -> SeenLikeness {
    SeenLikeness::of(&match pairing {
        RunPairing::Days(pairs) => vec![differences(pairs)],
        RunPairing::DaysApart(sides) => sides.to_vec(),
        _ => Vec::new(),
    })
}

/// What ranks of so many of such days are worth; runs are worth themselves.
pub(super) fn worth_of(
    pairing: &RunPairing,
    likeness: SeenLikeness,
    [base, other]: [usize; 2],
) -> Option<RankWorth> {
    match pairing {
        RunPairing::Days(_) => Some(RankWorth::of_days(likeness, vec![base])),
        RunPairing::DaysApart(_) => Some(RankWorth::of_days(likeness, vec![base, other])),
        _ => None,
    }
}
