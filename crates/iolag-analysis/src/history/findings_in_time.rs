//! Findings about moments: outages, changes and their events, episodes, configurations, gaps.

use std::path::Path;

use iolag_model::{Configuration, Event, Nanoseconds, Outage, OutageEnding, WallTime};

use super::analysis::HistoryAnalysis;
use super::change_points::{ChangePoint, ChangeShape, ChangeStrength};
use super::episodes::{Episode, SeriesEpisode};
use super::event_matching::EventMatch;
use super::findings::{FindingKind, HistoryFinding, Names, counted, moment_in_words, p_in_words, task};
use super::findings_grouped::{Saying, SayingUnit};
use super::observed::{Knowledge, Quantity};
use super::series_analysis::SeriesAnalysis;
use crate::finding::{EvidenceAmount, Severity, factor_in_words, share_in_words};
use crate::history::estimate::amount_in_words;

/// Findings of a kind that are told one by one; the others are summed up.
const TOLD_MOST: usize = 5;

/// The least that people feel (Miller 1968).
const FELT_SECONDS: f64 = 0.1;

/// An event this near to the begin of an outage is named.
const NEAR: Nanoseconds = Nanoseconds::from_seconds(3600);

pub(crate) fn findings_in_time(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let mut findings = outages(analysis);
    findings.extend(changes(analysis, names));
    findings.extend(analysis.series.iter().filter_map(|of| drift(of, names)));
    findings.extend(analysis.series.iter().filter_map(|of| too_short(of, names)));
    findings.extend(episodes(analysis, names));
    findings.extend(analysis.configurations.iter().filter_map(|new| configuration(analysis, new)));
    findings.extend(gaps(analysis));
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
            if outage.end.is_none() {
                "`iolag watch --status` shows where the probe waits; tell the administrators of this file system."
            } else {
                "Look into the logs of server and client at that time, and note what you find with `iolag note`, so that it \
                 stands in the report."
            },
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
            counted(others.len() as u64, "outage"),
            length(others[0])
        );
        let advice = "The calendar of the report shows when.";
        findings.push(HistoryFinding::new(FindingKind::Outage, Severity::Serious, sentence, advice));
    }
    findings
}

fn outage_in_words(outage: &Outage, length: Nanoseconds, events: &[Event]) -> String {
    let place = if outage.host.is_empty() {
        outage.mount.clone()
    } else {
        format!("{} on {}", outage.mount, outage.host)
    };
    let mut sentence = match outage.end {
        Some(end) => format!(
            "{place} did not answer for {length}, from {} to {}",
            moment_in_words(outage.begin),
            moment_in_words(end)
        ),
        None => format!("{place} has not answered since {} ({length})", moment_in_words(outage.begin)),
    };
    if outage.skipped > 0 {
        let were = if outage.skipped == 1 { "was" } else { "were" };
        sentence += &format!("; {} {were} skipped", counted(outage.skipped, "slot"));
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

/// Whether an event is of the outage's host, and not of a directory elsewhere than on its mount. Of a target that is no path nobody
/// knows where it lies.
fn may_concern(event: &Event, outage: &Outage) -> bool {
    let target = Path::new(&event.target);
    let of_host = event.host.is_empty() || event.host == outage.host;
    of_host && (!target.is_absolute() || target.starts_with(&outage.mount))
}

/// Where `event` lies as seen from `moment`: `2 min 00 s before`.
fn before_or_after(event: WallTime, moment: WallTime) -> String {
    if event <= moment {
        format!("{} before", moment.since(event))
    } else {
        format!("{} after it began", event.since(moment))
    }
}

/// A change of a series, with the event that may explain it.
struct TimedChange<'a> {
    of: &'a SeriesAnalysis,
    change: &'a ChangePoint,
    matched: Option<&'a EventMatch>,
}

impl TimedChange<'_> {
    /// How far the level moved: the logarithm of the ratio, or how far ranks moved where no ratio is known.
    fn size(&self) -> f64 {
        let by_rank = (self.change.greater_after - 0.5).abs();
        self.change.ratio.value.filter(|ratio| *ratio > 0.0).map_or(by_rank, |ratio| ratio.ln().abs())
    }
}

/// Changes at the same time on the same host are one finding.
fn changes(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let of_series = analysis.series.iter().filter(|of| of.summary.series.key.part.is_empty());
    let mut all: Vec<TimedChange> = of_series
        .flat_map(|of| {
            of.changes.iter().enumerate().map(move |(index, change)| TimedChange {
                of,
                change,
                matched: of.events.matched.iter().find(|matched| matched.change == index),
            })
        })
        .collect();
    let host = |change: &TimedChange| change.of.summary.series.key.host.clone();
    all.sort_by_key(|change| (host(change), change.change.first_after));
    let together = |one: &TimedChange, other: &TimedChange| {
        let between = one.change.first_after.since(one.change.last_before);
        let apart = other.change.first_after.since(one.change.first_after);
        host(one) == host(other) && apart.0 <= 4 * between.0
    };
    all.chunk_by(together).map(|changes| change_finding(changes, analysis, names)).collect()
}

fn change_finding(changes: &[TimedChange], analysis: &HistoryAnalysis, names: &Names) -> HistoryFinding {
    let mut ordered: Vec<&TimedChange> = changes.iter().collect();
    ordered.sort_by(|one, other| other.size().total_cmp(&one.size()));
    let main = ordered[0];
    let key = &main.of.summary.series.key;
    let quantity = main.of.summary.quantity;
    let mut sentence = format!(
        "Since {}, {} {}: the median went from {} to {}",
        moment_in_words(main.change.first_after),
        names.series(key),
        ratio_in_words(main.change, quantity),
        level_in_words(main.change.median_before, main.change.median_before_is, quantity),
        level_in_words(main.change.median_after, main.change.median_after_is, quantity),
    );
    if let (Some(low), Some(high)) = (main.change.ratio.low, main.change.ratio.high) {
        sentence += &format!(" (ratio 95 %: {low:.2} to {high:.2})");
    }
    sentence += match main.change.strength {
        ChangeStrength::Weak => ", in one step, on weak evidence",
        ChangeStrength::Moderate => ", in one step, on moderate evidence",
        ChangeStrength::Strong => ", in one step, on strong evidence",
    };
    let others: Vec<_> =
        ordered[1..].iter().map(|other| &other.of.summary.series.key).filter(|other| *other != key).collect();
    if !others.is_empty() {
        sentence += &format!("; at the same time {} changed", names.list(others.iter().copied()));
    }
    sentence += ". ";
    let (told, advice) = explanation(main, analysis);
    sentence += &told;
    let slower = quantity == Quantity::Duration && main.change.greater_after > 0.5;
    // What nobody feels is no warning, however much slower it is.
    let is_felt = main.change.median_after.max(main.change.p95_after) >= FELT_SECONDS;
    let severity = match main.change.ratio.value {
        Some(ratio) if slower && is_felt && ratio >= 2.0 => Severity::Serious,
        _ if slower && is_felt => Severity::Warning,
        _ => Severity::Note,
    };
    HistoryFinding::new(FindingKind::Change, severity, sentence, advice)
        .of(std::iter::once(key).chain(others))
        .during(main.change.last_before, main.change.first_after)
        .sized(main.size())
        .saying(change_saying(changes, analysis))
        .with(
            "probability without a change",
            p_in_words(main.change.p),
            EvidenceAmount::Probability(main.change.p),
        )
        .with(
            "an attempt after takes longer than one before",
            share_in_words(main.change.greater_after),
            EvidenceAmount::Share(main.change.greater_after),
        )
}

/// A slow change: it has no date.
fn drift(of: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let (key, quantity) = (&of.summary.series.key, of.summary.quantity);
    let drift = of.drift.filter(|_| key.part.is_empty())?;
    let ratio = drift.ratio.value.filter(|ratio| *ratio > 0.0)?;
    let sentence = format!(
        "{} drifts by {} over the record: the median went from {} in its first tenth to {} in its last.",
        names.series(key),
        share_in_words((ratio - 1.0).abs()),
        level_in_words(drift.median_first, drift.median_first_is, quantity),
        level_in_words(drift.median_last, drift.median_last_is, quantity),
    );
    let is_felt = quantity == Quantity::Duration && ratio > 1.0 && drift.median_last >= FELT_SECONDS;
    let severity = if is_felt { Severity::Warning } else { Severity::Note };
    let advice = "Nothing happened on one day: look for what grows, as files in a directory, users or the fill of a file system.";
    Some(
        HistoryFinding::new(FindingKind::Change, severity, sentence, advice)
            .of([key])
            .sized(ratio.ln().abs())
            .with("probability without a drift", p_in_words(drift.p), EvidenceAmount::Probability(drift.p)),
    )
}

/// Only where something was refused for that reason.
fn too_short(of: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let key = &of.summary.series.key;
    let shape =
        of.not_told.iter().map(|one| one.shape).filter(|_| key.part.is_empty()).find_map(
            |shape| match shape {
                ChangeShape::TimeOfDay => Some(("time of the day", "Watch for at least four days")),
                ChangeShape::TimeOfWeek => Some(("day of the week", "Watch for some weeks")),
                _ => None,
            },
        );
    let (clock, advice) = shape?;
    let sentence = format!(
        "The level of {} moved, but the record is too short to tell that from the {clock}.",
        names.series(key)
    );
    let advice = format!("{advice}; what comes back by the clock is a rhythm and no change.");
    Some(HistoryFinding::new(FindingKind::Change, Severity::Note, sentence, &advice).of([key]))
}

/// What these changes at one moment say together with others of the same day, if they all go the same way in one place.
fn change_saying(changes: &[TimedChange], analysis: &HistoryAnalysis) -> Option<Saying> {
    let key = |change: &TimedChange| change.of.summary.series.key.clone();
    let slower = |change: &TimedChange| change.change.greater_after > 0.5;
    let first = &changes[0];
    let first_key = key(first);
    let alike = |change: &TimedChange| {
        slower(change) == slower(first)
            && change.of.summary.quantity == first.of.summary.quantity
            && analysis.place_of(&change.of.summary.series.key) == analysis.place_of(&first_key)
    };
    if !changes.iter().all(alike) {
        return None;
    }
    let factor = |change: &TimedChange| {
        let known = change.change.ratio.value_is == Knowledge::Exactly;
        let ratio = change.change.ratio.value.filter(|ratio| known && *ratio > 0.0)?;
        Some(if slower(change) { ratio } else { 1.0 / ratio }).filter(|factor| *factor >= 1.05)
    };
    let factors: Vec<f64> = changes.iter().filter_map(factor).collect();
    if factors.len() < changes.len() {
        return None;
    }
    let quantity = first.of.summary.quantity;
    let much = match (quantity, slower(first)) {
        (Quantity::Duration, true) => "take {range} times as long",
        (Quantity::Duration, false) => "take {range} times less",
        (_, true) => "are {range} times as much",
        (_, false) => "are {range} times less",
    };
    let matched = changes.iter().find_map(|change| change.matched);
    let event = matched.and_then(|matched| analysis.events.iter().find(|event| event.id == matched.event));
    let beside = match event {
        Some(event) => format!(", with event \"{}\" next to it", event.text.replace(['{', '}'], "|")),
        None => ", with no event noted next to it".to_owned(),
    };
    let most = changes.iter().max_by(|one, other| one.size().total_cmp(&other.size())).unwrap_or(first);
    Some(Saying {
        pattern: format!("{{since}}, {{series}} changed: they {much}{beside}"),
        subjects: changes.iter().map(key).collect(),
        amounts: factors,
        unit: SayingUnit::Factor,
        detail: format!(
            "{}: the median went from {} to {}",
            task(&key(most)),
            level_in_words(most.change.median_before, most.change.median_before_is, quantity),
            level_in_words(most.change.median_after, most.change.median_after_is, quantity)
        ),
    })
}

fn explanation(change: &TimedChange, analysis: &HistoryAnalysis) -> (String, &'static str) {
    let event = change
        .matched
        .and_then(|matched| Some((matched, analysis.events.iter().find(|event| event.id == matched.event)?)));
    match event {
        Some((matched, event)) => {
            let apart = if matched.apart_ns == Nanoseconds::ZERO {
                "at that moment".to_owned()
            } else if event.begin < change.change.first_after {
                format!("{} before", matched.apart_ns)
            } else {
                format!("{} after", matched.apart_ns)
            };
            let told = format!(
                "Event \"{}\" was {apart}; a change at a random moment would have an event as near with a probability of {}.",
                event.text,
                share_in_words(matched.chance)
            );
            (
                told,
                "Compare before and after the event in the report; an event near a change need not be its cause.",
            )
        }
        None => {
            let told = format!("No event is noted within {} of it.", change.of.events.tolerance_ns);
            (told, "Find out what changed then, and note it: `iolag note TEXT --at TIME`.")
        }
    }
}

/// As in `takes 2.0 times as long`, `takes at least 110 times less`, `is greater at times`.
fn ratio_in_words(change: &ChangePoint, quantity: Quantity) -> String {
    let is_greater = change.greater_after > 0.5;
    let (verb, much, word) = match (quantity, is_greater) {
        (Quantity::Duration, true) => ("takes", "as long", "longer"),
        (Quantity::Duration, false) => ("takes", "less", "shorter"),
        (_, true) => ("is", "as much", "greater"),
        (_, false) => ("is", "less", "smaller"),
    };
    let ratio = change.ratio.value.filter(|ratio| *ratio > 0.0);
    match ratio.map(|ratio| if is_greater { ratio } else { 1.0 / ratio }) {
        // The medians agree, so the change lies in other quantiles.
        Some(factor) if factor < 1.05 => format!("{verb} {word} at times"),
        Some(factor) => {
            let bound = if change.ratio.value_is == Knowledge::Exactly { "" } else { "at least " };
            format!("{verb} {bound}{} times {much}", factor_in_words(factor))
        }
        None => format!("{verb} {word}"),
    }
}

fn level_in_words(level: f64, knowledge: Knowledge, quantity: Quantity) -> String {
    let amount = amount_in_words(level, quantity);
    match knowledge {
        Knowledge::Exactly => amount,
        Knowledge::AtLeast => format!("at least {amount}"),
        Knowledge::AtMost => format!("below {amount}"),
    }
}

/// The worst episodes outside outages, which are told by themselves.
fn episodes(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let is_outage = |episode: &Episode| {
        analysis.outages.iter().any(|outage| {
            let end = outage.end.unwrap_or(WallTime(i64::MAX));
            outage.host == episode.host && outage.begin <= episode.end && episode.begin <= end
        })
    };
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
        let sentence = format!(
            "From {} to {} {} was bad in {}{peak}; one of {}.",
            moment_in_words(episode.begin),
            moment_in_words(episode.end),
            names.list(episode.series.iter().map(|one| &one.series)),
            counted(samples(episode), "sample"),
            counted(all, "episode"),
        );
        let advice = "See what else happened then (jobs, backups, server load), and note or import it as events, so that iolag can tell \
                      what comes with such times.";
        HistoryFinding::new(FindingKind::Episode, Severity::Warning, sentence, advice)
            .of(episode.series.iter().map(|one| &one.series))
            .during(episode.begin, episode.end)
            .sized(badness(episode))
    };
    worst.iter().map(finding).collect()
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

/// One finding per host.
fn gaps(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let (Some(begin), Some(end)) = (analysis.begin, analysis.end) else { return Vec::new() };
    let of_hosts = analysis.gaps.chunk_by(|one, other| one.host == other.host);
    of_hosts
        .map(|gaps| {
            let length = |gap: &super::gaps::Gap| gap.end.since(gap.begin);
            let sum = Nanoseconds(gaps.iter().map(|gap| length(gap).0).sum());
            let longest = gaps.iter().max_by_key(|gap| length(gap)).unwrap_or(&gaps[0]);
            let share = sum.as_seconds() / end.since(begin).as_seconds().max(1.0);
            let why = if longest.is_watched {
                "iolag ran all the same: the machine was suspended, or its clock was stepped"
            } else {
                "no watch ran"
            };
            let sentence = format!(
                "Nothing is known of {} for {sum} in {} ({} of the time), the longest from {} to {}: {why}.",
                longest.host,
                counted(gaps.len() as u64, "gap"),
                share_in_words(share),
                moment_in_words(longest.begin),
                moment_in_words(longest.end),
            );
            let advice =
                "Run the watch as a service that is started again (`iolag watch --print-unit service`).";
            let severity = if share > 0.1 { Severity::Warning } else { Severity::Note };
            HistoryFinding::new(FindingKind::Gap, severity, sentence, advice)
                .during(longest.begin, longest.end)
                .sized(share)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{EventSource, ProbeId};

    #[test]
    fn an_event_of_another_mount_is_not_named_with_an_outage() {
        let outage = Outage {
            host: "login1".to_owned(),
            mount: "/scratch".to_owned(),
            probe: ProbeId(7),
            begin: WallTime(1_000_000_000),
            end: None,
            ending: None,
            skipped: 0,
        };
        let event = |host: &str, target: &str| Event {
            id: "01".to_owned(),
            begin: outage.begin,
            end: None,
            host: host.to_owned(),
            target: target.to_owned(),
            source: EventSource::Note,
            kind: String::new(),
            text: "cache enabled".to_owned(),
            link: None,
            author: String::new(),
        };
        let is_named = |host, target| {
            outage_in_words(&outage, Nanoseconds::from_seconds(60), &[event(host, target)])
                .contains("cache enabled")
        };
        for (host, target) in [("", ""), ("login1", "/scratch"), ("", "/scratch/project"), ("", "work")] {
            assert!(is_named(host, target), "{host:?} {target:?}");
        }
        for (host, target) in [("login2", ""), ("", "/home"), ("login1", "/scratch2")] {
            assert!(!is_named(host, target), "{host:?} {target:?}");
        }
    }
}
