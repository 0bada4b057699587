//! A finding with its sentence and its advice, from whatever was found.

use std::borrow::Cow;

use iolag_analysis::history::{FindingKind, HistoryAnalysis, HistoryFinding, ToldFinding};
use iolag_analysis::{Evidence, Severity, whatever_found};
use iolag_model::{SeriesKey, WallSpan};
use serde::Serialize;

use super::together::together;
use crate::words::history::Names;

/// A finding as it is told, and as it stands in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct FindingInWords {
    /// What it is about.
    pub(crate) kind: FindingKind,
    /// How much it matters.
    pub(crate) severity: Severity,
    /// What was found, in plain words with numbers.
    pub(crate) sentence: String,
    /// What to do next.
    pub(crate) advice: String,
    /// The numbers that it rests on.
    pub(crate) evidence: Vec<Evidence>,
    /// Which series it concerns; empty for a whole host or everything.
    pub(crate) series: Vec<SeriesKey>,
    /// When; absent for what concerns the whole time.
    pub(crate) span: Option<WallSpan>,
}

/// What has words.
pub(super) trait InWords {
    /// What was found, in plain words with numbers. `finding` says of which series, and when.
    fn sentence(&self, finding: &HistoryFinding, names: &Names) -> String;

    /// What to do next.
    fn advice(&self) -> Cow<'static, str>;

    /// The numbers that it rests on, where they are not in the analysis beside it.
    fn evidence(&self) -> Vec<Evidence> {
        Vec::new()
    }
}

/// All findings of a history, each by itself, most important first.
pub(crate) fn each_finding_in_words(analysis: &HistoryAnalysis) -> Vec<FindingInWords> {
    let names = Names::of(analysis);
    analysis.findings.iter().map(|finding| in_words(finding, &names)).collect()
}

/// The findings of a history as people are told them: those that say the same of several series of one place are one.
pub(crate) fn findings_in_words(analysis: &HistoryAnalysis) -> Vec<FindingInWords> {
    let names = Names::of(analysis);
    let told = |told: ToldFinding<'_>| match told.members[..] {
        [alone] => in_words(alone, &names),
        _ => together(&told, &names),
    };
    analysis.findings_told().into_iter().map(told).collect()
}

/// One finding by itself.
pub(super) fn in_words(finding: &HistoryFinding, names: &Names) -> FindingInWords {
    let found: &dyn InWords = whatever_found!(&finding.found, it => it);
    FindingInWords {
        kind: finding.kind(),
        severity: finding.severity,
        sentence: found.sentence(finding, names),
        advice: found.advice().into_owned(),
        evidence: found.evidence(),
        series: finding.series.clone(),
        span: finding.span,
    }
}
