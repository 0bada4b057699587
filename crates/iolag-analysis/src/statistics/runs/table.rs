//! All cells of a table together, and a word for each.
//!
//! One step for all: with m cells each interval misses with a probability of at most 0.05/m (Bonferroni), so that all of them hold together in
//! 95 % of tables, and p times m is below 0.05 exactly where the interval that is printed excludes no difference. Holm's procedure, of which
//! [`crate::statistics::multiple_testing`] makes use elsewhere, is stronger, but has no intervals that agree with it.

use serde::{Deserialize, Serialize};

use super::difference::RunDifference;
use super::log_range::LogRange;
use super::needed::{RUNS_LEAST, lacking};
use super::pairing::RunPairing;
use crate::statistics::multiple_testing::SIGNIFICANCE;

/// As if there were so many more cells, for a campaign that looked at them to see whether it may end.
const LOOKS_COUNT: f64 = 1.25;

/// What ended a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CampaignEnding {
    /// All blocks that were planned are done, or its time was up.
    Planned,
    /// It was to end when it was precise ([`is_precise`](crate::is_precise)); whether it was, or its time was up before.
    WhenPrecise,
}

impl CampaignEnding {
    /// By how much more cells count.
    const fn counts(self) -> f64 {
        match self {
            Self::Planned => 1.0,
            Self::WhenPrecise => LOOKS_COUNT,
        }
    }
}

/// One cell: what is compared there.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCell {
    /// The runs of both sides.
    pub pairing: RunPairing,
    /// By how much the logarithm may be off because a clock counts in steps.
    pub margin: f64,
}

/// What is said of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedWord {
    /// The other side is faster.
    Faster,
    /// It is slower.
    Slower,
    /// Whichever is faster, it is not by more than what counts as the same.
    Same,
    /// Otherwise; that is not "the same".
    NoDifferenceShown,
    /// Nothing can be said before the side that has fewer has so many more runs.
    TooFew {
        /// So many.
        more: u32,
    },
}

/// What is known of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRuns {
    /// The estimate and what it rests on; absent if a side has no run.
    pub difference: Option<RunDifference>,
    /// The interval that is printed: those of the table hold together. Absent where there are too few runs.
    pub interval: Option<LogRange>,
    /// The interval of this cell alone.
    pub interval_alone: Option<LogRange>,
    /// p after all cells were counted: below 0.05 exactly where the interval excludes 0.
    pub p_adjusted: Option<f64>,
    /// What is said.
    pub word: ComparedWord,
    /// About so many more blocks would say that both are the same, if the estimate stays.
    pub more_for_same: Option<u32>,
}

/// Judges the cells of a table together. Ratios from 1/(1 + `same_within`) to 1 + `same_within` count as the same.
pub fn compare_runs(cells: &[RunCell], same_within: f64, ending: CampaignEnding) -> Vec<ComparedRuns> {
    let family = family_of(cells) as f64 * ending.counts();
    let same = same_within.max(0.0).ln_1p();
    cells.iter().map(|cell| compared(cell, family, same, ending)).collect()
}

/// How many of these cells count, at least one.
pub(crate) fn family_of(cells: &[RunCell]) -> usize {
    let has_enough = |cell: &&RunCell| cell.pairing.counts().iter().all(|count| *count >= RUNS_LEAST);
    cells.iter().filter(has_enough).count().max(1)
}

/// With which probability an interval of these cells may miss.
pub(crate) fn level_of(cells: &[RunCell], ending: CampaignEnding) -> f64 {
    SIGNIFICANCE / (family_of(cells) as f64 * ending.counts())
}

fn compared(cell: &RunCell, family: f64, same: f64, ending: CampaignEnding) -> ComparedRuns {
    let level = SIGNIFICANCE / family;
    let difference = RunDifference::of(&cell.pairing, cell.margin);
    let more = lacking(&cell.pairing, level);
    let Some(judged) = difference.as_ref().filter(|_| more == 0) else {
        let word = ComparedWord::TooFew { more: more as u32 };
        return ComparedRuns {
            difference,
            interval: None,
            interval_alone: None,
            p_adjusted: None,
            word,
            more_for_same: None,
        };
    };
    let interval = judged.interval_at(level);
    let word = match interval {
        _ if interval.is_within(same) => ComparedWord::Same,
        _ if interval.low() > 0.0 => ComparedWord::Faster,
        _ if interval.high() < 0.0 => ComparedWord::Slower,
        _ => ComparedWord::NoDifferenceShown,
    };
    let more_for_same = judged
        .estimate()
        .known()
        .and_then(|estimate| judged.more_for(same - estimate.abs() - cell.margin, level));
    ComparedRuns {
        interval: Some(interval),
        interval_alone: Some(judged.interval_at(SIGNIFICANCE / ending.counts())),
        p_adjusted: Some((judged.p() * family).min(1.0)),
        word,
        more_for_same,
        difference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(differences: &[f64]) -> RunCell {
        let block = |difference: &f64| [LogRange::exactly(3.0), LogRange::exactly(3.0 + difference)];
        RunCell { pairing: RunPairing::Blocks(differences.iter().map(block).collect()), margin: 0.0 }
    }

    fn words(cells: &[RunCell]) -> Vec<ComparedWord> {
        compare_runs(cells, 0.05, CampaignEnding::Planned).into_iter().map(|compared| compared.word).collect()
    }

    #[test]
    fn words_are_those_of_the_intervals() {
        let cells = [
            cell(&[0.2, 0.21, 0.19, 0.22]),
            cell(&[-0.2, -0.21, -0.19, -0.22]),
            cell(&[0.02, 0.021, 0.019, 0.022]),
            cell(&[0.2, -0.1, 0.3, -0.2]),
            cell(&[0.2]),
        ];
        // Two per cent for certain are the same: effect first.
        let expected = [
            ComparedWord::Faster,
            ComparedWord::Slower,
            ComparedWord::Same,
            ComparedWord::NoDifferenceShown,
            ComparedWord::TooFew { more: 3 },
        ];
        assert_eq!(words(&cells), expected);
        let compared = compare_runs(&cells, 0.05, CampaignEnding::Planned);
        for one in &compared[..4] {
            assert_eq!(one.p_adjusted.unwrap() < 0.05, one.interval.unwrap().excludes_zero());
            assert!(one.interval_alone.unwrap().low() > one.interval.unwrap().low());
        }
        let of_one_run = &compared[4];
        let estimate = of_one_run.difference.as_ref().and_then(|one| one.estimate().known());
        assert!((estimate.unwrap() - 0.2).abs() < 1e-12 && of_one_run.interval.is_none());
    }

    #[test]
    fn what_is_too_few_does_not_count_in_the_table() {
        let judged = cell(&[0.1, 0.13, 0.09, 0.12]);
        let alone = compare_runs(std::slice::from_ref(&judged), 0.05, CampaignEnding::Planned);
        let beside =
            compare_runs(&[judged.clone(), cell(&[0.1; 3]), cell(&[])], 0.05, CampaignEnding::Planned);
        assert_eq!(beside[0], alone[0]);
        assert_eq!(beside[2].word, ComparedWord::TooFew { more: 4 });
        let two = compare_runs(&[judged.clone(), judged], 0.05, CampaignEnding::Planned);
        assert_eq!(two[0].p_adjusted, alone[0].p_adjusted.map(|p| 2.0 * p));
        assert!(compare_runs(&[], 0.05, CampaignEnding::Planned).is_empty());
        let looked = compare_runs(&[cell(&[0.1, 0.13, 0.09, 0.12])], 0.05, CampaignEnding::WhenPrecise);
        assert_eq!(looked[0].p_adjusted, alone[0].p_adjusted.map(|p| 1.25 * p));
    }

    #[test]
    fn more_blocks_would_say_that_it_is_the_same() {
        let [compared] = compare_runs(&[cell(&[0.05, -0.05, 0.04, -0.04])], 0.05, CampaignEnding::Planned)
            .try_into()
            .unwrap();
        assert_eq!(compared.word, ComparedWord::NoDifferenceShown);
        let more = compared.more_for_same.unwrap();
        assert!((3..10).contains(&more), "{more}");
        // What is said already, and what will never be said.
        assert_eq!(
            compare_runs(&[cell(&[0.001, -0.001, 0.002, 0.0])], 0.05, CampaignEnding::Planned)[0]
                .more_for_same,
            None
        );
        assert_eq!(
            compare_runs(&[cell(&[0.25, -0.05, 0.15, 0.1])], 0.05, CampaignEnding::Planned)[0].more_for_same,
            None
        );
    }
}
