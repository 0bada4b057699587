//! What stands first: which history it is, of which time, and how much it holds.

use iolag_analysis::history::HistoryAnalysis;
use iolag_model::{WallSpan, format_count};

use crate::text::table::{Colour, Tone};

/// What is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryHead {
    /// Where the history is, secrets removed.
    pub place: String,
    /// The time that was asked for.
    pub span: WallSpan,
}

pub(super) fn head_text(head: &HistoryHead, analysis: &HistoryAnalysis, colour: Colour) -> String {
    let mut hosts: Vec<&str> =
        analysis.series.iter().map(|one| one.summary.series.key.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let samples: u64 = analysis.series.iter().map(|one| one.summary.rates.total.slots).sum();
    let mut text = format!("{} {}\n", colour.paint(Tone::Strong, "History"), head.place);
    if let (Some(begin), Some(end)) = (analysis.begin, analysis.end) {
        text.push_str(&format!("  time    {} to {} (UTC)\n", begin.in_words(), end.in_words()));
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
