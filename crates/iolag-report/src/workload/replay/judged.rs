//! What is told of a replay.

use std::io::{self, Write};

use iolag_analysis::{
    Agreement, CopiesJudgement, CopiesTime, CopyTime, Disagreement, PayloadTimes, Precision, ReplayAnalysis,
    RunFindingKind, StageAnalysis, Void,
};
use iolag_model::{Nanoseconds, ReplayCoverage, RunRecord, Trust};
use serde::Serialize;

use super::text::{disagreements, repeated, replay_text, sentence};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};
use crate::workload::set_up::text::judged;
use crate::workload::trace::tables::TraceTable;

/// What a replay says, as it stands in JSON.
#[derive(Serialize)]
struct ReplayDocument<'a> {
    schema: u32,
    precision: Precision,
    target: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<&'a str>,
    traced_ns: Nanoseconds,
    tracing_ns: Nanoseconds,
    tasks: u32,
    time: Option<CopiesTime>,
    copies: &'a [CopyTime],
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<PayloadTimes>,
    judgement: Option<CopiesJudgement>,
    agreement: Agreement,
    disagreements: &'a [Disagreement],
    coverage: &'a ReplayCoverage,
    void: &'a [Void],
    stages: &'a [StageAnalysis],
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
}

impl Judged for ReplayAnalysis {
    fn sentence(&self) -> Option<String> {
        let judged = self.judgement.as_ref().map(judged);
        Some(std::iter::once(sentence(self)).chain(judged).collect::<Vec<_>>().join(" "))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::TimeLine
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        in_words_each(&self.findings)
    }

    fn footnotes(&self) -> &[String] {
        &self.footnotes
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("Repeated", repeated(self))]
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Row::of_stages(&self.stages)
    }

    fn lists(&self) -> Vec<TraceTable> {
        disagreements(self).into_iter().collect()
    }

    fn place_column(&self) -> (&'static str, &'static str) {
        ("Stage", "stage")
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = ReplayDocument {
            schema: self.schema,
            precision: self.precision,
            target: &self.target,
            program: self.program.as_deref(),
            traced_ns: self.traced_ns,
            tracing_ns: self.tracing_ns,
            tasks: self.tasks,
            time: self.time,
            copies: &self.copies,
            payload: self.payload,
            judgement: self.judgement,
            agreement: self.agreement,
            disagreements: &self.disagreements,
            coverage: &self.coverage,
            void: &self.void,
            stages: &self.stages,
            findings: self.findings(),
            footnotes: &self.footnotes,
            trust: &self.trust,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        replay_text(self, width, colour)
    }
}
