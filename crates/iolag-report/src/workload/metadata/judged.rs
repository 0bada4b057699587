//! What is told of a metadata run.

use std::io::{self, Write};

use iolag_analysis::{MetadataAnalysis, RunFindingKind, StageAnalysis, stage_name};
use iolag_model::RunRecord;

use super::document::MetadataDocument;
use super::text::{metadata_text, working_set_words};
use super::verdict::metadata_verdict;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::html::markup::Markup;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

impl Judged for MetadataAnalysis {
    fn verdict(&self, page: &mut Markup) {
        page.raw("<p class=\"lede\">").prose(&metadata_verdict(self)).raw("</p>\n");
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

    fn rows<'a>(&'a self) -> Vec<Row<'a>> {
        let of_stage = |stage: &'a StageAnalysis| {
            let place = stage_name(stage.phase, stage.iteration);
            stage.rows.iter().map(move |row| Row {
                place: place.clone(),
                summary: &row.summary,
                per_second: Some(row.per_second),
                partial: None,
            })
        };
        self.stages.iter().flat_map(of_stage).collect()
    }

    fn place_column(&self) -> (&'static str, &'static str) {
        ("Stage", "stage")
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        write_document(run, &MetadataDocument::from(self), writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        metadata_text(self, width, colour)
    }
}
