//! How the samples of a replay are read.

use std::collections::BTreeMap;

use iolag_model::{Operation, ReplaySpec, RunRecord, counted};

use super::analysis::{BENCHMARK, analyse_replay};
use crate::run::copies::of_run::{cells_of_copies, coordinates_of_copies};
use crate::run::summary::Summaries;
use crate::run::values::CellStages;
use crate::run::workload::{Analysed, RunAnalysis};

impl Analysed for ReplaySpec {
    /// A copy as a whole, and the calls that programs make most of.
    fn cells(&self, _record: &RunRecord) -> Vec<CellStages> {
        use Operation::{CallOpen, CallRead, CallStat, Stage};
        cells_of_copies(BENCHMARK, &[Stage, CallStat, CallOpen, CallRead])
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        coordinates_of_copies(clients)
    }

    fn title(&self, names: &str, clients: u32) -> String {
        let program = self.program.as_deref().unwrap_or("A program");
        format!("{program} replayed in {names}, {}", counted(u64::from(clients), "copy", "copies"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Replay(analyse_replay(record, self, summaries))
    }
}
