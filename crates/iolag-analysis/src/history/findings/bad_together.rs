//! Findings about what bad times have in common: places that were bad together, events that come with them, the host's share.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use iolag_model::{SeriesKey, SeriesKind, counted};

use super::finding::HistoryFinding;
use super::words::amounts::{RECORD_TOO_SHORT, p_in_words};
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::finding::words::factor_in_words;
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::bad_overlap::{BadOverlap, Place};
use crate::history::series::summary::SeriesSummary;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::rhythm::profile::{DAY_SECONDS, DAYS_LEAST};

/// Places that are told one by one.
const TOLD_MOST: usize = 6;

pub(crate) fn findings_of_bad_times_together(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = bad_together(analysis);
    findings.extend(associations(analysis));
    findings.extend(host_slow(analysis));
    findings
}

fn bad_together(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let hosts: BTreeSet<&str> =
        analysis.bad_overlaps.iter().flat_map(|one| [one.first.host.as_str(), &one.second.host]).collect();
    let mut told: Vec<&BadOverlap> =
        analysis.bad_overlaps.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE).collect();
    told.sort_by_key(|one| Reverse(one.both_ns));
    let finding = |one: &&BadOverlap| {
        let is_of_one_host = one.first.host == one.second.host;
        let seen_from = if hosts.len() > 1 { format!(" from {}", one.second.host) } else { String::new() };
        let first_from = if is_of_one_host { String::new() } else { format!(" from {}", one.first.host) };
        let judged = if one.other_hours_ns < one.both_ns {
            format!("{} of it at hours in which they are seldom both bad, where ", one.other_hours_ns)
        } else {
            String::new()
        };
        let sentence = format!(
            "{}{first_from} and {}{seen_from} were bad at the same time: {} together, of {} and {}; {judged}by chance it would be {} ({}){}.",
            place(&one.first),
            place(&one.second),
            one.both_ns,
            one.first_bad_ns,
            one.second_bad_ns,
            one.expected_ns,
            p_in_words(one.p_adjusted),
            doubt_of(analysis),
        );
        let advice = if is_of_one_host {
            "Look for what the two share: server, network, name service, this host."
        } else {
            "Look first at what both hosts share: the server, the network, jobs that run on both."
        };
        HistoryFinding::new(FindingKind::BadTogether, Severity::Warning, sentence, advice)
            .sized(one.both_ns.as_seconds())
    };
    told.iter().take(TOLD_MOST).map(finding).collect()
}

/// What has to be said of bad times where there are too few days to know the hours of the day.
fn doubt_of(analysis: &HistoryAnalysis) -> &'static str {
    let covered = analysis.begin.zip(analysis.end).map(|(begin, end)| end.since(begin).as_seconds());
    if covered.is_some_and(|covered| covered >= DAYS_LEAST * DAY_SECONDS) { "" } else { RECORD_TOO_SHORT }
}

/// What was imported without a target is of its host.
fn place(place: &Place) -> String {
    if place.target.is_empty() {
        format!("what has no target on {}", place.host)
    } else {
        place.target.clone()
    }
}

fn associations(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let told =
        analysis.associations.iter().filter(|one| one.p_adjusted <= SIGNIFICANCE && one.events_near > 0);
    told.map(|one| {
        let rate = one.rate.map_or_else(
            || "and none would by chance".to_owned(),
            |rate| format!("{} times as many as by chance", factor_in_words(rate)),
        );
        let sentence = format!(
            "{} of {} of kind \"{}\" lie within {} of a bad time, {rate} ({}){}.",
            one.events_near,
            counted(one.events, "event", "events"),
            one.kind,
            one.tolerance_ns,
            p_in_words(one.p_adjusted),
            doubt_of(analysis)
        );
        let advice = "Look at one of these moments in the report: does the event come first, or does it tell of the same trouble?";
        HistoryFinding::new(FindingKind::Association, Severity::Warning, sentence, advice)
            .sized(one.rate.unwrap_or(f64::INFINITY))
    })
    .collect()
}

/// Bad times that the control on the host's memory shares are the host's, not the storage's.
fn host_slow(analysis: &HistoryAnalysis) -> Option<HistoryFinding> {
    let controls: Vec<&SeriesSummary> = analysis
        .series
        .iter()
        .map(|one| &one.summary)
        .filter(|summary| summary.series.kind == SeriesKind::Control)
        .collect();
    let is_control = |key: &SeriesKey| controls.iter().any(|control| control.series.key == *key);
    let of_storage: Vec<_> = analysis
        .episodes
        .iter()
        .filter(|episode| {
            let was_measured = |control: &&SeriesSummary| {
                control.series.key.host == episode.host
                    && control.first <= Some(episode.begin)
                    && Some(episode.end) <= control.last
            };
            controls.iter().any(was_measured) && episode.series.iter().any(|one| !is_control(&one.series))
        })
        .collect();
    let shared =
        of_storage.iter().filter(|episode| episode.series.iter().any(|one| is_control(&one.series))).count();
    let all = of_storage.len();
    if all < 3 {
        return None;
    }
    let finding = if shared == 0 {
        let sentence = format!(
            "In none of {all} bad times did a task on the host's own memory take long as well: that speaks for the storage or the way to it, and \
             against this host."
        );
        HistoryFinding::new(
            FindingKind::HostSlow,
            Severity::Note,
            sentence,
            "Look at the servers and the network; another host that watches the same targets tells these two apart.",
        )
    } else if shared * 3 >= all {
        let sentence = format!(
            "In {shared} of {all} bad times a task on the host's own memory took long as well: then this host was slow, and not the storage alone."
        );
        HistoryFinding::new(
            FindingKind::HostSlow,
            Severity::Warning,
            sentence,
            "Look at what runs on this host then: processors, memory, other users.",
        )
    } else {
        return None;
    };
    Some(finding.of(controls.iter().map(|control| &control.series.key)).sized(shared as f64))
}

#[cfg(test)]
mod tests {
    use iolag_model::Series;

    use super::*;
    use crate::history::made_up_series::{imported, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};

    #[test]
    fn what_two_hosts_see_at_once_may_be_a_job_on_both() {
        let bad: Vec<i64> = (100..124).collect();
        let series = [("here", 1), ("there", 2)].map(|(host, seed)| {
            let (mut series, columns) = imported("/home", seed, &bad);
            series.key.host = host.to_owned();
            (series, columns)
        });
        let input = HistoryInput { series: series.into(), ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::BadTogether);
        let found = found.expect("they were bad together").finding;
        let begin = "/home from here and /home from there were bad at the same time: ";
        assert!(found.sentence.starts_with(begin), "{}", found.sentence);
        assert!(found.advice.contains("jobs that run on both"), "{}", found.advice);
    }

    #[test]
    fn memory_that_was_not_measured_in_bad_times_says_nothing_of_them() {
        let told = |slots: usize| {
            let bad: Vec<i64> = [300, 500, 700, 900].iter().flat_map(|begin| *begin..begin + 4).collect();
            let (_, columns) = imported("memory", 3, &[]);
            let control = Series { kind: SeriesKind::Control, ..series_of("memory", "list") };
            let columns = columns.rows(&(0..slots).collect::<Vec<_>>());
            let series = vec![imported("/home", 1, &bad), (control, columns)];
            let input = HistoryInput { series, ..HistoryInput::default() };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::HostSlow);
            found.map(|one| one.finding.sentence)
        };
        assert_eq!(told(96), None);
        assert!(told(1344).is_some_and(|sentence| sentence.starts_with("In none of 4 bad times did a task")));
    }

    #[test]
    fn a_common_incident_is_told_and_in_few_days_that_they_are_few() {
        let told = |slots: usize| {
            let bad: Vec<i64> = (100..124).collect();
            let mut series = vec![imported("/home", 1, &bad), imported("/scratch", 2, &bad)];
            series
                .iter_mut()
                .for_each(|(_, columns)| *columns = columns.rows(&(0..slots).collect::<Vec<_>>()));
            let input = HistoryInput { series, ..HistoryInput::default() };
            let findings = analyse_history(&input, &HistoryOptions::default()).findings;
            let found = findings.into_iter().find(|one| one.finding.kind == FindingKind::BadTogether);
            found.map_or_else(String::new, |one| one.finding.sentence)
        };
        let (few, many) = (told(300), told(672));
        let doubt = "); the record is too short to tell that from the time of day.";
        assert!(few.contains("by chance it would be ") && few.ends_with(doubt), "{few}");
        assert!(many.contains("at the same time") && !many.contains("too short"), "{many}");
    }
}
