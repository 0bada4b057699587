//! What a page is about.

use iolag_analysis::compare::ComparedTable;

use crate::figure::SideCurve;

/// What the page of a comparison is about.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonReport<'a> {
    /// The title; absent for one made from the sides.
    pub title: Option<&'a str>,
    /// The comparison.
    pub table: &'a ComparedTable,
    /// The durations of single runs; without them the page has no curves.
    pub curves: &'a [SideCurve],
    /// The command that makes it again, as it was typed; may be empty.
    pub command: &'a [String],
    /// When the page is written, in ns since 1970; absent leaves it out.
    pub written_realtime_ns: Option<u64>,
}
