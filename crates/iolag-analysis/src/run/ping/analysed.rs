//! How the samples of a ping are read.

use iolag_model::{PingSpec, RunRecord};

use super::analysis::analyse_ping;
use crate::run::grouping::Grouping;
use crate::run::summary::Summaries;
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

    fn title(&self, names: &str, _clients: u32) -> String {
        format!("Ping of {names}")
    }

    fn analyse(&self, record: &RunRecord, summaries: &Summaries) -> RunAnalysis {
        RunAnalysis::Ping(analyse_ping(record, summaries))
    }
}
