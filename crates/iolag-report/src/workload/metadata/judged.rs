//! What is told of a metadata run.

use std::io::{self, Write};

use iolag_analysis::{
    BesideAnalysis, MetadataAnalysis, Precision, RepetitionComparison, RunFindingKind, SelfReadShare,
    StageAnalysis, WorkingSet,
};
use iolag_model::{RunRecord, Trust};
use serde::Serialize;

use super::text::{metadata_text, working_set_words};
use super::verdict::metadata_verdict;
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What a metadata run says, as it stands in JSON.
#[derive(Serialize)]
struct MetadataDocument<'a> {
    schema: u32,
    precision: Precision,
    stages: &'a [StageAnalysis],
    working_set: &'a WorkingSet,
    self_read: Option<SelfReadShare>,
    repetitions: Option<RepetitionComparison>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'a BesideAnalysis>,
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
}

impl Judged for MetadataAnalysis {
    fn sentence(&self) -> Option<String> {
        Some(metadata_verdict(self))
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

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("Working set", working_set_words(&self.working_set))]
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Row::of_stages(&self.stages)
    }

    fn place_column(&self) -> (&'static str, &'static str) {
        ("Stage", "stage")
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = MetadataDocument {
            schema: self.schema,
            precision: self.precision,
            stages: &self.stages,
            working_set: &self.working_set,
            self_read: self.self_read,
            repetitions: self.repetitions,
            beside: self.beside.as_ref(),
            findings: self.findings(),
            footnotes: &self.footnotes,
            trust: &self.trust,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        metadata_text(self, width, colour)
    }
}
