//! A check as it stands in JSON: the analysis, and in place of what was found its words.

use iolag_analysis::{
    CheckAnalysis, DirectoryAnalysis, PartialCreate, Precision, RunFindingKind, Summary, Verdict,
};
use iolag_model::{Nanoseconds, TargetIndex, Trust};
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
    footnotes: &'a [String],
    trust: &'a [Trust],
    remarks: &'a [String],
}

#[derive(Serialize)]
struct DirectoryDocument<'a> {
    target: TargetIndex,
    name: &'a str,
    file_system: &'a Option<String>,
    unanswered_ns: Option<Nanoseconds>,
    summaries: &'a [Summary],
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_create: Option<PartialCreate>,
    verdict: &'a Verdict,
    findings: Vec<FindingInWords<RunFindingKind>>,
}

impl<'a> From<&'a CheckAnalysis> for CheckDocument<'a> {
    fn from(analysis: &'a CheckAnalysis) -> Self {
        let CheckAnalysis { schema, precision, ranking, directories, control, footnotes, trust, remarks } =
            analysis;
        Self {
            schema: *schema,
            precision: *precision,
            ranking,
            directories: directories.iter().map(Into::into).collect(),
            control: control.as_ref().map(Into::into),
            footnotes,
            trust,
            remarks,
        }
    }
}

impl<'a> From<&'a DirectoryAnalysis> for DirectoryDocument<'a> {
    fn from(analysis: &'a DirectoryAnalysis) -> Self {
        let DirectoryAnalysis { target, name, file_system, unanswered_ns, .. } = analysis;
        let DirectoryAnalysis { summaries, partial_create, verdict, findings, .. } = analysis;
        Self {
            target: *target,
            name,
            file_system,
            unanswered_ns: *unanswered_ns,
            summaries,
            partial_create: *partial_create,
            verdict,
            findings: in_words_each(findings),
        }
    }
}
