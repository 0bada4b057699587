//! What a page is about.

use iolag_analysis::history::HistoryAnalysis;
use iolag_model::WallTime;

use crate::text::HistoryHead;
use crate::words::names::Names;

/// What a page is about.
#[derive(Debug, Clone, Copy)]
pub struct HistoryReport<'a> {
    /// The title; absent for one made from the history.
    pub title: Option<&'a str>,
    /// Where the history is, and the time that was asked for.
    pub head: &'a HistoryHead,
    /// Name of the zone by which the analysis tells days and hours.
    pub zone: &'a str,
    /// What was found out.
    pub analysis: &'a HistoryAnalysis,
    /// When the page is written; absent leaves it out.
    pub written: Option<WallTime>,
}

impl HistoryReport<'_> {
    pub(super) fn names(&self) -> Names {
        Names::of(self.analysis)
    }
}
