//! What a page is about.

use iolag_analysis::RunAnalysis;
use iolag_analysis::compare::ComparedTable;
use iolag_model::RunRecord;

/// A run and what was found out about it.
#[derive(Debug, Clone, Copy)]
pub struct ReportedRun<'a> {
    /// The run.
    pub record: &'a RunRecord,
    /// What was found out about it.
    pub analysis: &'a RunAnalysis,
}

/// What a page is about.
#[derive(Debug, Clone, Copy)]
pub struct HtmlReport<'a> {
    /// The title; absent for one made from the runs.
    pub title: Option<&'a str>,
    /// The runs, in the order in which they are to be shown; also that of the figures' runs.
    pub runs: &'a [ReportedRun<'a>],
    /// The comparison of their sides, if they are of a campaign that has several; the page begins with it.
    pub comparison: Option<&'a ComparedTable>,
    /// When the page is written, in ns since 1970; absent leaves it out.
    pub written_realtime_ns: Option<u64>,
}
