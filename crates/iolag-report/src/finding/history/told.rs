//! The findings of a history in words: each by itself, and as people are told them.

use iolag_analysis::history::{HistoryAnalysis, HistoryFinding, HistoryFindingKind, ToldFinding};
use iolag_analysis::whatever_in_history;

use super::together::together;
use crate::finding::in_words::FindingInWords;
use crate::words::names::Names;

/// All findings of a history in their order, each by itself.
pub(crate) fn each_finding_in_words(analysis: &HistoryAnalysis) -> Vec<FindingInWords<HistoryFindingKind>> {
    let names = Names::of(analysis);
    analysis.findings.iter().map(|finding| in_words(finding, &names)).collect()
}

/// The findings of a history as people are told them: those that say the same of several series of one place are one.
pub(crate) fn findings_in_words(analysis: &HistoryAnalysis) -> Vec<FindingInWords<HistoryFindingKind>> {
    let names = Names::of(analysis);
    let in_words = |told: &ToldFinding<'_>| {
        let (first, others) = told.members.split_first()?;
        let alone = in_words(first, &names);
        Some(if others.is_empty() { alone } else { together(told, alone, &names) })
    };
    analysis.findings_told().iter().filter_map(in_words).collect()
}

fn in_words(finding: &HistoryFinding, names: &Names) -> FindingInWords<HistoryFindingKind> {
    whatever_in_history!(&finding.found, it => FindingInWords::new(finding, it, names))
}
