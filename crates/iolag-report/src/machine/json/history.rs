//! Histories as JSON: what they mean, and what was noted and imported.

use std::io::{self, Write};

use iolag_analysis::history::{HistoryAnalysis, HistoryFinding, HistoryFindingKind};
use iolag_model::{BatchContent, Event, SeriesKey, WallSpan};
use serde::Serialize;

use crate::finding::history::each_finding_in_words;
use crate::finding::in_words::FindingInWords;
use crate::text::HistoryHead;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    history: &'a str,
    asked: Asked,
    #[serde(flatten)]
    analysis: &'a HistoryAnalysis,
    findings: Vec<FindingOfSeries<'a>>,
}

/// A finding with the series that it concerns, and when; absent for what concerns the whole time.
#[derive(Serialize)]
struct FindingOfSeries<'a> {
    #[serde(flatten)]
    words: FindingInWords<HistoryFindingKind>,
    series: &'a [SeriesKey],
    span: Option<WallSpan>,
}

/// The time that was asked for; an end that is absent is open.
#[derive(Serialize)]
struct Asked {
    since: Option<i64>,
    until: Option<i64>,
}

/// Writes a history as a document, indented, with a newline at the end; docs/json.md explains it.
///
/// # Errors
/// Those of the writer.
pub fn write_history_json(
    head: &HistoryHead,
    analysis: &HistoryAnalysis,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let WallSpan { begin, end } = head.span;
    let asked = Asked {
        since: (begin != WallSpan::ALL.begin).then_some(begin.0),
        until: (end != WallSpan::ALL.end).then_some(end.0),
    };
    let told = analysis.findings.iter().zip(each_finding_in_words(analysis));
    let with_series = told.map(|(HistoryFinding { series, span, .. }, words)| FindingOfSeries {
        words,
        series,
        span: *span,
    });
    let findings = with_series.collect();
    let document = Document { kind: "history", history: &head.place, asked, analysis, findings };
    serde_json::to_writer_pretty(&mut *writer, &document)?;
    writer.write_all(b"\n")
}

/// The notes and events of a history as an array of JSON, as in an export.
///
/// # Errors
/// Those of the writer.
pub fn write_notes_json(events: &[Event], writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, events)?;
    writer.write_all(b"\n")
}

/// The imports of a history as an array of JSON: all that is known of each, with how many of its samples count.
///
/// # Errors
/// Those of the writer.
pub fn write_batches_json(batches: &[BatchContent], writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, batches)?;
    writer.write_all(b"\n")
}
