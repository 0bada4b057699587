//! Findings about the record itself: configurations that changed, times in which nobody watched.

use iolag_model::Configuration;

use crate::finding::Severity;
use crate::finding::of_histories::{ChangedFact, ConfigurationFound, GapFound, HistoryFinding, HistoryFound};
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::gaps::{Gap, time_in_gaps};

pub(crate) fn findings_of_record(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let changed = analysis.configurations.iter().filter_map(|new| configuration(analysis, new));
    changed.chain(gaps(analysis)).collect()
}

/// What changed from the configuration before on the same host and target, of benchmarks at the same coordinates.
fn configuration(analysis: &HistoryAnalysis, new: &Configuration) -> Option<HistoryFinding> {
    let same = |old: &&Configuration| old.is_of_same(new);
    let before = analysis.configurations.iter().filter(same).take_while(|old| *old != new).last()?;
    let mut names: Vec<&String> = before.facts.keys().chain(new.facts.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let differ = names.into_iter().filter(|name| before.facts.get(*name) != new.facts.get(*name));
    let changed = differ.map(|name| ChangedFact {
        name: name.clone(),
        before: before.facts.get(name).cloned(),
        after: new.facts.get(name).cloned(),
    });
    let found = HistoryFound::Configuration(ConfigurationFound {
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
        HistoryFinding::new(HistoryFound::Gap(found), severity)
            .during(longest.begin, longest.end)
            .sized(share)
    };
    analysis.gaps.chunk_by(is_same).map(finding).collect()
}
