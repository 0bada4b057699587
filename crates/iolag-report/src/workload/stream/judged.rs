//! What is told of a stream.

use std::io::{self, Write};

use iolag_analysis::{
    BesideAnalysis, Precision, RunFindingKind, StageAnalysis, StreamAnalysis, StreamCopies, StreamPhase,
};
use iolag_model::{RunRecord, Trust};
use serde::Serialize;

use super::text::{sentence, stream_text};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What a stream says, as it stands in JSON.
#[derive(Serialize)]
struct StreamDocument<'a> {
    schema: u32,
    precision: Precision,
    target: &'a str,
    phases: &'a [StreamPhase],
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<StreamCopies>,
    stages: &'a [StageAnalysis],
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'a BesideAnalysis>,
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
}

impl Judged for StreamAnalysis {
    fn sentence(&self) -> Option<String> {
        Some(sentence(self))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::Rates
    }

    fn beside(&self) -> Option<&BesideAnalysis> {
        self.beside.as_ref()
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        in_words_each(&self.findings)
    }

    fn footnotes(&self) -> &[String] {
        &self.footnotes
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Row::of_stages(&self.stages)
    }

    fn place_column(&self) -> (&'static str, &'static str) {
        ("Stage", "stage")
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = StreamDocument {
            schema: self.schema,
            precision: self.precision,
            target: &self.target,
            phases: &self.phases,
            copies: self.copies,
            stages: &self.stages,
            beside: self.beside.as_ref(),
            findings: self.findings(),
            footnotes: &self.footnotes,
            trust: &self.trust,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        stream_text(self, width, colour)
    }
}
