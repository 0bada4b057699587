//! How the samples of a set-up are read.

use std::collections::BTreeMap;

use iolag_model::{Operation, RunRecord, SetUpSpec, counted};

use super::analysis::{BENCHMARK, analyse_set_up};
use crate::run::copies::of_run::{cells_of_copies, coordinates_of_copies};
use crate::run::summary::Summaries;
use crate::run::values::CellStages;
use crate::run::workload::{Analysed, RunAnalysis};

impl Analysed for SetUpSpec {
    /// A copy as a whole, and its calls.
    fn cells(&self, _record: &RunRecord) -> Vec<CellStages> {
        use Operation::{CallClose, CallOpen, CallRead, CallStat, Stage};
        cells_of_copies(BENCHMARK, &[Stage, CallStat, CallOpen, CallRead, CallClose])
    }

    fn coordinates(&self, clients: u32) -> BTreeMap<String, String> {
        coordinates_of_copies(clients)
    }

    fn title(&self, names: &str, clients: u32) -> String {
        format!("Set-up of {names}, {}", counted(u64::from(clients), "copy", "copies"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::SetUp(analyse_set_up(record, self, summaries))
    }
}
