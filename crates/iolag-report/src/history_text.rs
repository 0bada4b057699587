//! What a history means, on a terminal: `iolag show history`. And the same as a document.
//!
//! ```text
//! head -> tables of durations, shares, endings, values -> outages, events, changes -> correlations, covariates, places -> findings
//! ```
//!
//! Moments are UTC. Names of hosts are told where there are several.

pub(crate) mod comparisons;
pub(crate) mod correlations;
mod in_time;
pub(crate) mod series;
pub(crate) mod strata;
pub(crate) mod time_spent;

use std::io::{self, Write};

use iolag_analysis::history::HistoryAnalysis;
use iolag_model::{WallSpan, format_count};
use serde::Serialize;

use crate::findings_text::findings_text;
use crate::table::{Colour, Tone, wrapped};
use crate::words::history::{Names, moment};

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryHead {
    /// Where the history is, secrets removed.
    pub place: String,
    /// The time that was asked for.
    pub span: WallSpan,
}

/// Renders a history for a terminal of `width` columns (at least 80 are assumed).
pub fn history_text(head: &HistoryHead, analysis: &HistoryAnalysis, width: usize, colour: Colour) -> String {
    let mut text = head_text(head, analysis, colour);
    let page = Page { analysis, names: Names::of(analysis), width, colour };
    if analysis.series.is_empty() {
        text.push_str(&page.nothing(head));
    }
    text.push_str(&page.series_text());
    text.push_str(&page.outages_text());
    text.push_str(&page.events_text());
    text.push_str(&page.changes_text());
    text.push_str(&page.correlations_text());
    text.push_str(&page.strata_text());
    text.push_str(&page.comparisons_text());
    let findings: Vec<_> = analysis.findings_told().into_iter().map(|finding| finding.finding).collect();
    text.push_str(&findings_text(None, &findings, width, colour));
    text
}

/// What every part of the text needs.
struct Page<'a> {
    analysis: &'a HistoryAnalysis,
    names: Names,
    width: usize,
    colour: Colour,
}

impl Page<'_> {
    fn heading(&self, title: &str, explanation: &str) -> String {
        let explanation = if explanation.is_empty() { String::new() } else { format!(" ({explanation})") };
        let heading = wrapped(&format!("{title}{explanation}"), self.width, "");
        // Only the title is marked, wherever the explanation was broken.
        format!("\n{}\n\n", heading.replacen(title, &self.colour.paint(Tone::Strong, title), 1))
    }

    /// A line of a list, broken if it is too long.
    fn item(&self, indent: usize, text: &str) -> String {
        let further = " ".repeat(indent + 4);
        format!("{}\n", wrapped(&format!("{}{text}", " ".repeat(indent)), self.width, &further))
    }

    fn nothing(&self, head: &HistoryHead) -> String {
        let advice = if head.span == WallSpan::ALL {
            "measure with `iolag watch`, or bring measurements with `iolag import FILE`"
        } else {
            "ask for more time with --since and --until"
        };
        self.item(0, &format!("There is no sample in it: {advice}."))
    }
}

fn head_text(head: &HistoryHead, analysis: &HistoryAnalysis, colour: Colour) -> String {
    let mut hosts: Vec<&str> =
        analysis.series.iter().map(|one| one.summary.series.key.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let samples: u64 = analysis.series.iter().map(|one| one.summary.rates.total.slots).sum();
    let mut text = format!("{} {}\n", colour.paint(Tone::Strong, "History"), head.place);
    if let (Some(begin), Some(end)) = (analysis.begin, analysis.end) {
        text.push_str(&format!("  time    {} to {} (UTC)\n", moment(begin), moment(end)));
    }
    let hosts = match hosts.as_slice() {
        [host] => format!("from {host}"),
        several => format!("from {} hosts", several.len()),
    };
    let counted = |count: usize, noun: &str| {
        format!("{} {noun}{}", format_count(count as u64), if count == 1 { "" } else { "s" })
    };
    text.push_str(&format!(
        "  holds   {} in {} {hosts}, {}, {}\n",
        counted(samples as usize, "sample"),
        match analysis.series.len() {
            1 => "1 series".to_owned(),
            count => format!("{count} series"),
        },
        counted(analysis.events.len(), "event"),
        counted(analysis.outages.len(), "outage")
    ));
    text
}

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    history: &'a str,
    asked: Asked,
    #[serde(flatten)]
    analysis: &'a HistoryAnalysis,
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
    let document = Document { kind: "history", history: &head.place, asked, analysis };
    serde_json::to_writer_pretty(&mut *writer, &document)?;
    writer.write_all(b"\n")
}
