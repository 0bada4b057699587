//! How the samples of a check are read.

use std::num::NonZeroU32;

use iolag_model::{CheckSpec, Nanoseconds, RunRecord, TargetIndex};

use super::analysis::analyse_check;
use super::rows::KNOWN_ROWS;
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
use crate::run::values::{Cell, CellStages, Pace};
use crate::run::workload::{Analysed, RunAnalysis};
use crate::statistics::quantile::censored::Censoring;

impl Analysed for CheckSpec {
    fn grouping(&self, record: &RunRecord) -> Grouping {
        Grouping { targets: NonZeroU32::new(record.targets.len() as u32), ..Grouping::default() }
    }

    /// What a check cuts off had no time left, which the long ones have less often.
    fn censoring(&self) -> Censoring {
        Censoring::InformativeIfFew
    }

    fn thresholds(&self) -> Vec<Nanoseconds> {
        self.thresholds_ns.clone()
    }

    /// The rows that a user knows, of each directory that was asked for.
    fn cells(&self, record: &RunRecord) -> Vec<CellStages> {
        let targets = (0..record.targets.len() as u16).map(TargetIndex);
        let asked = targets.filter(|target| Some(*target) != self.control);
        let rows = |target| {
            KNOWN_ROWS.map(|operation| CellStages {
                cell: Cell { operation, phase: None },
                target,
                stages: Vec::new(),
                pace: Pace::Follows,
            })
        };
        asked.flat_map(rows).collect()
    }

    fn title(&self, names: &str, _clients: u32) -> String {
        format!("Check of {names}")
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Check(analyse_check(record, summaries))
    }
}
