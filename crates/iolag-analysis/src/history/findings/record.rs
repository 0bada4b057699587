//! Findings about the record itself: configurations that changed, times in which nobody watched.

use iolag_model::{Configuration, Nanoseconds};

use super::finding::HistoryFinding;
use crate::finding::Severity;
use crate::finding::found::Found;
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::gaps::{Gap, time_in_gaps};

/// Facts of a place were other ones from some moment on, at the latest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationFound {
    /// Of which host; empty if that is not known.
    pub host: String,
    /// Of which target; empty for those of the host.
    pub target: String,
    /// The facts that differ, in the order of their names.
    pub changed: Vec<ChangedFact>,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFact {
    /// Its name.
    pub name: String,
    /// What it was; absent if there was none.
    pub before: Option<String>,
    /// What it is; absent if there is none.
    pub after: Option<String>,
}

/// Times of which nothing is known of a host, target or task.
#[derive(Debug, Clone, PartialEq)]
pub struct GapFound {
    /// The longest of them.
    pub longest: Gap,
    /// How many.
    pub count: u64,
    /// How long all of them are together.
    pub sum_ns: Nanoseconds,
    /// Their share of the time covered.
    pub share: f64,
}

pub(crate) fn findings_of_record(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let changed = analysis.configurations.iter().filter_map(|new| configuration(analysis, new));
    changed.chain(gaps(analysis)).collect()
}

/// What changed from the configuration before on the same host and target.
fn configuration(analysis: &HistoryAnalysis, new: &Configuration) -> Option<HistoryFinding> {
    let same_place = |old: &&Configuration| old.host == new.host && old.target == new.target;
    let before = analysis.configurations.iter().filter(same_place).take_while(|old| *old != new).last()?;
    let mut names: Vec<&String> = before.facts.keys().chain(new.facts.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differ = names.into_iter().filter(|name| before.facts.get(*name) != new.facts.get(*name));
    let changed = differ.map(|name| ChangedFact {
        name: name.clone(),
        before: before.facts.get(name).cloned(),
        after: new.facts.get(name).cloned(),
    });
    let found = Found::Configuration(ConfigurationFound {
        host: new.host.clone(),
        target: new.target.clone(),
        changed: changed.collect(),
    });
    let finding = HistoryFinding::new(found, Severity::Note);
    Some(finding.during(new.first_seen, new.first_seen).sized(new.first_seen.as_seconds()))
}

/// One finding per host, and per target and task that has gaps of its own.
fn gaps(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let (Some(begin), Some(end)) = (analysis.begin, analysis.end) else { return Vec::new() };
    let is_same = |one: &Gap, other: &Gap| {
        (&one.host, &one.target, &one.task) == (&other.host, &other.target, &other.task)
    };
    let finding = |gaps: &[Gap]| {
        let longest = gaps.iter().max_by_key(|gap| gap.length()).unwrap_or(&gaps[0]);
        let sum_ns = time_in_gaps(gaps);
        let share = sum_ns.as_seconds() / end.since(begin).as_seconds().max(1.0);
        let found = GapFound { longest: longest.clone(), count: gaps.len() as u64, sum_ns, share };
        let severity = if share > 0.1 { Severity::Warning } else { Severity::Note };
        HistoryFinding::new(Found::Gap(found), severity).during(longest.begin, longest.end).sized(share)
    };
    analysis.gaps.chunk_by(is_same).map(finding).collect()
}
