//! A ping as it stands in JSON: the analysis, and in place of what was found its words.

use iolag_analysis::{PingAnalysis, PingCounts, Precision, RunFindingKind, Summary};
use iolag_model::{Nanoseconds, Trust};
use serde::Serialize;

use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;

/// What `iolag ping` found out.
#[derive(Serialize)]
pub(super) struct PingDocument<'a> {
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

impl<'a> From<&'a PingAnalysis> for PingDocument<'a> {
    fn from(analysis: &'a PingAnalysis) -> Self {
        let PingAnalysis { schema, precision, target, file_system, every_ns, deadline_ns, .. } = analysis;
        let PingAnalysis { probes, summaries, findings, trust, remarks, .. } = analysis;
        Self {
            schema: *schema,
            precision: *precision,
            target,
            file_system,
            every_ns: *every_ns,
            deadline_ns: *deadline_ns,
            probes: *probes,
            summaries,
            findings: in_words_each(findings),
            trust,
            remarks,
        }
    }
}
