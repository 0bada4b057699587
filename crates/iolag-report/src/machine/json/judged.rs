//! What is judged of a run, as it stands in JSON: the analysis, and in place of what was found its words.

use iolag_analysis::{
    CheckAnalysis, DirectoryAnalysis, MetadataAnalysis, PartialCreate, PingAnalysis, PingCounts, Precision,
    RepetitionComparison, RunFindingKind, SelfReadShare, StageAnalysis, Summary, Verdict, WorkingSet,
};
use iolag_model::{Nanoseconds, TargetIndex, Trust};
use serde::Serialize;

use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;

type Findings = Vec<FindingInWords<RunFindingKind>>;

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
    findings: Findings,
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

/// What a metadata run says.
#[derive(Serialize)]
pub(super) struct MetadataDocument<'a> {
    schema: u32,
    precision: Precision,
    stages: &'a [StageAnalysis],
    working_set: &'a WorkingSet,
    self_read: Option<SelfReadShare>,
    repetitions: Option<RepetitionComparison>,
    findings: Findings,
    footnotes: &'a [String],
    trust: &'a [Trust],
}

impl<'a> From<&'a MetadataAnalysis> for MetadataDocument<'a> {
    fn from(analysis: &'a MetadataAnalysis) -> Self {
        let MetadataAnalysis { schema, precision, stages, working_set, self_read, .. } = analysis;
        let MetadataAnalysis { repetitions, findings, footnotes, trust, .. } = analysis;
        Self {
            schema: *schema,
            precision: *precision,
            stages,
            working_set,
            self_read: *self_read,
            repetitions: *repetitions,
            findings: in_words_each(findings),
            footnotes,
            trust,
        }
    }
}

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
    findings: Findings,
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
