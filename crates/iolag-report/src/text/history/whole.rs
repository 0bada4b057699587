//! All of it, in its order.

use iolag_analysis::history::HistoryAnalysis;
use iolag_model::WallSpan;

use super::head::{HistoryHead, head_text};
use super::page::Page;
use crate::finding::history::findings_in_words;
use crate::text::findings::findings_text;
use crate::text::table::Colour;
use crate::words::names::Names;

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
    text.push_str(&page.by_day_text());
    text.push_str(&page.host_rankings_text());
    text.push_str(&findings_text(None, &findings_in_words(analysis), width, colour));
    text
}

impl Page<'_> {
    fn nothing(&self, head: &HistoryHead) -> String {
        let advice = if head.span == WallSpan::ALL {
            "measure with `iolag watch`, or bring measurements with `iolag import FILE`"
        } else {
            "ask for more time with --since and --until"
        };
        self.item(0, &format!("There is no sample in it: {advice}."))
    }
}
