//! How the samples of a replay are read.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use iolag_model::{Operation, ReplaySpec, RunRecord, TargetIndex, counted};

use super::analysis::{BENCHMARK, analyse_replay};
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
use crate::run::values::{Cell, CellStages, Pace};
use crate::run::workload::{Analysed, RunAnalysis};
use crate::statistics::quantile::censored::Censoring;

impl Analysed for ReplaySpec {
    fn grouping(&self, record: &RunRecord) -> Grouping {
        Grouping { stages: NonZeroU32::new(record.stage_count()), ..Grouping::default() }
    }

    fn censoring(&self) -> Censoring {
        Censoring::Independent
    }

    /// A copy as a whole, and the calls that programs make most of.
    fn cells(&self, _record: &RunRecord) -> Vec<CellStages> {
        use Operation::{CallOpen, CallRead, CallStat, Stage};
        let cell = |operation| CellStages {
            cell: Cell { operation, phase: None },
            target: TargetIndex(0),
            stages: vec![BENCHMARK],
            pace: Pace::Follows,
        };
        [Stage, CallStat, CallOpen, CallRead].map(cell).to_vec()
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        BTreeMap::from([("copies".to_owned(), clients.to_string())])
    }

    fn title(&self, names: &str, clients: u32) -> String {
        let program = self.program.as_deref().unwrap_or("A program");
        format!("{program} replayed in {names}, {}", counted(u64::from(clients), "copy", "copies"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Replay(analyse_replay(record, self, summaries))
    }
}
