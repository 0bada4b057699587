//! A comparison as CSV (RFC 4180): a line for each cell.

use iolag_analysis::compare::ComparedTable;

/// Names in the first line, then a line for each other side of each row.
pub fn comparison_csv(_table: &ComparedTable) -> String {
    String::new()
}
