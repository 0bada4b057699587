//! Findings about slow changes, which have no date, and about what a short record cannot tell from the clock.

use crate::finding::Severity;
use crate::finding::of_histories::{DriftFound, HistoryFinding, HistoryFound, RecordTooShort};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::ChangeShape;
use crate::history::changes::direction::Direction;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;

/// The least that people feel, in seconds (Miller 1968).
pub(crate) const FELT_SECONDS: f64 = 0.1;

pub(crate) fn findings_of_drifts(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let of_series = || analysis.series.iter().filter(|of| of.summary.series.key.part.is_empty());
    of_series().filter_map(drift).chain(of_series().filter_map(too_short)).collect()
}

fn drift(of: &SeriesAnalysis) -> Option<HistoryFinding> {
    let (drift, quantity) = (of.drift?, of.summary.quantity);
    let ratio = drift.ratio.value.filter(|ratio| *ratio > 0.0)?;
    let is_felt = quantity != Quantity::Duration || drift.median_last >= FELT_SECONDS;
    let is_felt = is_felt && Direction { quantity, is_up: ratio > 1.0 }.is_slower();
    let severity = if is_felt { Severity::Warning } else { Severity::Note };
    let finding = HistoryFinding::new(HistoryFound::Drift(DriftFound { quantity, drift, ratio }), severity);
    Some(finding.of([&of.summary.series.key]).sized(ratio.ln().abs()))
}

/// What looked like a change and is none, where something was refused for that reason. Beside a change that is told it would read as a doubt about
/// that one.
fn too_short(of: &SeriesAnalysis) -> Option<HistoryFinding> {
    let refused = of.not_told.iter().filter(|_| of.changes.is_empty());
    let clock = refused.map(|one| one.shape).find_map(|shape| match shape {
        ChangeShape::TimeOfDay => Some(RecordTooShort::TimeOfDay),
        ChangeShape::TimeOfWeek => Some(RecordTooShort::TimeOfWeek),
        _ => None,
    })?;
    let finding = HistoryFinding::new(HistoryFound::RecordTooShort(clock), Severity::Note);
    Some(finding.of([&of.summary.series.key]))
}
