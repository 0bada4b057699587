//! A check as it stands in JSON: the analysis, and in place of what was found its words.

use iolag_analysis::{
    CheckAnalysis, DirectoryAnalysis, PartialCreate, Precision, RunFindingKind, Summary, Verdict,
};
use iolag_model::{Nanoseconds, ServerRecord, TargetIndex, Trust};
use serde::Serialize;

use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;

/// What `iolag check` found out.
#[derive(Serialize)]
pub(super) struct CheckDocument<'a> {
    schema: u32,
    precision: Precision,
    ranking: &'a Option<String>,
    directories: Vec<DirectoryDocument<'a>>,
    control: Option<DirectoryDocument<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingInWords<RunFindingKind>>,
    footnotes: &'a [String],
    trust: &'a [Trust],
    remarks: &'a [String],
}

#[derive(Serialize)]
struct DirectoryDocument<'a> {
    target: TargetIndex,
    name: &'a str,
    file_system: &'a Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a ServerRecord>,
    unanswered_ns: Option<Nanoseconds>,
    summaries: &'a [Summary],
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_create: Option<PartialCreate>,
    verdict: &'a Verdict,
    findings: Vec<FindingInWords<RunFindingKind>>,
}

impl<'a> From<&'a CheckAnalysis> for CheckDocument<'a> {
    fn from(analysis: &'a CheckAnalysis) -> Self {
        Self {
            schema: analysis.schema,
            precision: analysis.precision,
            ranking: &analysis.ranking,
            directories: analysis.directories.iter().map(Into::into).collect(),
            control: analysis.control.as_ref().map(Into::into),
            findings: in_words_each(&analysis.findings),
            footnotes: &analysis.footnotes,
            trust: &analysis.trust,
            remarks: &analysis.remarks,
        }
    }
}

impl<'a> From<&'a DirectoryAnalysis> for DirectoryDocument<'a> {
    fn from(directory: &'a DirectoryAnalysis) -> Self {
        Self {
            target: directory.target,
            name: &directory.name,
            file_system: &directory.file_system,
            server: directory.server.as_ref(),
            unanswered_ns: directory.unanswered_ns,
            summaries: &directory.summaries,
            partial_create: directory.partial_create,
            verdict: &directory.verdict,
            findings: in_words_each(&directory.findings),
        }
    }
}
