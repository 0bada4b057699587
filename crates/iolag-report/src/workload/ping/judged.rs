//! What is told of a ping.

use std::io::{self, Write};

use iolag_analysis::{PingAnalysis, PingCounts, Precision, RunFindingKind, Summary, capitalised};
use iolag_model::{Nanoseconds, Operation, RunRecord, Trust};
use serde::Serialize;

use super::text::{ping_text, probes_in_words};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::machine::json::run::write_document;
use crate::text::table::Colour;
use crate::words::estimates::quantile;
use crate::workload::check::text::CheckRows;
use crate::workload::judged::{Judged, Row};

/// What `iolag ping` found out, as it stands in JSON.
#[derive(Serialize)]
struct PingDocument<'a> {
    schema: u32,
    precision: Precision,
    target: &'a str,
    file_system: &'a Option<String>,
    every_ns: Nanoseconds,
    deadline_ns: Nanoseconds,
    probes: PingCounts,
    summaries: &'a [Summary],
    findings: Vec<FindingInWords<RunFindingKind>>,
    trust: &'a [Trust],
    remarks: &'a [String],
}

impl Judged for PingAnalysis {
    fn sentence(&self) -> Option<String> {
        Some(ping_verdict(self))
    }

    fn figure(&self) -> FigureKind {
        FigureKind::TimeLine
    }

    fn findings(&self) -> Vec<FindingInWords<RunFindingKind>> {
        in_words_each(&self.findings)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let row = |summary| Row { place: self.target.clone(), summary, per_second: None, partial: None };
        self.summaries.iter().map(row).collect()
    }

    /// What belongs to the probe is told from what does not.
    fn operation_name(&self, operation: Operation) -> &'static str {
        match operation {
            Operation::Probe => "whole probe",
            Operation::Delete => "delete (not in the probe)",
            _ => operation.name(),
        }
    }

    fn write_json(&self, run: &RunRecord, writer: &mut dyn Write) -> io::Result<()> {
        let document = PingDocument {
            schema: self.schema,
            precision: self.precision,
            target: &self.target,
            file_system: &self.file_system,
            every_ns: self.every_ns,
            deadline_ns: self.deadline_ns,
            probes: self.probes,
            summaries: &self.summaries,
            findings: self.findings(),
            trust: &self.trust,
            remarks: &self.remarks,
        };
        write_document(run, &document, writer)
    }

    fn text(&self, _rows: CheckRows, width: usize, colour: Colour) -> String {
        ping_text(self, width, colour)
    }
}

/// `3 probes: 2 answered, 1 lost (1 late). A whole probe took 1.20 ms (median), at most 1.50 s.`
fn ping_verdict(analysis: &PingAnalysis) -> String {
    let counts = capitalised(&probes_in_words(analysis.probes));
    let whole = analysis.summaries.iter().find(|summary| summary.key.operation == Operation::Probe);
    match whole.map(|whole| &whole.durations).filter(|durations| durations.count > 0) {
        Some(durations) => format!(
            "{counts}. A whole probe took {} (median), the longest {}.",
            quantile(durations.median.value),
            quantile(durations.max)
        ),
        None => format!("{counts}."),
    }
}
