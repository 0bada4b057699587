//! A trace has calls of a program and no samples: of samples there is nothing to read.

use iolag_model::{RunRecord, TraceSpec};

use super::analysis::{TraceContent, analyse_trace};
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
use crate::run::values::CellStages;
use crate::run::workload::{Analysed, RunAnalysis};
use crate::statistics::quantile::censored::Censoring;

impl Analysed for TraceSpec {
    fn grouping(&self, _record: &RunRecord) -> Grouping {
        Grouping::default()
    }

    fn censoring(&self) -> Censoring {
        Censoring::Informative
    }

    fn cells(&self, _record: &RunRecord) -> Vec<CellStages> {
        Vec::new()
    }

    fn title(&self, _names: &str, _clients: u32) -> String {
        "Trace".to_owned()
    }

    /// Of samples alone nothing can be told: [`analyse_trace`] takes what was read of its file.
    fn analyse(&self, record: &RunRecord, _summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Trace(analyse_trace(record, TraceContent::default()))
    }
}
