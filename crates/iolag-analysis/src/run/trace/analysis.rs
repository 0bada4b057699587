//! What was found out about a trace.

use iolag_model::{RunRecord, TraceAbout, TraceEnding, TraceSummary, Trust};

use super::findings::findings;
use crate::finding::of_runs::RunFinding;
use crate::run::summary::{Precision, SUMMARY_SCHEMA};

/// What was read of the file of a trace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TraceContent {
    /// What it says of itself.
    pub about: TraceAbout,
    /// What it comes to.
    pub summary: TraceSummary,
    /// What it says at its end; of one that is cut off nothing.
    pub ending: TraceEnding,
    /// What is to be known before trusting that.
    pub trust: Vec<Trust>,
}

/// What was found out about a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How its numbers were found: all calls were counted.
    pub precision: Precision,
    /// What it says of itself.
    pub about: TraceAbout,
    /// What it comes to.
    pub summary: Box<TraceSummary>,
    /// What it says at its end.
    pub ending: TraceEnding,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about.
    pub remarks: Vec<String>,
}

/// Judges a trace by what was read of its file.
pub fn analyse_trace(run: &RunRecord, content: TraceContent) -> TraceAnalysis {
    let TraceContent { about, summary, ending, trust } = content;
    TraceAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: Precision::Exact,
        findings: findings(&summary, &about, &ending.lists),
        about,
        summary: Box::new(summary),
        ending,
        trust: run.trust.iter().cloned().chain(trust).collect(),
        remarks: run.remarks.clone(),
    }
}
