//! A metadata run as it stands in JSON: the analysis, and in place of what was found its words.

use iolag_analysis::{
    MetadataAnalysis, Precision, RepetitionComparison, RunFindingKind, SelfReadShare, StageAnalysis,
    WorkingSet,
};
use iolag_model::Trust;
use serde::Serialize;

use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;

/// What a metadata run says.
#[derive(Serialize)]
pub(super) struct MetadataDocument<'a> {
    schema: u32,
    precision: Precision,
    stages: &'a [StageAnalysis],
    working_set: &'a WorkingSet,
    self_read: Option<SelfReadShare>,
    repetitions: Option<RepetitionComparison>,
    findings: Vec<FindingInWords<RunFindingKind>>,
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
