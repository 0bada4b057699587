//! The findings of a run in words: each by itself, with its stages; and those of a check once for all directories.

use std::borrow::Cow;

use iolag_analysis::{
    CheckAnalysis, FoundInDirectories, RunFinding, RunFindingKind, joined, whatever_in_run,
};

use super::followed::failed_in_words;
use crate::finding::in_words::FindingInWords;
use crate::words::names::Names;

/// Findings of one directory, or those that several have.
pub(crate) struct FindingsOfDirectory<'a> {
    /// The only directory that they are about; absent if their sentences name their own.
    pub(crate) directory: Option<&'a str>,
    /// The gravest first.
    pub(crate) findings: Vec<FindingInWords<RunFindingKind>>,
}

/// Each finding by itself.
pub(crate) fn in_words_each(findings: &[RunFinding]) -> Vec<FindingInWords<RunFindingKind>> {
    findings.iter().map(in_words).collect()
}

/// One finding with the stages in which it was found, other operations of which it is so, and what it led to.
pub(crate) fn in_words(finding: &RunFinding) -> FindingInWords<RunFindingKind> {
    // Runs have no series.
    let names = Names { several_hosts: false };
    let words = whatever_in_run!(&finding.found, it => FindingInWords::new(finding, it, &names));
    let place = finding.place.as_ref().map_or_else(String::new, |place| format!(" in {place}"));
    let (head, places) = match &finding.stages {
        None => (String::new(), Vec::new()),
        Some(stages) if stages.all.len() == 1 => (format!("{}{place}: ", stages.worst), Vec::new()),
        Some(stages) => {
            (format!("In {}, worst in {}{place}: ", stages.share, stages.worst), stages.all.clone())
        }
    };
    let also = match &finding.also[..] {
        [] => String::new(),
        also => {
            format!("; also {}", joined(also.iter().map(|operation| format!("`{operation}`")).collect()))
        }
    };
    let led_to = match &finding.led_to[..] {
        [] => Cow::from(""),
        led_to => format!("; and, because of that, {}", failed_in_words(led_to)).into(),
    };
    let statement = words.sentence.trim_end_matches('.');
    FindingInWords { sentence: format!("{head}{statement}{also}{led_to}."), places, ..words }
}

/// The findings of all directories of a check, each told once.
pub(crate) fn findings_of_check(analysis: &CheckAnalysis) -> Vec<FindingsOfDirectory<'_>> {
    let told = analysis.told_findings().into_iter().map(|told| {
        let of_one = |found: &FoundInDirectories<'_>| in_words(found.finding);
        let findings = match told.directory {
            Some(_) => told.findings.iter().map(of_one).collect(),
            None => told.findings.iter().map(in_directories).collect(),
        };
        FindingsOfDirectory { directory: told.directory, findings }
    });
    told.collect()
}

/// The sentence of the worst directory, and where else it is so.
fn in_directories(found: &FoundInDirectories<'_>) -> FindingInWords<RunFindingKind> {
    let words = in_words(found.finding);
    let Some((worst, others)) = found.directories.split_first() else { return words };
    let also = match others {
        [] => String::new(),
        others => format!("; also in {}", joined(others.iter().map(|other| (*other).to_owned()).collect())),
    };
    let sentence = format!("In {worst}: {}{also}.", words.sentence.trim_end_matches('.'));
    FindingInWords { sentence, ..words }
}
