//! Do two places go bad together?
//!
//! Durations of attempts say nothing of a time in which nothing was attempted: a place that hangs for six hours is one attempt and 24 skipped slots.
//! So the question is asked of stretches of time: when was a place bad, and how long were both (see `statistics/overlap.rs`). What each does at its
//! hour of the day, by local time, is not told: two nightly jobs need not have anything in common but the hour. Asked are every two places of a host,
//! and a place that two hosts see. An outage of the mount on which both lie is one thing and no coincidence: its time counts for neither of the two.
//!
//! Limits: a time in which nobody watched is not bad; a bad sample counts until the next one was due. Of imported records the period is the
//! usual one that was seen: where it is a second off, moved times of single slots overlap by parts, and p is somewhat too small. Of more than
//! [`HOSTS_MOST`] hosts none is held against another: that would be thousands of pairs.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Nanoseconds, Outage, Series, SeriesKey, SeriesKind, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use super::search::Episode;
use crate::history::calendar::local_time::LocalTime;
use crate::history::changes::event_matching::union_of;
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
pub(crate) fn bad_overlaps(
    series: &[Series],
    outages: &[Outage],
    episodes: &[Episode],
    covered: WallSpan,
    local_time: &LocalTime,
) -> Vec<BadOverlap> {
    let bad: Vec<BadPlace> = bad_spans(series, outages, episodes)
        .into_iter()
        .map(|(place, spans)| {
            let set = stretches_of(&spans, covered, local_time);
            BadPlace { place, spans, set }
        })
        .collect();
    let seconds = covered.end.since(covered.begin).as_seconds();
    let hosts: BTreeSet<&str> = bad.iter().map(|one| one.place.host.as_str()).collect();
    let is_asked = |one: &Place, other: &Place| {
        let is_from_both = hosts.len() <= HOSTS_MOST && !one.target.is_empty() && one.target == other.target;
        one.host == other.host || is_from_both
    };
    let mut found = Vec::new();
    for (index, first) in bad.iter().enumerate() {
        for second in bad[index + 1..].iter().filter(|other| is_asked(&first.place, &other.place)) {
            let places = [&first.place, &second.place];
            let shared = shared_outages(series, outages, places);
            let set = |one: &BadPlace| match shared.as_slice() {
                [] => one.set.clone(),
                shared => stretches_of(&without(&one.spans, shared), covered, local_time),
            };
            let (first_set, second_set) = (set(first), set(second));
            if first_set.passed.is_empty() || second_set.passed.is_empty() {
                continue;
            }
            let overlap = overlap_of(&first_set, &second_set, seconds, slot_of(series, places, seconds));
            found.push(BadOverlap {
                first: first.place.clone(),
                second: second.place.clone(),
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

/// When a place was bad.
struct BadPlace {
    place: Place,
    /// Disjoint and in order.
    spans: Vec<WallSpan>,
    /// The same.
    set: Stretches,
}

/// When each place was bad, disjoint and in order: the episodes of its tasks, each bad sample counting until the next one was due, and the time in which
/// its mount did not answer or was not there. Whatever else makes a place bad is to be added here.
fn bad_spans(series: &[Series], outages: &[Outage], episodes: &[Episode]) -> BTreeMap<Place, Vec<WallSpan>> {
    let mut spans: BTreeMap<Place, Vec<WallSpan>> = BTreeMap::new();
    let tasks = || series.iter().filter(|series| is_of_storage(series));
    for episode in episodes.iter().flat_map(|episode| &episode.series) {
        let Some(series) = tasks().find(|series| series.key == episode.series) else { continue };
        let place = Place { host: series.key.host.clone(), target: series.key.target.clone() };
        let end = episode.end.max(episode.begin.after(series.period_ns));
        spans.entry(place).or_default().push(WallSpan { begin: episode.begin, end });
    }
    for series in tasks() {
        let (host, target) = (&series.key.host, &series.key.target);
        for outage in outages.iter().filter(|outage| outage.concerns(host, target)) {
            let place = Place { host: host.clone(), target: target.clone() };
            spans.entry(place).or_default().push(span_of(outage));
        }
    }
    spans.into_iter().map(|(place, spans)| (place, union_of(spans))).collect()
}

fn span_of(outage: &Outage) -> WallSpan {
    let end = outage.end.unwrap_or(WallTime(i64::MAX)).max(outage.begin);
    WallSpan { begin: outage.begin, end }
}

/// When an outage was of both places, disjoint and in order, with a period before and after: what was due then was bad because of it.
fn shared_outages(series: &[Series], outages: &[Outage], places: [&Place; 2]) -> Vec<WallSpan> {
    let is_of_both =
        |outage: &&Outage| places.iter().all(|place| outage.concerns(&place.host, &place.target));
    let period = periods_of(series, places).max().unwrap_or_default();
    let widened = |outage: &Outage| {
        let WallSpan { begin, end } = span_of(outage);
        WallSpan { begin: begin.before(period), end: end.after(period) }
    };
    union_of(outages.iter().filter(is_of_both).map(widened).collect())
}

/// What of `spans` is in none of `others`. Both are disjoint and in order.
fn without(spans: &[WallSpan], others: &[WallSpan]) -> Vec<WallSpan> {
    let mut rest = Vec::new();
    for span in spans {
        let mut begin = span.begin;
        for other in others.iter().filter(|other| other.begin < span.end && span.begin < other.end) {
            rest.push(WallSpan { begin, end: other.begin });
            begin = other.end;
        }
        rest.push(WallSpan { begin, end: span.end });
    }
    rest.retain(|span| span.begin < span.end);
    rest
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
    let periods = periods_of(series, places).map(Nanoseconds::as_seconds);
    periods.filter(|period| 100.0 * period <= covered).fold(0.0, f64::max)
}

/// How often each task of these places is due.
fn periods_of<'a>(series: &'a [Series], places: [&'a Place; 2]) -> impl Iterator<Item = Nanoseconds> + 'a {
    let is_here =
        move |key: &SeriesKey| places.iter().any(|one| one.host == key.host && one.target == key.target);
    let here = series.iter().filter(move |series| is_of_storage(series) && is_here(&series.key));
    here.map(|series| series.period_ns)
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
    use iolag_model::{Outcome, ProbeId};

    use super::super::search::{EpisodeOptions, find_episodes, merge_episodes};
    use super::*;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

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
    fn overlaps_of(slow: std::ops::Range<i64>, series: [Series; 2]) -> Vec<BadOverlap> {
        overlaps_with(slow, series, &[])
    }

    fn overlaps_with(
        slow: std::ops::Range<i64>,
        [one, other]: [Series; 2],
        outages: &[Outage],
    ) -> Vec<BadOverlap> {
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
        bad_overlaps(&series, outages, &episodes, covered(SLOTS), &LocalTime::UTC)
    }

    /// Of the hang of the second series.
    fn outage(mount: &str, targets: &[&str]) -> Outage {
        Outage {
            host: series_of("", "").key.host,
            kind: Default::default(),
            mount: mount.to_owned(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            probe: ProbeId(1),
            begin: WallTime::from_seconds(1400 * 900),
            end: Some(WallTime::from_seconds(1424 * 900)),
            ending: None,
            skipped: 23,
        }
    }

    #[test]
    fn two_directories_of_one_mount_are_not_bad_together_because_of_its_outage() {
        let series = || ["work", "scratch"].map(|target| series_of(target, "list"));
        let with = |slow, outage: Outage| overlaps_with(slow, series(), &[outage]);
        let shared = || outage("/mnt/lustre", &["scratch", "work"]);
        assert!(with(1400..1424, shared()).is_empty(), "both were bad because of one outage");
        assert!(with(1401..1423, outage("/mnt/lustre", &["scratch"]))[0].is_shared(0.05));
        let found = with(1390..1424, shared());
        assert!(found.is_empty(), "what is left is of one of them: {found:?}");
        // The other was never slow: an outage of another mount, whatever that is called, is none of it.
        let home = || ["/home", "scratch"].map(|target| series_of(target, "list"));
        assert!(overlaps_with(0..0, home(), &[outage("/", &["scratch"])]).is_empty());
        let lasting = Outage { end: None, ..shared() };
        assert!(with(1400..1424, lasting).is_empty());
    }

    #[test]
    fn what_is_taken_out_leaves_the_rest() {
        let spans = |all: &[(i64, i64)]| -> Vec<WallSpan> {
            all.iter().map(|(begin, end)| WallSpan { begin: WallTime(*begin), end: WallTime(*end) }).collect()
        };
        let rest =
            without(&spans(&[(0, 10), (20, 30), (40, 50)]), &spans(&[(2, 4), (6, 8), (25, 45), (60, 70)]));
        assert_eq!(rest, spans(&[(0, 2), (4, 6), (8, 10), (20, 25), (45, 50)]));
        assert_eq!(without(&spans(&[(0, 10)]), &[]), spans(&[(0, 10)]));
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
