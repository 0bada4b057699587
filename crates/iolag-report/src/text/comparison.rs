//! `iolag compare`: sides against the first of them, a row for each thing that all have in common.

use iolag_analysis::compare::ComparedTable;

use super::table::Colour;

/// The whole answer: what is compared, what to know before it is believed, the table, the others among themselves, what is left out.
pub fn comparison_text(table: &ComparedTable, _width: usize, _colour: Colour) -> String {
    format!("Speed in percent of {}", table.sides.first().map_or("", |side| side.name.as_str()))
}
