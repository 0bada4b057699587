//! What is told of a set-up.

use std::io::{self, Write};

use iolag_analysis::{
    BesideAnalysis, CopiesJudgement, CopiesTime, CopyTime, PayloadTimes, Precision, ProcessorShare,
    RunFindingKind, SetUpAnalysis, SetUpCalls, StageAnalysis,
};
use iolag_model::{RunRecord, Trust};
use serde::Serialize;

use super::text::{judged, sentence, set_up_text};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What a set-up says, as it stands in JSON.
#[derive(Serialize)]
struct SetUpDocument<'a> {
    schema: u32,
    precision: Precision,
    target: &'a str,
    calls: SetUpCalls,
    time: Option<CopiesTime>,
    processors: Option<ProcessorShare>,
    copies: &'a [CopyTime],
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<PayloadTimes>,
    judgement: Option<CopiesJudgement>,
    stages: &'a [StageAnalysis],
    assumed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    beside: Option<&'a BesideAnalysis>,
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
}

impl Judged for SetUpAnalysis {
    fn sentence(&self) -> Option<String> {
        let judged = self.judgement.as_ref().map(judged);
        Some(std::iter::once(sentence(self)).chain(judged).collect::<Vec<_>>().join(" "))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::TimeLine
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
        vec![("Assumed", self.assumed.join("; "))]
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Row::of_stages(&self.stages)
    }

    fn place_column(&self) -> (&'static str, &'static str) {
        ("Stage", "stage")
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = SetUpDocument {
            schema: self.schema,
            precision: self.precision,
            target: &self.target,
            calls: self.calls,
            time: self.time,
            processors: self.processors,
            copies: &self.copies,
            payload: self.payload,
            judgement: self.judgement,
            stages: &self.stages,
            assumed: &self.assumed,
            beside: self.beside.as_ref(),
            findings: self.findings(),
            footnotes: &self.footnotes,
            trust: &self.trust,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        set_up_text(self, width, colour)
    }
}
