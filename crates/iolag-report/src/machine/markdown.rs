//! A comparison as Markdown, for a ticket.

use iolag_analysis::compare::ComparedTable;

/// Doubts as a list, then the table.
pub fn comparison_markdown(_table: &ComparedTable) -> String {
    String::new()
}
