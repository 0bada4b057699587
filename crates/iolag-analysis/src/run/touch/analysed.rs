//! How the samples of a touch are read.

use iolag_model::{RunRecord, TouchSpec, counted};

use super::analysis::analyse_touch;
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
use crate::run::workload::{Analysed, RunAnalysis};
use crate::statistics::quantile::censored::Censoring;

impl Analysed for TouchSpec {
    fn grouping(&self, _record: &RunRecord) -> Grouping {
        Grouping::default()
    }

    fn censoring(&self) -> Censoring {
        Censoring::Independent
    }

    fn title(&self, names: &str, clients: u32) -> String {
        format!("Touch of {names}, {}", counted(u64::from(clients), "client", "clients"))
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Touch(analyse_touch(record, summaries))
    }
}
