//! Do bad times come with events of a kind more often than by chance?
//!
//! An event comes with an episode if the episode, widened by the tolerance to both sides, contains it (or overlaps it, if it lasts). How
//! many do is compared with what remains when all events of the kind are moved together by random lengths of time around the time
//! covered (999 circular shifts, fixed seed): their own pattern, and that of the episodes, stay as they are. What comes together because both
//! keep to the same hours of the day, by local time, is found on other days as well, and is taken off before (see `statistics/rhythm/other_days.rs`). p
//! values are adjusted for the number of kinds (see [`crate::history::multiple_testing`]).
//!
//! An event of a host that is watched comes with episodes of that host only. One of any other host may be a server's, and one without a host
//! concerns everybody: they come with episodes of all.
//!
//! Limits: association is not cause; which came first is not asked. Times in which nobody watched count as time without episodes. In the
//! hour that clocks show twice when summer time ends, moments an hour apart are the same.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Event, EventSource, Nanoseconds, WallSpan};
use serde::{Deserialize, Serialize};

use super::search::Episode;
use crate::history::calendar::local_time::LocalTime;
use crate::history::changes::event_matching::union_of;
use crate::statistics::rhythm::other_days::{OtherDays, due_to_clocks, expected};
use iolag_model::Random;

const SHIFTS: usize = 999;
const SHIFTS_LEAST: usize = 199;
const EXCEEDANCES_ENOUGH: usize = 20;

/// How events of a kind and episodes go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Association {
    /// The kind; the source's name for events without one.
    pub kind: String,
    /// Events of it in the time covered.
    pub events: u64,
    /// Those with an episode within the tolerance.
    pub events_near: u64,
    /// How many of them would be by chance, on average: at any hour, or at their hours of other days if that is more.
    pub expected: f64,
    /// `events_near` by `expected`; absent if none is expected.
    pub rate: Option<f64>,
    /// Probability of so many by chance.
    pub p: f64,
    /// The same, adjusted for the number of kinds.
    pub p_adjusted: f64,
    /// How far from an episode an event may be.
    pub tolerance_ns: Nanoseconds,
}

/// An hour, or two periods if that is longer, but no more than 1 % of the time covered.
pub fn default_association_tolerance(period: Nanoseconds, covered: Nanoseconds) -> Nanoseconds {
    Nanoseconds::from_seconds(3600).max(Nanoseconds(2 * period.0)).min(Nanoseconds(covered.0 / 100))
}

/// Associations in the order of kinds' names. `watched` are the hosts that measured, `covered` is the time from the first to the last
/// sample, and with it comes what clocks show there.
pub fn associate(
    episodes: &[Episode],
    events: &[&Event],
    watched: &BTreeSet<&str>,
    (covered, local_time): (WallSpan, &LocalTime),
    tolerance: Nanoseconds,
    seed: u64,
) -> Vec<Association> {
    let near = Neighbourhoods::of(episodes, watched, tolerance, local_time);
    let shown = local_time.shown_during(covered);
    let mut of_kinds: Vec<(&str, &Event)> = events
        .iter()
        .filter(|event| event.source != EventSource::Watch && covered.contains(event.begin))
        .map(|event| (kind_of(event), *event))
        .collect();
    of_kinds.sort_by(|one, other| one.0.cmp(other.0));
    of_kinds
        .chunk_by(|one, other| one.0 == other.0)
        .map(|of_kind| {
            let placed: Vec<Placed> = of_kind.iter().map(|(_, event)| near.place(event)).collect();
            association(of_kind[0].0, &placed, shown, tolerance, seed)
        })
        .collect()
}

/// The time near episodes: of each watched host, and of all. As clocks show it.
struct Neighbourhoods<'a> {
    of_hosts: BTreeMap<&'a str, Near>,
    of_all: Near,
    local_time: &'a LocalTime,
}

struct Near {
    spans: Vec<WallSpan>,
    longest: Nanoseconds,
}

/// An event and the time near the episodes that it may come with, as clocks show them.
#[derive(Clone, Copy)]
struct Placed<'a> {
    event: WallSpan,
    near: &'a Near,
}

impl<'a> Neighbourhoods<'a> {
    fn of(
        episodes: &[Episode],
        watched: &BTreeSet<&'a str>,
        tolerance: Nanoseconds,
        local_time: &'a LocalTime,
    ) -> Self {
        let widened = |episode: &Episode| {
            let (begin, end) = (episode.begin.before(tolerance), episode.end.after(tolerance));
            local_time.shown_during(WallSpan { begin, end })
        };
        let of_host = |host: &str| {
            let own = episodes.iter().filter(|episode| episode.host == host);
            Near::of(own.map(widened).collect())
        };
        Self {
            of_hosts: watched.iter().map(|host| (*host, of_host(host))).collect(),
            of_all: Near::of(episodes.iter().map(widened).collect()),
            local_time,
        }
    }

    fn place(&self, event: &Event) -> Placed<'_> {
        let near = self.of_hosts.get(event.host.as_str()).unwrap_or(&self.of_all);
        Placed { event: self.local_time.shown_during(span_of(event)), near }
    }
}

impl Near {
    fn of(spans: Vec<WallSpan>) -> Self {
        let spans = union_of(spans);
        Self { longest: spans.iter().copied().map(length_of).max().unwrap_or_default(), spans }
    }
}

fn length_of(span: WallSpan) -> Nanoseconds {
    span.end.since(span.begin)
}

fn kind_of(event: &Event) -> &str {
    if !event.kind.is_empty() {
        return &event.kind;
    }
    match event.source {
        EventSource::Note => "note",
        EventSource::Configuration => "configuration",
        EventSource::List => "list",
        EventSource::Journal => "journal",
        EventSource::Watch => "watch",
    }
}

fn span_of(event: &Event) -> WallSpan {
    WallSpan { begin: event.begin, end: event.end.unwrap_or(event.begin).max(event.begin) }
}

fn association(
    kind: &str,
    events: &[Placed<'_>],
    covered: WallSpan,
    tolerance: Nanoseconds,
    seed: u64,
) -> Association {
    let length = length_of(covered);
    let count = |shift: u64, circle: Nanoseconds| {
        let circle = WallSpan { begin: covered.begin, end: covered.begin.after(circle) };
        let is_near = |placed: &&Placed| overlaps(&placed.near.spans, moved(placed.event, shift, circle));
        events.iter().filter(is_near).count() as f64
    };
    let observed = count(0, length);
    let mut noise = Random::new(seed);
    let mut anywhere = || count((noise.unit() * length.0 as f64) as u64, length);
    let mut drawn: Vec<f64> = (0..SHIFTS_LEAST).map(|_| anywhere()).collect();
    let on_other_days = on_other_days(events, length, count);
    let judged = observed - due_to_clocks(&drawn, &on_other_days);
    let mut exceeding = drawn.iter().filter(|by_chance| **by_chance >= judged).count();
    while drawn.len() < SHIFTS && exceeding < EXCEEDANCES_ENOUGH {
        let by_chance = anywhere();
        exceeding += usize::from(by_chance >= judged);
        drawn.push(by_chance);
    }
    let expected = expected(drawn.iter().sum::<f64>() / drawn.len() as f64, &on_other_days);
    let p = (exceeding + 1) as f64 / (drawn.len() + 1) as f64;
    Association {
        kind: kind.to_owned(),
        events: events.len() as u64,
        events_near: observed as u64,
        expected,
        rate: (expected > 0.0).then(|| observed / expected),
        p,
        p_adjusted: p,
        tolerance_ns: tolerance,
    }
}

/// How many events are near after each move by whole days.
fn on_other_days(
    events: &[Placed<'_>],
    covered: Nanoseconds,
    count: impl Fn(u64, Nanoseconds) -> f64,
) -> Vec<f64> {
    let lengths = events.iter().map(|placed| placed.near.longest.max(length_of(placed.event)));
    let longest = lengths.max().unwrap_or_default();
    let days = OtherDays::of(covered.as_seconds(), longest.as_seconds());
    let nanoseconds = |seconds: f64| (seconds * 1e9) as u64;
    days.found(|shift| count(nanoseconds(shift), Nanoseconds(nanoseconds(days.circle))))
}

/// The event moved forward by `shift`; whoever leaves the time covered at its end comes back at its begin.
fn moved(event: WallSpan, shift: u64, covered: WallSpan) -> WallSpan {
    let length = length_of(covered).0.max(1);
    let lasted = length_of(event);
    let within = (event.begin.since(covered.begin).0 + shift) % length;
    let begin = covered.begin.after(Nanoseconds(within));
    WallSpan { begin, end: begin.after(lasted) }
}

fn overlaps(spans: &[WallSpan], event: WallSpan) -> bool {
    let after: usize = spans.partition_point(|span| span.begin <= event.end);
    after > 0 && spans[after - 1].end >= event.begin
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;

    use super::*;

    const HOUR: i64 = 3600;
    static UTC: LocalTime = LocalTime::UTC;

    fn episode(hour: i64) -> Episode {
        Episode {
            host: "login1".to_owned(),
            begin: WallTime::from_seconds(hour * HOUR),
            end: WallTime::from_seconds(hour * HOUR + 600),
            is_ongoing: false,
            series: Vec::new(),
        }
    }

    fn event(kind: &str, hour: f64) -> Event {
        Event { kind: kind.to_owned(), ..Event::of_all(EventSource::List, WallTime((hour * 3.6e12) as i64)) }
    }

    fn watched() -> BTreeSet<&'static str> {
        ["login1", "login2"].into()
    }

    fn covered() -> (WallSpan, &'static LocalTime) {
        (WallSpan { begin: WallTime(0), end: WallTime::from_seconds(1000 * HOUR) }, &UTC)
    }

    #[test]
    fn events_that_come_with_episodes_are_told_from_those_that_do_not() {
        let mut noise = Random::new(24);
        let hours: Vec<i64> = (0..20).map(|index| index * 47 + 5 + (noise.unit() * 20.0) as i64).collect();
        let episodes: Vec<Episode> = hours.iter().map(|hour| episode(*hour)).collect();
        let mut events: Vec<Event> =
            hours[..8].iter().map(|hour| event("node failure", *hour as f64 - 0.1)).collect();
        events.extend((0..30).map(|_| event("backup", 1000.0 * noise.unit())));
        let events: Vec<&Event> = events.iter().collect();
        let found = associate(&episodes, &events, &watched(), covered(), Nanoseconds::from_seconds(3600), 1);
        let [backup, failure] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((failure.kind.as_str(), failure.events, failure.events_near), ("node failure", 8, 8));
        assert!(failure.p < 0.01 && failure.rate.unwrap() > 5.0, "{failure:?}");
        assert!(backup.p > 0.05, "{backup:?}");
    }

    #[test]
    fn chance_associations_are_as_rare_as_they_should_be() {
        let mut noise = Random::new(22);
        let wrong = (0..200).filter(|seed| {
            let episodes: Vec<Episode> = (0..15).map(|_| episode((noise.unit() * 990.0) as i64)).collect();
            let events: Vec<Event> = (0..25).map(|_| event("restart", 1000.0 * noise.unit())).collect();
            let events: Vec<&Event> = events.iter().collect();
            associate(&episodes, &events, &watched(), covered(), Nanoseconds::from_seconds(3600), *seed)[0].p
                <= 0.05
        });
        assert!(wrong.count() <= 16);
    }

    #[test]
    fn what_keeps_to_the_same_hours_is_not_told() {
        let mut noise = Random::new(23);
        let covered = (WallSpan { begin: WallTime(0), end: WallTime::from_seconds(28 * 24 * HOUR) }, &UTC);
        let wrong = (0..200).filter(|seed| {
            let at_work = (0..28 * 24).filter(|hour| (9..17).contains(&(hour % 24)) && noise.unit() < 0.12);
            let episodes: Vec<Episode> = at_work.map(episode).collect();
            let noons = (0..28).map(|day| f64::from(day) * 24.0 + 11.0 + 2.0 * noise.unit());
            let events: Vec<Event> = noons.map(|hour| event("restart", hour)).collect();
            let events: Vec<&Event> = events.iter().collect();
            let tolerance = Nanoseconds::from_seconds(3600);
            associate(&episodes, &events, &watched(), covered, tolerance, *seed)[0].p <= 0.05
        });
        let wrong = wrong.count();
        assert!(wrong <= 10, "{wrong} of 200");
    }

    #[test]
    fn an_event_that_lasts_overlaps() {
        let lasting = Event { end: Some(WallTime::from_seconds(30 * HOUR)), ..event("upgrade", 20.0) };
        let found = associate(&[episode(25)], &[&lasting], &watched(), covered(), Nanoseconds::ZERO, 1);
        assert_eq!(found[0].events_near, 1);
        assert!(associate(&[episode(25)], &[], &watched(), covered(), Nanoseconds::ZERO, 1).is_empty());
    }

    #[test]
    fn an_event_of_a_watched_host_comes_with_its_own_episodes_only() {
        let of_host = |host: &str| Event { host: host.to_owned(), ..event("out of memory", 25.0) };
        for (host, expected) in [("login1", 1), ("login2", 0), ("server", 1), ("", 1)] {
            let event = of_host(host);
            let tolerance = Nanoseconds::from_seconds(60);
            let found = associate(&[episode(25)], &[&event], &watched(), covered(), tolerance, 1);
            assert_eq!(found[0].events_near, expected, "{host:?}");
        }
    }

    #[test]
    fn the_tolerance_suits_period_and_record() {
        let quarter = Nanoseconds::from_seconds(900);
        let year = Nanoseconds::from_seconds(365 * 86_400);
        assert_eq!(default_association_tolerance(quarter, year), Nanoseconds::from_seconds(3600));
        assert_eq!(
            default_association_tolerance(quarter, Nanoseconds::from_seconds(7200)),
            Nanoseconds::from_seconds(72)
        );
    }
}
