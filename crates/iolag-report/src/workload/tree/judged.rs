//! What is told of a tree.

use std::io::{self, Write};

use iolag_analysis::{BesideAnalysis, Precision, RunFindingKind, StageAnalysis, TreeAnalysis, TreePhase};
use iolag_model::{RunRecord, TreeRecord, Trust};
use serde::Serialize;

use super::text::{sentence, tree_text};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What a tree says, as it stands in JSON.
#[derive(Serialize)]
struct TreeDocument<'a> {
    schema: u32,
    precision: Precision,
    target: &'a str,
    tree: Option<&'a TreeRecord>,
    phases: &'a [TreePhase],
    stages: &'a [StageAnalysis],
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'a BesideAnalysis>,
}

impl Judged for TreeAnalysis {
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
        let document = TreeDocument {
            schema: self.schema,
            precision: self.precision,
            target: &self.target,
            tree: self.tree.as_ref(),
            phases: &self.phases,
            stages: &self.stages,
            findings: self.findings(),
            footnotes: &self.footnotes,
            trust: &self.trust,
            beside: self.beside.as_ref(),
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        tree_text(self, width, colour)
    }
}
