//! The time of a copy against copies at once, as JSON.

use std::io::{self, Write};

use iolag_analysis::{CopiesFigure, CopiesLevel, CopiesLine, CopiesPoint, SlowestMissing};
use serde::Serialize;

use crate::text::copies_sentence;

/// Raised when a reader would misread.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    schema: u32,
    targets: Vec<TargetDocument<'a>>,
}

#[derive(Serialize)]
struct TargetDocument<'a> {
    target: &'a str,
    sentence: String,
    points: &'a [CopiesPoint],
    levels: &'a [CopiesLevel],
    line: Option<&'a CopiesLine>,
    missing: Option<SlowestMissing>,
}

/// Writes the curve of each target, indented, with a newline at the end.
///
/// # Errors
/// Those of the writer.
pub fn write_copies_json(figures: &[CopiesFigure], writer: &mut dyn Write) -> io::Result<()> {
    let targets = figures.iter().map(of_target).collect();
    let document = Document { kind: "time-against-copies", schema: SCHEMA, targets };
    serde_json::to_writer_pretty(&mut *writer, &document)?;
    writer.write_all(b"\n")
}

fn of_target(figure: &CopiesFigure) -> TargetDocument<'_> {
    let CopiesFigure { target, points, levels, line, missing } = figure;
    let (sentence, line) = (copies_sentence(figure), line.as_ref());
    TargetDocument { target, sentence, points, levels, line, missing: *missing }
}
