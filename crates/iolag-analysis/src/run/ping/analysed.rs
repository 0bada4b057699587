//! How the samples of a ping are read.

use iolag_model::{Operation, PingSpec, RunRecord, TargetIndex};

use super::analysis::analyse_ping;
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
use crate::run::values::{Cell, CellStages, Pace};
use crate::run::workload::{Analysed, RunAnalysis};
use crate::statistics::quantile::censored::Censoring;

impl Analysed for PingSpec {
    fn grouping(&self, _record: &RunRecord) -> Grouping {
        Grouping::default()
    }

    /// Probes are cut off because something hangs: they would not have gone on like the others.
    fn censoring(&self) -> Censoring {
        Censoring::Informative
    }

    /// The whole probe, and the operations that it consists of.
    fn cells(&self, _record: &RunRecord) -> Vec<CellStages> {
        let row = |operation| CellStages {
            cell: Cell { operation, phase: None },
            target: TargetIndex(0),
            stages: Vec::new(),
            pace: Pace::Follows,
        };
        [Operation::Probe, Operation::Stat, Operation::Read, Operation::Create].map(row).to_vec()
    }

    fn title(&self, names: &str, _clients: u32) -> String {
        format!("Ping of {names}")
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Ping(analyse_ping(record, summaries))
    }
}
