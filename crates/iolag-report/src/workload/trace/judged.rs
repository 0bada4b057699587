//! What is told of a trace.

use std::io::{self, Write};

use iolag_analysis::{RunFindingKind, TraceAnalysis};
use iolag_model::{RunRecord, TraceAbout, TraceSummary, Trust};
use serde::Serialize;

use super::text::{in_a_sentence, trace_text};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What `iolag trace` found out, as it stands in JSON.
#[derive(Serialize)]
struct TraceDocument<'a> {
    schema: u32,
    about: &'a TraceAbout,
    findings: Vec<FindingInWords<RunFindingKind>>,
    summary: &'a TraceSummary,
    trust: &'a [Trust],
    remarks: &'a [String],
}

impl Judged for TraceAnalysis {
    fn sentence(&self) -> Option<String> {
        Some(in_a_sentence(&self.summary))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::TimeLine
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        in_words_each(&self.findings)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Vec::new()
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = TraceDocument {
            schema: self.schema,
            about: &self.about,
            findings: self.findings(),
            summary: &self.summary,
            trust: &self.trust,
            remarks: &self.remarks,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        trace_text(self, width, colour)
    }
}
