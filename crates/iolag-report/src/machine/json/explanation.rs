//! An explanation as a document.

use std::io::{self, Write};

use iolag_model::Explanation;
use serde::Serialize;

/// Raised when a reader would misread.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    schema: u32,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

/// Writes an explanation as a JSON document, with everything that was seen.
///
/// # Errors
/// Those of the writer.
pub fn write_explanation_json(explanation: &Explanation, writer: &mut dyn Write) -> io::Result<()> {
    let document = Document { kind: "explanation", schema: SCHEMA, explanation };
    serde_json::to_writer_pretty(&mut *writer, &document)?;
    writer.write_all(b"\n")
}
