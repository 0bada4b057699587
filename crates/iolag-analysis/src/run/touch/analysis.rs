//! `iolag bench touch`: a row for each operation.

use iolag_model::{Level, RunRecord, Trust};

use crate::run::summary::{Precision, Summaries, Summary};

/// What a touch says.
#[derive(Debug, Clone, PartialEq)]
pub struct TouchAnalysis {
    /// How quantiles were found.
    pub precision: Precision,
    /// The target.
    pub target: String,
    /// Its operations, iolag's own left out.
    pub summaries: Vec<Summary>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// Judges a touch by summaries that tell nothing apart.
pub(super) fn analyse_touch(run: &RunRecord, summaries: &Summaries) -> TouchAnalysis {
    let is_measured = |summary: &&Summary| summary.key.operation.level() != Level::Harness;
    TouchAnalysis {
        precision: summaries.precision,
        target: run.targets.first().map_or_else(String::new, |target| target.name.clone()),
        summaries: summaries.summaries.iter().filter(is_measured).cloned().collect(),
        trust: run.trust.iter().cloned().chain(summaries.unknown.trust()).collect(),
    }
}
