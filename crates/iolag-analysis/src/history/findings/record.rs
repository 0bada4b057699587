//! Findings about the record itself: configurations that changed, times in which nobody watched.

use iolag_model::{Configuration, counted};

use super::finding::HistoryFinding;
use super::words::amounts::moment_in_words;
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::share_in_words;
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::gaps::{Gap, GapRecord, time_in_gaps};

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
    let fact = |configuration: &Configuration, name: &str| {
        configuration.facts.get(name).map_or_else(|| "none".to_owned(), |fact| format!("\"{fact}\""))
    };
    let differ = names.into_iter().filter(|name| before.facts.get(*name) != new.facts.get(*name));
    let mut told: Vec<String> =
        differ.map(|name| format!("{name} from {} to {}", fact(before, name), fact(new, name))).collect();
    let more = told.len().saturating_sub(3);
    told.truncate(3);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    let place = match (new.target.as_str(), new.host.as_str()) {
        ("", host) => host.to_owned(),
        (target, "") => target.to_owned(),
        (target, host) => format!("{target} on {host}"),
    };
    let sentence = format!(
        "The configuration of {place} changed by {}: {}.",
        moment_in_words(new.first_seen),
        told.join("; ")
    );
    let advice =
        "Compare the times before and after in the report; samples are marked with their configuration.";
    let finding = HistoryFinding::new(FindingKind::Configuration, Severity::Note, sentence, advice);
    Some(finding.during(new.first_seen, new.first_seen).sized(new.first_seen.as_seconds()))
}

/// One finding per host, and per target and task that has gaps of its own.
fn gaps(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let (Some(begin), Some(end)) = (analysis.begin, analysis.end) else { return Vec::new() };
    let is_same = |one: &Gap, other: &Gap| {
        (&one.host, &one.target, &one.task) == (&other.host, &other.target, &other.task)
    };
    analysis
        .gaps
        .chunk_by(is_same)
        .map(|gaps| {
            let sum = time_in_gaps(gaps);
            let longest = gaps.iter().max_by_key(|gap| gap.length()).unwrap_or(&gaps[0]);
            let share = sum.as_seconds() / end.since(begin).as_seconds().max(1.0);
            let sentence = format!(
                "Nothing is known of {} for {sum} in {} ({} of the time), {}from {} to {}: {}.",
                longest.place(),
                counted(gaps.len() as u64, "gap", "gaps"),
                share_in_words(share),
                if gaps.len() > 1 { "the longest " } else { "" },
                moment_in_words(longest.begin),
                moment_in_words(longest.end),
                longest.why(),
            );
            let advice = match longest.record {
                GapRecord::Watched => {
                    "Run the watch as a service that is started again (`iolag watch --print-unit service`)."
                }
                GapRecord::Imported => {
                    "If there are measurements of that time, import them; what changed in it has no date."
                }
            };
            let severity = if share > 0.1 { Severity::Warning } else { Severity::Note };
            HistoryFinding::new(FindingKind::Gap, severity, sentence, advice)
                .during(longest.begin, longest.end)
                .sized(share)
        })
        .collect()
}
