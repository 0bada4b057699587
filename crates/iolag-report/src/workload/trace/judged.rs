//! What is told of a trace.

use std::io::{self, Write};

use iolag_analysis::{RunFindingKind, TraceAnalysis};
use iolag_model::{RunRecord, TraceAbout, TraceBranch, TraceEnding, TraceSummary, Trust};
use serde::Serialize;

use super::over_time::OverTime;
use super::tables::{TraceTable, tables};
use super::text::{answer, facts, trace_text, where_time_went};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{FindingGroup, Judged, Row};

/// What `iolag trace` found out, as it stands in JSON.
#[derive(Serialize)]
struct TraceDocument<'a> {
    schema: u32,
    answer: String,
    about: &'a TraceAbout,
    findings: Vec<FindingInWords<RunFindingKind>>,
    summary: &'a TraceSummary,
    ending: &'a TraceEnding,
    trust: &'a [Trust],
    remarks: &'a [String],
}

impl Judged for TraceAnalysis {
    fn sentence(&self) -> Option<String> {
        let answer = answer(self, self.findings().first());
        Some(format!("{answer} {}", where_time_went(self)))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::TimeLine
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        in_words_each(&self.findings)
    }

    /// The first is the answer.
    fn told_findings(&self) -> Vec<FindingGroup<'_>> {
        vec![(None, self.findings().into_iter().skip(1).collect())]
    }

    fn is_inconspicuous(&self) -> bool {
        self.findings.is_empty()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        facts(self)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        Vec::new()
    }

    fn method(&self) -> Option<&'static str> {
        Some(
            "Every call that strace saw was counted; how long it took is what strace says. Between calls a program is on the processor, waits for \
             one or for a lock, or reads pages of mapped files. Operations of io_uring are not seen.",
        )
    }

    fn lists(&self) -> Vec<TraceTable> {
        tables(self)
    }

    fn over_time(&self) -> Option<OverTime<'_>> {
        OverTime::of(&self.summary)
    }

    fn tree(&self) -> &[TraceBranch] {
        &self.summary.tree
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = TraceDocument {
            schema: self.schema,
            answer: answer(self, self.findings().first()),
            about: &self.about,
            findings: self.findings(),
            summary: &self.summary,
            ending: &self.ending,
            trust: &self.trust,
            remarks: &self.remarks,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        trace_text(self, width, colour)
    }
}
