//! What every part of the text on a history needs, and the forms that it has in common with the others.

use iolag_analysis::history::HistoryAnalysis;

use crate::text::table::{Colour, Tone, wrapped};
use crate::words::names::Names;

/// What every part needs.
pub(super) struct Page<'a> {
    pub(super) analysis: &'a HistoryAnalysis,
    pub(super) names: Names,
    pub(super) width: usize,
    pub(super) colour: Colour,
}

impl Page<'_> {
    pub(super) fn heading(&self, title: &str, explanation: &str) -> String {
        let explanation = if explanation.is_empty() { String::new() } else { format!(" ({explanation})") };
        let heading = wrapped(&format!("{title}{explanation}"), self.width, "");
        // Only the title is marked, wherever the explanation was broken.
        format!("\n{}\n\n", heading.replacen(title, &self.colour.paint(Tone::Strong, title), 1))
    }

    /// A line of a list, broken if it is too long.
    pub(super) fn item(&self, indent: usize, text: &str) -> String {
        let further = " ".repeat(indent + 4);
        format!("{}\n", wrapped(&format!("{}{text}", " ".repeat(indent)), self.width, &further))
    }
}
