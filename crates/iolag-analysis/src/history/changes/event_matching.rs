//! Which event may explain which change?
//!
//! A change lies between two samples, an event at a moment or in a span; they match if they are no further apart than the tolerance. By
//! default that is 36 hours (study 000 itself says May 8 in one place and May 9 in another), or 2 % of the time covered where that is less
//! than 15 days, and at least the time between the two samples. Of these each change is matched with the event whose begin or end is nearest, of
//! equally near ones with the shortest: a maintenance of days contains many changes. Several changes may have the same event.
//!
//! The *chance* of a match is the share of the time covered that is as near to some event as this change is: the probability that a change
//! at a random moment would match so well. If an event begins or ends with the change, as near is what is so near to a begin or end. Where there
//! is an event every day, every change matches, and means nothing.

use iolag_model::{Event, EventSource, Nanoseconds, SeriesKey, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use super::change_point::ChangePoint;
use super::moment::ChangeMoment;

/// The tolerance for records of at least ten times its length.
const TOLERANCE: Nanoseconds = Nanoseconds::from_seconds(36 * 3600);

/// A change and the event next to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventMatch {
    /// Index of the change.
    pub change: usize,
    /// Id of the event.
    pub event: String,
    /// How far apart they are; zero if the event lies between the two samples, or around them.
    pub apart_ns: Nanoseconds,
    /// Probability that a change at a random moment would be as near to some event.
    pub chance: f64,
}

/// All changes of a series and all events that concern it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EventMatching {
    /// How far apart a change and an event may be.
    pub tolerance_ns: Nanoseconds,
    /// Changes with an event, in the order of changes.
    pub matched: Vec<EventMatch>,
    /// Indices of changes without.
    pub changes_unmatched: Vec<usize>,
    /// Ids of events within the time covered near which nothing changed.
    pub events_unmatched: Vec<String>,
}

/// Whether an event may explain what happens to a series: it is of its host and target, or of all, and does not tell of iolag itself.
pub fn concerns(event: &Event, series: &SeriesKey) -> bool {
    let of = |wanted: &str, name: &str| wanted.is_empty() || wanted == name;
    event.source != EventSource::Watch && of(&event.host, &series.host) && of(&event.target, &series.target)
}

/// The tolerance for a record of this length.
pub fn default_match_tolerance(covered: Nanoseconds) -> Nanoseconds {
    if covered.0 >= 10 * TOLERANCE.0 { TOLERANCE } else { Nanoseconds(covered.0 / 50) }
}

/// Matches changes with events; `covered` is the time from the first to the last sample.
pub fn match_events(
    changes: &[ChangePoint],
    events: &[&Event],
    covered: WallSpan,
    tolerance: Nanoseconds,
) -> EventMatching {
    let begins_within = |event: &&&Event| covered.begin <= event.begin && event.begin <= covered.end;
    let events: Vec<&Event> = events.iter().filter(begins_within).copied().collect();
    let mut matching = EventMatching { tolerance_ns: tolerance, ..EventMatching::default() };
    for (index, change) in changes.iter().enumerate() {
        let between = change.first_after.since(begin_of(change));
        let near = events
            .iter()
            .map(|event| (apart(change, event), *event))
            .filter(|(apart, _)| *apart <= tolerance.max(between));
        let order = |event: &Event| (edge_apart(change, event), end_of(event).since(event.begin));
        match near.min_by_key(|(apart, event)| (order(event), *apart)) {
            Some((apart_ns, event)) => {
                let chance = match edge_apart(change, event) {
                    Nanoseconds::ZERO => share_near(&edges_of(&events), covered, between),
                    _ => share_near(&spans_of(&events), covered, apart_ns.max(between)),
                };
                matching.matched.push(EventMatch {
                    change: index,
                    event: event.id.clone(),
                    apart_ns,
                    chance,
                });
            }
            None => matching.changes_unmatched.push(index),
        }
    }
    let is_near = |event: &&&Event| {
        changes
            .iter()
            .any(|change| apart(change, event) <= tolerance.max(change.first_after.since(begin_of(change))))
    };
    let alone = events.iter().filter(|event| !is_near(event));
    matching.events_unmatched = alone.map(|event| event.id.clone()).collect();
    matching
}

/// What takes its time begins when the level before is left.
fn begin_of(change: &ChangePoint) -> WallTime {
    change.began.map_or(change.last_before, |began| began.min(change.last_before))
}

/// Time between a change and an event; zero if they overlap.
fn apart(change: &ChangePoint, event: &Event) -> Nanoseconds {
    event.begin.since(change.first_after).max(begin_of(change).since(end_of(event)))
}

/// Time between a change and the nearer of an event's begin and end; zero if one of them lies between the two samples.
fn edge_apart(change: &ChangePoint, event: &Event) -> Nanoseconds {
    let away = |edge: WallTime| edge.since(change.first_after).max(begin_of(change).since(edge));
    away(event.begin).min(away(end_of(event)))
}

/// Where an event lies as seen from a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPlace {
    /// Its begin or end lies between the last sample before the change and the first after it.
    Within,
    /// It had begun before and ended after.
    Around,
    /// It was over so long before the moment of the change, the begin of one that took its time, or the earlier of the two samples between which it is.
    Before(Nanoseconds),
    /// It began so long after the first sample after the change.
    After(Nanoseconds),
}

/// Where an event lies as seen from a change at this moment.
pub fn place_of_event(change: &ChangePoint, moment: ChangeMoment, event: &Event) -> EventPlace {
    match (apart(change, event), moment) {
        (Nanoseconds::ZERO, _) if edge_apart(change, event) == Nanoseconds::ZERO => EventPlace::Within,
        (Nanoseconds::ZERO, _) => EventPlace::Around,
        (apart, _) if event.begin > change.first_after => EventPlace::After(apart),
        (_, ChangeMoment::At(moment)) if change.began.is_none() => {
            EventPlace::Before(moment.since(end_of(event)))
        }
        (apart, _) => EventPlace::Before(apart),
    }
}

fn end_of(event: &Event) -> WallTime {
    event.end.unwrap_or(event.begin).max(event.begin)
}

fn spans_of(events: &[&Event]) -> Vec<WallSpan> {
    events.iter().map(|event| WallSpan { begin: event.begin, end: end_of(event) }).collect()
}

fn edges_of(events: &[&Event]) -> Vec<WallSpan> {
    let edges = events.iter().flat_map(|event| [event.begin, end_of(event)]);
    edges.map(|edge| WallSpan { begin: edge, end: edge }).collect()
}

/// Share of the time covered that is at most `distance` away from some of these spans.
fn share_near(spans: &[WallSpan], covered: WallSpan, distance: Nanoseconds) -> f64 {
    let near_to =
        |span: &WallSpan| WallSpan { begin: span.begin.before(distance), end: span.end.after(distance) };
    let near: f64 = union_of(spans.iter().map(near_to).collect())
        .iter()
        .map(|span| span.end.min(covered.end).since(span.begin.max(covered.begin)).as_seconds())
        .sum();
    let whole = covered.end.since(covered.begin).as_seconds();
    if whole > 0.0 { (near / whole).min(1.0) } else { 1.0 }
}

/// Spans in the order of time, those that touch or overlap being joined.
pub(crate) fn union_of(mut spans: Vec<WallSpan>) -> Vec<WallSpan> {
    spans.sort_unstable_by_key(|span| (span.begin, span.end));
    let mut joined: Vec<WallSpan> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.begin <= last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::super::change_point::{ChangeShape, ChangeStrength};
    use super::super::levels::LevelRatio;
    use super::*;
    use crate::statistics::knowledge::Knowledge;

    const HOUR: i64 = 3600;

    fn change(hour: i64) -> ChangePoint {
        ChangePoint {
            last_before: WallTime::from_seconds(hour * HOUR - 900),
            first_after: WallTime::from_seconds(hour * HOUR),
            began: None,
            place: 1,
            count_before: 1,
            count_after: 1,
            median_before: 1.0,
            median_before_is: Knowledge::Exactly,
            median_after: 2.0,
            median_after_is: Knowledge::Exactly,
            p95_after: 3.0,
            ratio: LevelRatio { value: Some(2.0), value_is: Knowledge::Exactly, low: None, high: None },
            greater_after: 0.9,
            p: 0.001,
            shape: ChangeShape::Step,
            strength: ChangeStrength::Strong,
        }
    }

    fn event(id: &str, hour: i64) -> Event {
        Event {
            id: id.to_owned(),
            target: "/home".to_owned(),
            text: "LDAP cache enabled".to_owned(),
            ..Event::of_all(EventSource::Note, WallTime::from_seconds(hour * HOUR))
        }
    }

    fn covered(days: i64) -> WallSpan {
        WallSpan { begin: WallTime(0), end: WallTime::from_seconds(days * 24 * HOUR) }
    }

    #[test]
    fn the_cache_of_may_8_is_matched_with_the_change_of_may_9() {
        // Study 000: 42 days; midnight of the 14th day in the text, the morning after in the figure.
        let (span, noted, other) = (covered(42), event("cache", 14 * 24), event("other", 30 * 24));
        let tolerance = default_match_tolerance(span.end.since(span.begin));
        let matching =
            match_events(&[change(14 * 24 + 32), change(20 * 24)], &[&noted, &other], span, tolerance);
        assert_eq!(matching.tolerance_ns, Nanoseconds::from_seconds(36 * 3600));
        assert_eq!(matching.matched.len(), 1);
        let found = &matching.matched[0];
        assert_eq!((found.change, found.event.as_str()), (0, "cache"));
        assert_eq!(found.apart_ns, Nanoseconds::from_seconds(32 * 3600 - 900));
        // Two events, each with 31.75 hours to both sides, in 42 days.
        assert!((found.chance - 4.0 * 31.75 / (42.0 * 24.0)).abs() < 1e-9, "{}", found.chance);
        assert_eq!(
            (matching.changes_unmatched, matching.events_unmatched),
            (vec![1], vec!["other".to_owned()])
        );
    }

    #[test]
    fn a_short_record_has_a_short_tolerance() {
        assert_eq!(default_match_tolerance(Nanoseconds::from_seconds(7200)), Nanoseconds::from_seconds(144));
        let matching =
            match_events(&[change(3)], &[&event("late", 4)], covered(1), Nanoseconds::from_seconds(60));
        assert!(matching.matched.is_empty() && matching.events_unmatched == ["late"]);
        let inside = match_events(&[change(3)], &[&event("between", 3)], covered(1), Nanoseconds::ZERO);
        assert_eq!(inside.matched[0].apart_ns, Nanoseconds::ZERO);
        assert!((inside.matched[0].chance - 0.5 / 24.0).abs() < 1e-9);
    }

    #[test]
    fn the_event_whose_begin_is_nearest_is_matched_and_not_the_one_that_lasts() {
        let until = |id: &str, begin: i64, end: i64| Event {
            end: Some(WallTime::from_seconds(end * HOUR)),
            ..event(id, begin)
        };
        let matched = |events: &[&Event]| {
            let matching = match_events(&[change(100)], events, covered(20), Nanoseconds::from_seconds(7200));
            matching.matched[0].event.clone()
        };
        let (maintenance, exact) = (until("maintenance", 90, 120), event("exact", 100));
        assert_eq!(matched(&[&maintenance, &exact]), "exact");
        assert_eq!(matched(&[&maintenance, &event("an hour later", 101)]), "an hour later");
        assert_eq!(
            matched(&[&maintenance, &event("too late", 103)]),
            "maintenance",
            "it contains the change"
        );
        assert_eq!(matched(&[&until("begins with it", 100, 120), &exact]), "exact", "it is the shorter one");
    }

    #[test]
    fn the_chance_of_a_begin_is_that_of_begins_and_ends() {
        let storm = Event { end: Some(WallTime::from_seconds(172 * HOUR)), ..event("storm", 100) };
        let chance = |hour| {
            let matching =
                match_events(&[change(hour)], &[&storm], covered(20), Nanoseconds::from_seconds(7200));
            matching.matched[0].chance
        };
        assert!((chance(100) - 2.0 * 0.5 / 480.0).abs() < 1e-9, "a quarter of an hour around either");
        assert!((chance(120) - 72.5 / 480.0).abs() < 1e-9, "it was going on, as for three days");
    }

    #[test]
    fn an_event_was_over_so_long_before_the_moment_that_is_told() {
        let (change, noted) = (change(100), event("noted", 99));
        let at = ChangeMoment::At(change.first_after);
        let hours = |hours: f64| EventPlace::Before(Nanoseconds::from_seconds((hours * 3600.0) as u64));
        assert_eq!(place_of_event(&change, at, &noted), hours(1.0));
        let between = WallSpan { begin: change.last_before, end: change.first_after };
        assert_eq!(place_of_event(&change, ChangeMoment::Between(between), &noted), hours(0.75));
        assert_eq!(
            place_of_event(&change, at, &event("late", 101)),
            EventPlace::After(Nanoseconds::from_seconds(3600))
        );
    }

    #[test]
    fn what_changes_little_by_little_is_near_to_what_lies_within() {
        let slow = ChangePoint { began: Some(WallTime::from_seconds(60 * HOUR)), ..change(100) };
        let matched = |hour| {
            let matching =
                match_events(&[slow], &[&event("noted", hour)], covered(20), Nanoseconds::from_seconds(7200));
            matching.matched.first().map(|found| found.apart_ns)
        };
        assert_eq!(matched(60), Some(Nanoseconds::ZERO));
        assert_eq!(matched(59), Some(Nanoseconds::from_seconds(3600)));
        assert_eq!(matched(200), None);
    }

    #[test]
    fn only_what_concerns_a_series_may_explain_it() {
        let key = |target: &str| SeriesKey { target: target.to_owned(), ..SeriesKey::default() };
        assert!(concerns(&event("a", 1), &key("/home")) && !concerns(&event("a", 1), &key("/scratch")));
        let own = Event { source: EventSource::Watch, ..event("b", 1) };
        assert!(!concerns(&own, &key("/home")));
    }

    #[test]
    fn spans_are_joined() {
        let span = |begin, end| WallSpan { begin: WallTime(begin), end: WallTime(end) };
        let joined = union_of(vec![span(5, 9), span(0, 2), span(1, 3), span(9, 10)]);
        assert_eq!(joined, [span(0, 3), span(5, 10)]);
    }
}
