//! Marks on top of a time line of runs.

use std::collections::BTreeMap;

use iolag_analysis::figure::{RunFigures, TIME_COLUMNS};
use iolag_model::Outcome;

use super::hangs::Hangs;
use crate::figure::drawings::marks::{KINDS, MarkRow, MarkRows, Thinned};
use crate::figure::of_runs::choice::Line;
use crate::figure::scene::shapes::{MarkShape, Paint};

/// The marks of the lines of one of so many panels, by kind; hangs are bars.
pub(crate) fn rows_of(lines: &[&Line<'_>], hangs: &Hangs<'_>, span_ns: f64, panels: usize) -> MarkRows {
    let mut found = Thinned::new(span_ns, panels);
    for_each_mark(lines, |outcome, moment_ns, count| found.add(outcome, moment_ns, count));
    let row = |(outcome, shape, paint): (Outcome, MarkShape, Paint)| {
        let (total, moments) = found.take(outcome as u8);
        let bars = if outcome == Outcome::Hung { hangs.spans_ns().collect() } else { Vec::new() };
        let row = MarkRow::new(outcome.name(), shape, paint);
        Some(MarkRow { total, marks: vec![(paint, moments)], bars, ..row }).filter(|row| !row.is_empty())
    };
    // What iolag itself broke off says nothing of a target.
    let kinds = KINDS.into_iter().filter(|(outcome, ..)| *outcome != Outcome::Interrupted);
    MarkRows(kinds.filter_map(row).collect())
}

/// Calls `mark` with outcome, moment since the begin in ns, and count, for every mark of these lines.
pub(crate) fn for_each_mark(lines: &[&Line<'_>], mut mark: impl FnMut(u8, f64, u64)) {
    let runs: BTreeMap<usize, &RunFigures> = lines.iter().map(|line| (line.run_index, line.run)).collect();
    for (run_index, run) in runs {
        let is_chosen =
            |series: u16| lines.iter().any(|line| line.run_index == run_index && line.index == series);
        let span_ns = run.run.span_ns.0 as f64;
        let each = &run.time_line.marks.each;
        for ((time, series), outcome) in each.time.0.iter().zip(&each.series.0).zip(&each.outcome.0) {
            if is_chosen(*series) {
                mark(*outcome, f64::from(*time) / 2_f64.powi(32) * span_ns, 1);
            }
        }
        for counts in run.time_line.marks.counts.iter().filter(|counts| is_chosen(counts.series)) {
            for (column, count) in counts.counts.0.iter().enumerate().filter(|(_, count)| **count > 0) {
                let moment = (column as f64 + 0.5) / f64::from(TIME_COLUMNS) * span_ns;
                mark(counts.outcome, moment, u64::from(*count));
            }
        }
    }
}
