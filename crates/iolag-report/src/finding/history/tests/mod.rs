//! What is told of histories that were made up.

mod bad_times;
mod bad_together;
mod changes;
mod correlations;
mod drifts;
mod endings;
mod places;
mod single_series;
mod tails;
mod together;

use iolag_analysis::Severity;
use iolag_analysis::history::{
    HistoryAnalysis, HistoryFindingKind as FindingKind, HistoryInput, HistoryOptions, analyse_history,
};
use iolag_fixtures::made_up_series::{DAY, columns_of, imported, levels, series_of};
use iolag_model::{
    Event, EventSource, Evidence, HistoryColumns, Outage, OutageKind, Outcome, ProbeId, Random, Series,
    SeriesKind, WallTime,
};

use super::{each_finding_in_words, findings_in_words};
use crate::finding::in_words;

type FindingInWords = in_words::FindingInWords<FindingKind>;

/// Every finding by itself.
fn told_of(input: &HistoryInput) -> Vec<FindingInWords> {
    each_finding_in_words(&analyse_history(input, &HistoryOptions::default()))
}

/// Those of this kind, of these series.
fn told_of_kind(kind: FindingKind, series: Vec<(Series, HistoryColumns)>) -> Vec<FindingInWords> {
    let told = told_of(&HistoryInput { series, ..HistoryInput::default() });
    told.into_iter().filter(|one| one.kind == kind).collect()
}

/// The analysis of quarter hours of `list` on /home with this level in seconds, and what is told of changes.
fn changes_of(slots: i64, level: impl Fn(i64) -> f64) -> (HistoryAnalysis, Vec<FindingInWords>) {
    let input = HistoryInput { series: vec![levels(slots, level)], ..HistoryInput::default() };
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let told = each_finding_in_words(&analysis).into_iter().filter(|one| one.kind == FindingKind::Change);
    let told = told.collect();
    (analysis, told)
}
