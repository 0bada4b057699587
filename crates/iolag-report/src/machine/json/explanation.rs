//! An explanation as a document.

use std::io::{self, Write};

use iolag_analysis::{CommandExplanation, RunFindingKind};
use iolag_model::{
    Explanation, ExplanationWord, Nanoseconds, Part, SearchPath, SeenCommand, TraceLookups, TraceVain,
};
use serde::Serialize;

use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;

/// Raised when a reader would misread.
const SCHEMA: u32 = 1;
const KIND: &str = "explanation";

#[derive(Serialize)]
struct Document<'a> {
    kind: &'static str,
    schema: u32,
    #[serde(flatten)]
    explanation: &'a Explanation,
}

#[derive(Serialize)]
struct CommandDocument<'a> {
    kind: &'static str,
    schema: u32,
    seen: &'a SeenCommand,
    word: &'a ExplanationWord,
    subject: &'static str,
    took_ns: Nanoseconds,
    parts: &'a [Part],
    lookups: TraceLookups,
    search_paths: &'a [SearchPath],
    in_vain: &'a TraceVain,
    findings: Vec<FindingInWords<RunFindingKind>>,
}

/// Writes the explanation of a directory as a JSON document, with everything that was seen.
///
/// # Errors
/// Those of the writer.
pub fn write_explanation_json(explanation: &Explanation, writer: &mut dyn Write) -> io::Result<()> {
    write(&Document { kind: KIND, schema: SCHEMA, explanation }, writer)
}

/// Writes that of a command, with what matters of its trace.
///
/// # Errors
/// Those of the writer.
pub fn write_command_explanation_json(
    explanation: &CommandExplanation,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let CommandExplanation { seen, word, took_ns, parts, findings } = explanation;
    let document = CommandDocument {
        kind: KIND,
        schema: SCHEMA,
        seen,
        word,
        subject: "command",
        took_ns: *took_ns,
        parts,
        lookups: seen.summary.lookups,
        search_paths: &seen.summary.search_paths,
        in_vain: &seen.summary.in_vain,
        findings: in_words_each(findings),
    };
    write(&document, writer)
}

fn write(document: &impl Serialize, writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, document)?;
    writer.write_all(b"\n")
}
