//! Findings about times in which something was bad: outages and episodes.

use iolag_model::{Event, Nanoseconds, Outage, OutageEnding, OutageKind, WallTime, counted};

use super::finding::HistoryFinding;
use super::words::amounts::level_in_words;
use super::words::amounts::moment_in_words;
use super::words::names::Names;
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::history::analysis::HistoryAnalysis;
use crate::history::episodes::search::{Episode, SeriesEpisode};
use crate::history::series::timed_values::Quantity;

/// Findings of a kind that are told one by one; the others are summed up.
const TOLD_MOST: usize = 5;

/// An event this near to the begin of an outage is named.
const NEAR: Nanoseconds = Nanoseconds::from_seconds(3600);

pub(crate) fn findings_of_bad_times(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = outages(analysis);
    findings.extend(episodes(analysis, names));
    findings
}

fn outages(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let now = analysis.end.unwrap_or(WallTime(0));
    let length = |outage: &Outage| outage.end.unwrap_or(now).since(outage.begin);
    let mut longest: Vec<&Outage> = analysis.outages.iter().collect();
    // What lasts comes first, then the longest.
    longest.sort_by_key(|outage| (outage.end.is_some(), std::cmp::Reverse(length(outage))));
    let told = longest.iter().take(TOLD_MOST).map(|outage| {
        HistoryFinding::new(
            FindingKind::Outage,
            Severity::Serious,
            outage_in_words(outage, length(outage), &analysis.events),
            advice_on(outage),
        )
        .during(outage.begin, outage.end.unwrap_or(now))
        .sized(if outage.end.is_none() { f64::INFINITY } else { length(outage).as_seconds() })
    });
    let mut findings: Vec<HistoryFinding> = told.collect();
    if longest.len() > TOLD_MOST {
        let others = &longest[TOLD_MOST..];
        let sum = Nanoseconds(others.iter().map(|outage| length(outage).0).sum());
        let sentence = format!(
            "{} more, {sum} in all, the longest {}.",
            counted(others.len() as u64, "outage", "outages"),
            length(others[0])
        );
        let advice = "The calendar of the report shows when.";
        findings.push(HistoryFinding::new(FindingKind::Outage, Severity::Serious, sentence, advice));
    }
    findings
}

fn advice_on(outage: &Outage) -> &'static str {
    match (outage.kind, outage.end) {
        (OutageKind::NoAnswer, None) => {
            "`iolag watch --status` shows where the probe waits; tell the administrators of this file system."
        }
        (OutageKind::NoAnswer, Some(_)) => {
            "Look into the logs of server and client at that time, and note what you find with `iolag note`, so that it \
             stands in the report."
        }
        (OutageKind::NotMounted, None) => {
            "Mount it; why its mount unit failed is in the system's journal. If it may be absent, set `mounted = \"any\"` for \
             it in the configuration of the watch."
        }
        (OutageKind::NotMounted, Some(_)) => {
            "Look into the system's journal for why its mount unit failed or who unmounted it, and note it with `iolag note`. If it \
             may be absent, set `mounted = \"any\"` for it in the configuration of the watch."
        }
    }
}

fn outage_in_words(outage: &Outage, length: Nanoseconds, events: &[Event]) -> String {
    let on_host = if outage.host.is_empty() { String::new() } else { format!(" on {}", outage.host) };
    let place = outage.place() + &on_host;
    let begin = moment_in_words(outage.begin);
    let mut sentence = match outage.end {
        Some(end) => {
            let what = outage.kind.verb(true);
            format!("{place} {what} for {length}, from {begin} to {}", moment_in_words(end))
        }
        None => format!("{place} {} since {begin} ({length})", outage.kind.verb_since()),
    };
    if outage.skipped > 0 {
        let were = if outage.skipped == 1 { "was" } else { "were" };
        sentence += &format!("; {} {were} skipped", counted(outage.skipped, "slot", "slots"));
    }
    sentence += match outage.ending {
        Some(OutageEnding::Recovered) => "; it recovered by itself",
        Some(OutageEnding::Remounted) => "; it was mounted anew",
        Some(OutageEnding::Unmounted) => "; it was unmounted",
        Some(OutageEnding::Rebooted) => "; the machine was started again",
        None => "",
    };
    let concerns =
        |event: &&Event| may_concern(event, outage) && event.source != iolag_model::EventSource::Watch;
    let apart = |event: &Event| event.begin.since(outage.begin).max(outage.begin.since(event.begin));
    let nearest = events.iter().filter(concerns).min_by_key(|event| apart(event));
    if let Some(event) = nearest.filter(|event| apart(event) <= NEAR) {
        sentence += &format!("; event \"{}\" {}", event.text, before_or_after(event.begin, outage.begin));
    }
    sentence + "."
}

/// Whether an event is of the outage's host, and of no target that is not its own.
fn may_concern(event: &Event, outage: &Outage) -> bool {
    (event.host.is_empty() || event.host == outage.host) && outage.may_come_with(&event.target)
}

/// Where `event` lies as seen from `moment`: `2 min 00 s before`.
fn before_or_after(event: WallTime, moment: WallTime) -> String {
    if event <= moment {
        format!("{} before", moment.since(event))
    } else {
        format!("{} after it began", event.since(moment))
    }
}

/// The worst episodes but for those that are nothing but outages, which are told by themselves.
fn episodes(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let is_outage = |episode: &Episode| episode.is_of_outages(&analysis.outages);
    let badness = |episode: &Episode| -> f64 {
        let peak = |one: &SeriesEpisode| one.peak.unwrap_or(0.0);
        let length = episode.end.since(episode.begin).as_seconds();
        episode.series.iter().map(peak).fold(length, f64::max)
    };
    let samples = |episode: &Episode| episode.series.iter().map(SeriesEpisode::samples).sum::<u64>();
    // One slow sample of one series is a tail and no episode worth a sentence.
    let told = analysis.episodes.iter().filter(|episode| samples(episode) > 1 && !is_outage(episode));
    let mut worst: Vec<&Episode> = told.collect();
    worst.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
    let all = worst.len() as u64;
    worst.truncate(3);
    let finding = |episode: &&Episode| {
        let longest = episode
            .series
            .iter()
            .filter(|one| one.peak.is_some())
            .max_by(|one, other| one.peak.unwrap_or(0.0).total_cmp(&other.peak.unwrap_or(0.0)));
        let peak = longest.map_or_else(String::new, |one| {
            let peak = level_in_words(one.peak.unwrap_or(0.0), one.peak_is, Quantity::Duration);
            format!(", the longest {peak}")
        });
        let keys = episode.keys();
        let were = if keys.len() > 1 { "were" } else { "was" };
        let one_of =
            if all > 1 { format!("; one of {all} episodes of several samples") } else { String::new() };
        let sentence = format!(
            "From {} to {} {} {were} bad in {}{peak}{one_of}.",
            moment_in_words(episode.begin),
            moment_in_words(episode.end),
            names.list(keys.iter().copied()),
            counted(samples(episode), "sample", "samples"),
        );
        let advice = "See what else happened then (jobs, backups, server load), and note or import it as events, so that iolag can tell \
                      what comes with such times.";
        HistoryFinding::new(FindingKind::Episode, Severity::Warning, sentence, advice)
            .of(keys)
            .during(episode.begin, episode.end)
            .sized(badness(episode))
    };
    worst.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use iolag_model::{EventSource, Outcome, ProbeId};

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};

    #[test]
    fn a_series_that_was_bad_twice_in_an_episode_is_named_once() {
        let bad = |target: &str, is_bad: fn(i64) -> bool| {
            let milliseconds = |slot: i64| if is_bad(slot) { 20_000 } else { 20 + (slot as u64 * 7) % 11 };
            let columns = columns_of((0..200).map(|slot| (slot * 900, milliseconds(slot), Outcome::Ok)));
            (series_of(target, "list"), columns)
        };
        let series = vec![
            bad("/home", |slot| (100..110).contains(&slot)),
            bad("/scratch", |slot| [101, 102, 106, 107].contains(&slot)),
        ];
        let input = HistoryInput { series, ..HistoryInput::default() };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        assert_eq!(analysis.episodes[0].series.len(), 3, "{:#?}", analysis.episodes);
        let found = episodes(&analysis, &Names::of(&analysis));
        let sentence = &found[0].finding.sentence;
        assert!(
            sentence.contains("`list` on /home and `list` on /scratch were bad in 14 samples"),
            "{sentence}"
        );
        assert_eq!(found[0].series.len(), 2);
    }

    fn outage_of(mount: &str, targets: &[&str]) -> Outage {
        Outage {
            kind: OutageKind::NoAnswer,
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            host: "login1".to_owned(),
            mount: mount.to_owned(),
            probe: ProbeId(7),
            begin: WallTime::from_seconds(100 * 900),
            end: Some(WallTime::from_seconds(110 * 900)),
            ending: None,
            skipped: 0,
        }
    }

    #[test]
    fn an_event_of_another_target_is_not_named_with_an_outage() {
        let outage = outage_of("/mnt/lustre", &["scratch"]);
        let event = |host: &str, target: &str| Event {
            id: "01".to_owned(),
            host: host.to_owned(),
            target: target.to_owned(),
            text: "cache enabled".to_owned(),
            ..Event::of_all(EventSource::Note, outage.begin)
        };
        let is_named = |host, target| {
            outage_in_words(&outage, Nanoseconds::from_seconds(60), &[event(host, target)])
                .contains("cache enabled")
        };
        for (host, target) in [("", ""), ("login1", "scratch"), ("", "/mnt/lustre")] {
            assert!(is_named(host, target), "{host:?} {target:?}");
        }
        for (host, target) in [("login2", ""), ("", "fuse"), ("login1", "/mnt/lustre2"), ("", "/mnt")] {
            assert!(!is_named(host, target), "{host:?} {target:?}");
        }
    }

    #[test]
    fn what_was_not_mounted_is_not_said_to_have_been_silent() {
        let outage = Outage { kind: OutageKind::NotMounted, ..outage_of("/mnt/lustre", &["scratch"]) };
        let told = outage_in_words(&outage, Nanoseconds::from_seconds(9000), &[]);
        assert!(
            told.starts_with("/mnt/lustre (target scratch) on login1 was not mounted for 2 h 30 min, from "),
            "{told}"
        );
        let open = Outage { end: None, ..outage };
        let told = outage_in_words(&open, Nanoseconds::from_seconds(9000), &[]);
        assert!(told.contains("on login1 has not been mounted since 1970-01-02 01:00"), "{told}");
        assert!(advice_on(&open).contains("mounted = \"any\""));
    }

    #[test]
    fn an_episode_of_another_target_during_an_outage_is_told() {
        let hung = columns_of((0..200).map(|slot| match slot {
            100 => (slot * 900, 9_000_000, Outcome::Late),
            101..110 => (slot * 900, 0, Outcome::Skipped),
            _ => (slot * 900, 20 + (slot as u64 * 7) % 11, Outcome::Ok),
        }));
        let slow = columns_of((0..200).map(|slot| {
            let milliseconds = if (101..109).contains(&slot) { 20_000 } else { 20 + (slot as u64 * 7) % 11 };
            (slot * 900 + 20, milliseconds, Outcome::Ok)
        }));
        let told = |series, outages: Vec<Outage>| -> Vec<String> {
            let input = HistoryInput { series, outages, ..HistoryInput::default() };
            let analysis = analyse_history(&input, &HistoryOptions::default());
            let found = episodes(&analysis, &Names::of(&analysis));
            found.into_iter().map(|one| one.finding.sentence).collect()
        };
        let scratch = (series_of("scratch", "list"), hung);
        let home = (series_of("/home", "list"), slow);
        let outage = || vec![outage_of("/mnt/lustre", &["scratch"])];
        assert_eq!(told(vec![scratch.clone()], outage()), Vec::<String>::new());
        assert_eq!(told(vec![scratch.clone()], vec![outage_of("/", &["/tmp"])]).len(), 1);
        let both = told(vec![scratch.clone(), home.clone()], outage());
        assert!(both.len() == 1 && both[0].contains("/home"), "{both:?}");
        let shared = vec![outage_of("/fs", &["/home", "scratch"])];
        assert_eq!(told(vec![scratch, home], shared), Vec::<String>::new());
    }
}
