//! Findings about times in which something was bad: outages and episodes.

use std::cmp::Reverse;

use iolag_model::{Event, EventSource, Nanoseconds, Outage, WallTime};

use crate::finding::Severity;
use crate::finding::of_histories::{EpisodeFound, HistoryFinding, HistoryFound, OutageFound, OutagesLeftOut};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::event_matching::EventPlace;
use crate::history::episodes::search::{Episode, SeriesEpisode};

/// Findings of a kind that are told one by one; the others are summed up.
const TOLD_MOST: usize = 5;

/// An event this near to the begin of an outage is named.
const NEAR: Nanoseconds = Nanoseconds::from_seconds(3600);

pub(crate) fn findings_of_bad_times(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let mut findings = outages(analysis);
    findings.extend(episodes(analysis));
    findings
}

fn outages(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let now = analysis.end.unwrap_or(WallTime(0));
    let length = |outage: &Outage| outage.end.unwrap_or(now).since(outage.begin);
    let mut longest: Vec<&Outage> = analysis.outages.iter().collect();
    // What lasts comes first, then the longest.
    longest.sort_by_key(|outage| (outage.end.is_some(), Reverse(length(outage))));
    let told = longest.iter().take(TOLD_MOST).map(|outage| {
        let found = HistoryFound::Outage(OutageFound {
            outage: (*outage).clone(),
            length_ns: length(outage),
            event: event_near(outage, &analysis.events),
        });
        HistoryFinding::new(found, Severity::Serious)
            .during(outage.begin, outage.end.unwrap_or(now))
            .sized(if outage.end.is_none() { f64::INFINITY } else { length(outage).as_seconds() })
    });
    let mut findings: Vec<HistoryFinding> = told.collect();
    if let Some(longest_left) = longest.get(TOLD_MOST) {
        let others = &longest[TOLD_MOST..];
        let found = HistoryFound::OutagesLeftOut(OutagesLeftOut {
            count: others.len() as u64,
            sum_ns: Nanoseconds(others.iter().map(|outage| length(outage).0).sum()),
            longest_ns: length(longest_left),
        });
        findings.push(HistoryFinding::new(found, Severity::Serious));
    }
    findings
}

/// The event nearest to the begin of an outage, if it may have to do with it.
fn event_near(outage: &Outage, events: &[Event]) -> Option<(String, EventPlace)> {
    let concerns = |event: &&Event| may_concern(event, outage) && event.source != EventSource::Watch;
    let apart = |event: &Event| event.begin.since(outage.begin).max(outage.begin.since(event.begin));
    let nearest = events.iter().filter(concerns).min_by_key(|event| apart(event));
    nearest.filter(|event| apart(event) <= NEAR).map(|event| {
        let is_before = event.begin <= outage.begin;
        let place = if is_before { EventPlace::Before } else { EventPlace::After };
        (event.text.clone(), place(apart(event)))
    })
}

/// Whether an event is of the outage's host, and of no target that is not its own.
fn may_concern(event: &Event, outage: &Outage) -> bool {
    (event.host.is_empty() || event.host == outage.host) && outage.may_come_with(&event.target)
}

/// The worst episodes but for those that are nothing but outages, which are told by themselves.
fn episodes(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
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
    let of = worst.len() as u64;
    worst.truncate(3);
    let finding = |episode: &Episode| {
        let peaks = episode.series.iter().filter_map(|one| Some((one.peak?, one.peak_is)));
        let found = HistoryFound::Episode(EpisodeFound {
            samples: samples(episode),
            peak: peaks.max_by(|one, other| one.0.total_cmp(&other.0)),
            of,
        });
        HistoryFinding::new(found, Severity::Warning)
            .of(episode.keys())
            .during(episode.begin, episode.end)
            .sized(badness(episode))
    };
    worst.into_iter().map(finding).collect()
}
