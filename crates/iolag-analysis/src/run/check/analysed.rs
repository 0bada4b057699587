//! How the samples of a check are read.

use std::num::NonZeroU32;

use iolag_model::{CheckSpec, Nanoseconds, RunRecord};

use super::analysis::analyse_check;
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
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

    fn title(&self, names: &str, _clients: u32) -> String {
        format!("Check of {names}")
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Check(analyse_check(record, summaries))
    }
}
