//! What a page is about.

use iolag_model::RunRecord;

use crate::judged::Judged;

/// A run and what was found out about it.
#[derive(Debug, Clone, Copy)]
pub struct ReportedRun<'a> {
    /// The run.
    pub record: &'a RunRecord,
    /// Its analysis.
    pub judged: Judged<'a>,
}

/// What a page is about.
#[derive(Debug, Clone, Copy)]
pub struct HtmlReport<'a> {
    /// The title; absent for one made from the runs.
    pub title: Option<&'a str>,
    /// The runs, in the order in which they are to be shown; also that of the figures' runs.
    pub runs: &'a [ReportedRun<'a>],
    /// When the page is written, in ns since 1970; absent leaves it out.
    pub written_realtime_ns: Option<u64>,
}
