//! Do two places go bad together?
//!
//! Durations of attempts say nothing of a time in which nothing was attempted: a place that hangs for six hours is one attempt and 24 skipped slots.
//! So the question is asked of stretches of time: when was a place bad, and how long were both (see `statistics/overlap.rs`). What each does at its
//! hour of the day, by local time, is not told: two nightly jobs need not have anything in common but the hour. Asked are every two places of a host,
//! and a place that two hosts see.
//!
//! Limits: a time in which nobody watched is not bad; a bad sample counts until the next one was due. Of imported records the period is the
//! usual one that was seen: where it is a second off, moved times of single slots overlap by parts, and p is somewhat too small. Of more than
//! [`HOSTS_MOST`] hosts none is held against another: that would be thousands of pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use iolag_model::{Nanoseconds, Outage, Series, SeriesKey, SeriesKind, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use super::calendar::LocalTime;
use super::episodes::Episode;
use super::event_matching::union_of;
use crate::statistics::overlap::{Stretches, overlap_of};

/// Greatest number of hosts that are held against each other.
const HOSTS_MOST: usize = 20;

/// A target as a host sees it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// From where.
    pub host: String,
    /// What.
    pub target: String,
}

/// Two places of a host, or one place from two hosts, and their bad times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BadOverlap {
    /// One place.
    pub first: Place,
    /// The other.
    pub second: Place,
    /// How long the first was bad.
    pub first_bad_ns: Nanoseconds,
    /// How long the second was.
    pub second_bad_ns: Nanoseconds,
    /// How long both were at the same time.
    pub both_ns: Nanoseconds,
    /// How long of it at other hours than those in which both are bad on a third of the days.
    pub other_hours_ns: Nanoseconds,
    /// How long that would be by chance, at these other hours, which knows the hours of the day.
    pub expected_ns: Nanoseconds,
    /// Probability of so long by chance.
    pub p: f64,
    /// The same after all pairs of places were counted.
    pub p_adjusted: f64,
}

impl BadOverlap {
    /// Whether most of the bad time of one of them was that of the other, or more than chance explains.
    pub fn is_shared(&self, significance: f64) -> bool {
        let shorter = self.first_bad_ns.min(self.second_bad_ns);
        self.p_adjusted <= significance || (self.both_ns.0 > 0 && 2 * self.both_ns.0 >= shorter.0)
    }
}

/// Every two places of a host, and every place from two hosts, that were bad at some time, in the order of their names. p are not adjusted yet.
pub(super) fn bad_overlaps(
    series: &[Series],
    outages: &[Outage],
    episodes: &[Episode],
    covered: WallSpan,
    local_time: &LocalTime,
) -> Vec<BadOverlap> {
    let stretches: Vec<(Place, Stretches)> = bad_stretches(series, outages, episodes)
        .into_iter()
        .map(|(place, spans)| (place, stretches_of(&spans, covered, local_time)))
        .collect();
    let covered = covered.end.since(covered.begin).as_seconds();
    let hosts: BTreeSet<&str> = stretches.iter().map(|one| one.0.host.as_str()).collect();
    let is_asked = |one: &Place, other: &Place| {
        let is_from_both = hosts.len() <= HOSTS_MOST && !one.target.is_empty() && one.target == other.target;
        one.host == other.host || is_from_both
    };
    let mut found = Vec::new();
    for (index, (first, first_set)) in stretches.iter().enumerate() {
        for (second, second_set) in stretches[index + 1..].iter().filter(|other| is_asked(first, &other.0)) {
            let slot = slot_of(series, [first, second], covered);
            let overlap = overlap_of(first_set, second_set, covered, slot);
            found.push(BadOverlap {
                first: first.clone(),
                second: second.clone(),
                first_bad_ns: in_ns(first_set.seconds()),
                second_bad_ns: in_ns(second_set.seconds()),
                both_ns: in_ns(overlap.seconds),
                other_hours_ns: in_ns(overlap.other_seconds),
                expected_ns: in_ns(overlap.expected_seconds),
                p: overlap.p,
                p_adjusted: overlap.p,
            });
        }
    }
    found
}

/// When each place was bad, disjoint and in order: the episodes of its tasks, each bad sample counting until the next one was due, and the time in which
/// its mount did not answer. Whatever else makes a place bad is to be added here.
fn bad_stretches(
    series: &[Series],
    outages: &[Outage],
    episodes: &[Episode],
) -> BTreeMap<Place, Vec<WallSpan>> {
    let mut spans: BTreeMap<Place, Vec<WallSpan>> = BTreeMap::new();
    let tasks = || series.iter().filter(|series| is_of_storage(series));
    for episode in episodes.iter().flat_map(|episode| &episode.series) {
        let Some(series) = tasks().find(|series| series.key == episode.series) else { continue };
        let place = Place { host: series.key.host.clone(), target: series.key.target.clone() };
        let end = episode.end.max(episode.begin.after(series.period_ns));
        spans.entry(place).or_default().push(WallSpan { begin: episode.begin, end });
    }
    for series in tasks() {
        let (host, target) = (&series.key.host, Path::new(&series.key.target));
        let of_mount =
            outages.iter().filter(|outage| outage.host == *host && target.starts_with(&outage.mount));
        for outage in of_mount {
            let place = Place { host: host.clone(), target: series.key.target.clone() };
            let end = outage.end.unwrap_or(WallTime(i64::MAX)).max(outage.begin);
            spans.entry(place).or_default().push(WallSpan { begin: outage.begin, end });
        }
    }
    spans.into_iter().map(|(place, spans)| (place, union_of(spans))).collect()
}

/// Seconds since the time covered began, as they passed and as local clocks showed them.
fn stretches_of(spans: &[WallSpan], covered: WallSpan, local_time: &LocalTime) -> Stretches {
    let within = |moment: WallTime| moment.max(covered.begin).min(covered.end);
    let passed: Vec<WallSpan> =
        spans.iter().map(|span| WallSpan { begin: within(span.begin), end: within(span.end) }).collect();
    let local = union_of(passed.iter().map(|span| local_time.shown_during(*span)).collect());
    let seconds = |spans: Vec<WallSpan>, first: WallTime| {
        let since = |moment: WallTime| moment.since(first).as_seconds();
        spans.into_iter().map(|span| (since(span.begin), since(span.end))).collect()
    };
    let first_shown = local_time.shown_during(covered).begin;
    Stretches { passed: seconds(passed, covered.begin), local: seconds(local, first_shown) }
}

/// How often somebody looked: the longest period of these places' tasks that is at most a hundredth of the seconds covered, 0 if there is none. Whole
/// numbers of it are whole numbers of shorter ones, as a rule.
fn slot_of(series: &[Series], places: [&Place; 2], covered: f64) -> f64 {
    let is_here = |key: &SeriesKey| places.iter().any(|one| one.host == key.host && one.target == key.target);
    let here = series.iter().filter(|series| is_of_storage(series) && is_here(&series.key));
    let periods = here.map(|series| series.period_ns.as_seconds());
    periods.filter(|period| 100.0 * period <= covered).fold(0.0, f64::max)
}

/// Whether it tells how long something took at a place, whoever measured it. The control is memory and no place.
const fn is_of_storage(series: &Series) -> bool {
    matches!(series.kind, SeriesKind::Task | SeriesKind::ImportedDuration)
}

fn in_ns(seconds: f64) -> Nanoseconds {
    Nanoseconds((seconds.max(0.0) * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::episodes::{EpisodeOptions, find_episodes, merge_episodes};
    use crate::history::samples::{columns_of, series_of};

    const SLOTS: i64 = 30 * 96;

    fn covered(slots: i64) -> WallSpan {
        WallSpan { begin: WallTime(0), end: WallTime::from_seconds(slots * 900) }
    }

    /// /scratch hangs for six hours, once a day 14; `list` on /home takes long at slots `slow`.
    fn overlaps(slow: std::ops::Range<i64>, kind: SeriesKind) -> Vec<BadOverlap> {
        let of = |target: &str| Series { kind, ..series_of(target, "list") };
        overlaps_of(slow, [of("/home"), of("/scratch")])
    }

    /// The first is slow at these slots, the second hangs.
    fn overlaps_of(slow: std::ops::Range<i64>, [one, other]: [Series; 2]) -> Vec<BadOverlap> {
        let scratch = columns_of((0..SLOTS).map(|slot| match slot {
            1400 => (slot * 900, 21_600_000, Outcome::Hung),
            1401..1424 => (slot * 900, 0, Outcome::Skipped),
            _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
        }));
        let home = columns_of((0..SLOTS).map(|slot| {
            let milliseconds =
                if slow.contains(&slot) { 15_000 + 1000 * (slot as u64 % 25) } else { 30 + slot as u64 % 5 };
            (slot * 900 + 300, milliseconds, Outcome::Ok)
        }));
        let series = vec![(one, home), (other, scratch)];
        let found = series
            .iter()
            .flat_map(|(series, columns)| find_episodes(series, columns, &[], &EpisodeOptions::default()));
        let episodes = merge_episodes(found.collect(), Nanoseconds::from_seconds(450));
        let series: Vec<Series> = series.into_iter().map(|(series, _)| series).collect();
        bad_overlaps(&series, &[], &episodes, covered(SLOTS), &LocalTime::UTC)
    }

    #[test]
    fn a_place_that_is_slow_while_another_hangs_is_bad_with_it() {
        for kind in [SeriesKind::Task, SeriesKind::ImportedDuration] {
            let found = overlaps(1400..1424, kind);
            let [one] = &found[..] else { panic!("{kind:?}: {found:?}") };
            assert_eq!((one.first.target.as_str(), one.second.target.as_str()), ("/home", "/scratch"));
            assert!(one.both_ns > Nanoseconds::from_seconds(5 * 3600) && one.p < 0.02, "{one:?}");
            assert!(one.is_shared(0.05));
        }
        assert!(overlaps(1400..1424, SeriesKind::Control).is_empty(), "memory is no place");
    }

    #[test]
    fn a_place_that_is_bad_from_two_hosts_at_once_is_seen_from_both() {
        let from = |host: &str, target: &str| {
            let mut series = series_of(target, "list");
            series.key.host = host.to_owned();
            series
        };
        let found = overlaps_of(1400..1424, [from("n1", "/home"), from("n2", "/home")]);
        let [one] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.first.host.as_str(), one.second.host.as_str()), ("n1", "n2"));
        assert!(one.is_shared(0.05) && one.p < 0.02, "{one:?}");
        let apart = overlaps_of(1400..1424, [from("n1", "/home"), from("n2", "/scratch")]);
        assert!(apart.is_empty(), "what two hosts see of two places is not asked: {apart:?}");
    }

    #[test]
    fn times_apart_are_nothing_in_common() {
        let found = overlaps(300..324, SeriesKind::Task);
        assert!(
            found.iter().all(|one| one.both_ns == Nanoseconds::ZERO && !one.is_shared(0.05)),
            "{found:?}"
        );
        assert!(overlaps(0..0, SeriesKind::Task).is_empty(), "one place alone");
        assert!(bad_overlaps(&[], &[], &[], covered(1), &LocalTime::UTC).is_empty());
    }
}
