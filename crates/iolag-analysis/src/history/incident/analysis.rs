//! The trouble in a history, as an incident report tells it: when storage was bad, and what that did to each task and target.
//!
//! Bad times are outages, episodes that people notice, and raised levels (see [`super::bad_times`]). Those of all hosts that overlap are
//! one. Each series is told before the first, during them, between them and after the last.
//!
//! Invariants: every sample of a series belongs to one period, by its start (for a skipped slot, when it was due). Amounts are by time, so
//! that one hung probe and the slots that it kept from being measured do not count as a single bad attempt.
//!
//! Limits: episodes and levels are found in these same samples, so that a series is slow during its own by construction; the figures tell
//! how slow. Outages and series that were not affected are free of that.

use super::impact::{Judged, SeriesImpact};
use iolag_model::{HistoryColumns, Outcome, ProbeId, Series, SeriesKey, WallSpan, WallTime};
use serde::Serialize;

use super::bad_times::{BadTimes, RaisedLevel};
use super::places::{PlaceImpact, places};
use crate::history::analysis::HistoryAnalysis;
use crate::history::input::HistoryInput;
use crate::history::options::HistoryOptions;
use crate::history::series::observations::Blockers;
use crate::history::source::blockers_by_host;

/// The trouble in a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Incident {
    /// Bad times in the order of time, disjoint. The end of one that lasts is the last moment of which something is known.
    pub bad_times: Vec<WallSpan>,
    /// Whether the last one had not ended.
    pub is_ongoing: bool,
    /// Places of the episodes that belong to it in [`HistoryAnalysis::episodes`].
    pub episodes: Vec<usize>,
    /// Times in which a series was on a raised level, in the order of series and time.
    pub raised_levels: Vec<RaisedLevel>,
    /// What it did to whole tasks, in the order of their keys.
    pub impacts: Vec<SeriesImpact>,
    /// What it did to targets, worst first.
    pub places: Vec<PlaceImpact>,
    /// Probes that did not end within their deadline, in the order of time.
    pub past_deadline: Vec<PastDeadline>,
}

/// A probe that did not end within its deadline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PastDeadline {
    /// Which task, where.
    pub series: SeriesKey,
    /// Which probe; unique on its host.
    pub probe: ProbeId,
    /// When it started.
    pub start: WallTime,
    /// How it ended, as far as is known.
    pub outcome: Outcome,
}

/// Finds the trouble in a history. `analysis` is that of `input` with the same options.
pub fn find_incident(input: &HistoryInput, analysis: &HistoryAnalysis, options: &HistoryOptions) -> Incident {
    let BadTimes { spans: bad_times, is_ongoing, episodes, raised_levels } = BadTimes::of(input, analysis);
    let blockers = blockers_by_host(input);
    let none = Blockers::default();
    let mut whole: Vec<&(Series, HistoryColumns)> = input
        .series
        .iter()
        .filter(|(series, _)| series.kind.is_duration() && series.key.part.is_empty())
        .collect();
    whole.sort_by(|one, other| one.0.key.cmp(&other.0.key));
    let judged: Vec<Judged> = whole
        .iter()
        .map(|(series, columns)| {
            let blockers = blockers.get(series.key.host.as_str()).unwrap_or(&none);
            let analysed = analysis.series.iter().find(|one| one.summary.series.key == series.key);
            let changes = analysed.map_or(&[][..], |one| &one.changes);
            Judged::of((series, columns, changes), &bad_times, blockers, options)
        })
        .collect();
    Incident {
        places: places(&judged, &bad_times, &input.outages),
        past_deadline: past_deadline(&whole),
        impacts: judged.into_iter().map(|one| one.impact).collect(),
        bad_times,
        is_ongoing,
        episodes,
        raised_levels,
    }
}

impl Incident {
    /// From the first bad moment to the last; absent without any.
    pub fn span(&self) -> Option<WallSpan> {
        Some(WallSpan { begin: self.bad_times.first()?.begin, end: self.bad_times.last()?.end })
    }
}

fn past_deadline(whole: &[&(Series, HistoryColumns)]) -> Vec<PastDeadline> {
    let of_series = |(series, columns): &&(Series, HistoryColumns)| -> Vec<PastDeadline> {
        let is_past =
            |row: &usize| matches!(columns.outcome[*row], Outcome::Timeout | Outcome::Hung | Outcome::Late);
        let told = (0..columns.len()).filter(is_past).map(|row| PastDeadline {
            series: series.key.clone(),
            probe: columns.probe[row],
            start: columns.start[row],
            outcome: columns.outcome[row],
        });
        told.collect()
    };
    let mut all: Vec<PastDeadline> = whole.iter().flat_map(of_series).collect();
    all.sort_by(|one, other| {
        (one.start, &one.series, one.probe).cmp(&(other.start, &other.series, other.probe))
    });
    all
}

#[cfg(test)]
mod tests {
    use iolag_model::{Nanoseconds, Outage, OutageEnding, OutageKind};

    use super::super::impact::IncidentPeriod;
    use super::super::seen::Seen;
    use super::*;
    use crate::history::PlaceEffect;
    use crate::history::analyse_history;
    use crate::history::series::summary::WeightedSummary;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    const PERIOD: i64 = 900;
    const SLOTS: i64 = 400;
    /// The slot of a hang of two hours.
    const HANG: i64 = 200;

    /// Milliseconds without any order in time.
    fn scattered(slot: i64) -> u64 {
        (slot * 7919 % 1009).unsigned_abs() % 97
    }

    fn home() -> (Series, HistoryColumns) {
        let mut columns = columns_of((0..SLOTS).map(|slot| match slot {
            HANG => (slot * PERIOD, 7_000_000, Outcome::Late),
            _ if (HANG + 1..HANG + 8).contains(&slot) => (slot * PERIOD, 0, Outcome::Skipped),
            _ => (slot * PERIOD, 200 + scattered(slot), Outcome::Ok),
        }));
        for slot in HANG + 1..HANG + 8 {
            columns.blocker[slot as usize] = ProbeId(HANG as u64 + 1);
        }
        (series_of("/home", "list"), columns)
    }

    fn scratch() -> (Series, HistoryColumns) {
        let mut columns =
            columns_of((0..SLOTS).map(|slot| (slot * PERIOD + 20, 300 + scattered(slot), Outcome::Ok)));
        // Probes are unique on their host.
        columns.probe.iter_mut().for_each(|probe| probe.0 += 100_000);
        (series_of("/scratch", "list"), columns)
    }

    fn outage(end: Option<i64>) -> Outage {
        Outage {
            kind: Default::default(),
            targets: Default::default(),
            host: "login1".to_owned(),
            mount: "/home".to_owned(),
            probe: ProbeId(HANG as u64 + 1),
            begin: WallTime::from_seconds(HANG * PERIOD),
            end: end.map(WallTime::from_seconds),
            ending: end.map(|_| OutageEnding::Recovered),
            skipped: 7,
        }
    }

    fn incident_of(series: Vec<(Series, HistoryColumns)>, outages: Vec<Outage>) -> Incident {
        let input = HistoryInput { series, outages, ..HistoryInput::default() };
        let options = HistoryOptions::default();
        find_incident(&input, &analyse_history(&input, &options), &options)
    }

    fn effects(incident: &Incident) -> Vec<(&str, PlaceEffect)> {
        incident.places.iter().map(|place| (place.target.as_str(), place.effect)).collect()
    }

    #[test]
    fn an_outage_tells_who_was_affected_and_who_was_not() {
        let incident = incident_of(vec![scratch(), home()], vec![outage(Some(HANG * PERIOD + 7000))]);
        let [bad] = incident.bad_times[..] else { panic!("{:?}", incident.bad_times) };
        assert_eq!(bad.begin, WallTime::from_seconds(HANG * PERIOD));
        assert_eq!(bad.end, WallTime::from_seconds(HANG * PERIOD + 7000));
        assert!(!incident.is_ongoing);
        assert_eq!(
            effects(&incident),
            [("/home", PlaceEffect::Unanswered), ("/scratch", PlaceEffect::Usual)]
        );
        let home = &incident.impacts[0];
        let told: Vec<_> = home
            .periods
            .iter()
            .map(|one| (one.period, one.rates.attempts, one.rates.skipped.count))
            .collect();
        let expected = [
            (IncidentPeriod::Before, 200, 0),
            (IncidentPeriod::During, 1, 7),
            (IncidentPeriod::After, 192, 0),
        ];
        assert_eq!(told, expected);
        // By time: the late probe and seven slots that waited for it.
        let during = &home.periods[1].summary;
        let over =
            during.shares.iter().find(|share| share.counted.threshold_ns == Nanoseconds::from_seconds(1));
        assert_eq!(over.map(|share| (share.counted.over, share.of)), Some((8, 8)));
        let late: Vec<_> = incident.past_deadline.iter().map(|one| (one.probe, one.outcome)).collect();
        assert_eq!(late, [(ProbeId(HANG as u64 + 1), Outcome::Late)]);
    }

    #[test]
    fn every_sample_belongs_to_one_period() {
        let incident = incident_of(vec![home()], vec![outage(Some(HANG * PERIOD + 7000))]);
        let slots: u64 = incident.impacts[0].periods.iter().map(|one| one.rates.slots).sum();
        assert_eq!(slots, SLOTS as u64);
        let bad =
            [(10, 20), (30, 40)].map(|(begin, end)| WallSpan { begin: WallTime(begin), end: WallTime(end) });
        use IncidentPeriod::{After, Before, Between, During};
        let periods = [9, 10, 20, 21, 30, 41].map(|start| IncidentPeriod::of(&bad, WallTime(start)));
        assert_eq!(periods, [Before, During, During, Between, During, After]);
        assert_eq!(IncidentPeriod::of(&[], WallTime(5)), IncidentPeriod::Whole);
    }

    #[test]
    fn an_outage_that_lasts_has_no_after() {
        let (series, columns) = home();
        let rows: Vec<usize> = (0..HANG as usize + 8).collect();
        let mut cut = columns.rows(&rows);
        cut.outcome[HANG as usize] = Outcome::Hung;
        let incident = incident_of(vec![(series, cut), scratch()], vec![outage(None)]);
        assert!(incident.is_ongoing);
        let span = incident.span().unwrap();
        assert!(span.end >= WallTime::from_seconds((SLOTS - 1) * PERIOD), "{span:?}");
        assert!(
            incident.impacts.iter().all(|one| one.periods.last().unwrap().period == IncidentPeriod::During)
        );
    }

    #[test]
    fn an_outage_is_of_a_target_by_any_name_and_of_no_other() {
        let (series, columns) = home();
        let rows: Vec<usize> = (HANG as usize + 1..HANG as usize + 8).collect();
        let cut = columns.rows(&rows);
        let effect = |target: &str, outage: Outage| {
            let mut series = series.clone();
            series.key.target = target.to_owned();
            effects(&incident_of(vec![(series, cut.clone()), scratch()], vec![outage]))
                .into_iter()
                .find_map(|(place, effect)| (place == target).then_some(effect))
        };
        let of = |mount: &str, targets: &[&str]| Outage {
            mount: mount.to_owned(),
            targets: targets.iter().map(|target| (*target).to_owned()).collect(),
            probe: ProbeId(HANG as u64 + 999),
            ..outage(None)
        };
        for target in ["fuse", "/home/ann"] {
            assert_eq!(effect(target, of("/mnt/fuse", &[target])), Some(PlaceEffect::Unanswered), "{target}");
            assert_eq!(effect(target, of("/", &["/tmp"])), Some(PlaceEffect::NotMeasured), "{target}");
        }
        let unmounted = Outage { kind: OutageKind::NotMounted, ..of("/mnt/fuse", &["fuse"]) };
        assert_eq!(effect("fuse", unmounted), Some(PlaceEffect::NotMounted));
    }

    #[test]
    fn slots_lost_to_a_probe_of_before_are_not_taken_for_good_ones() {
        let (series, columns) = home();
        let rows: Vec<usize> = (HANG as usize + 1..HANG as usize + 8).collect();
        let cut = columns.rows(&rows);
        let incident = incident_of(vec![(series, cut), scratch()], vec![outage(None)]);
        assert_eq!(effects(&incident)[0], ("/home", PlaceEffect::Unanswered));
    }

    #[test]
    fn few_attempts_tell_as_much_as_they_can() {
        let (series, columns) = scratch();
        let shorter = || vec![outage(Some(HANG * PERIOD + 2000))];
        let effect =
            |columns: HistoryColumns| effects(&incident_of(vec![(series.clone(), columns)], shorter()))[0].1;
        assert_eq!(effect(columns.clone()), PlaceEffect::Usual);
        let mut slow = columns.clone();
        slow.duration_ns[HANG as usize + 1] = Nanoseconds::from_milliseconds(900);
        assert_eq!(effect(slow), PlaceEffect::TooFew);
        let mut failed = columns.clone();
        failed.outcome[HANG as usize + 1] = Outcome::Error;
        assert_eq!(effect(failed), PlaceEffect::Failing);
        let rows: Vec<usize> = (0..HANG as usize).chain(HANG as usize + 3..SLOTS as usize).collect();
        assert_eq!(effect(columns.rows(&rows)), PlaceEffect::NotMeasured);
    }

    #[test]
    fn a_place_that_was_plainly_slower_is_affected_as_seen_where_attempts_are_few() {
        // Every half hour for two weeks; twelve attempts of six hours take 200 times as long.
        let columns = columns_of((0..672).map(|slot| {
            let factor = if (300..312).contains(&slot) { 200 } else { 1 };
            (slot * 1800, factor * (200 + scattered(slot)), Outcome::Ok)
        }));
        let incident = incident_of(vec![(series_of("/home", "list"), columns)], Vec::new());
        assert_eq!(effects(&incident), [("/home", PlaceEffect::SeenSlower)]);
        assert_eq!(incident.impacts[0].seen, Some(Seen::Slower { beyond: 12, of: 12 }));
    }

    #[test]
    fn a_share_has_the_interval_of_its_levels() {
        // Six in 1400 take over a second, at a level that fell to a tenth in the middle: nothing that people notice.
        let columns = columns_of((0..1400).map(|slot| {
            let usual = if slot < 700 { 400 } else { 40 };
            let milliseconds = if slot % 233 == 100 { 1200 } else { usual + scattered(slot) / 10 };
            (slot * PERIOD, milliseconds, Outcome::Ok)
        }));
        let input =
            HistoryInput { series: vec![(series_of("/home", "list"), columns)], ..HistoryInput::default() };
        let options = HistoryOptions::default();
        let analysis = analyse_history(&input, &options);
        let incident = find_incident(&input, &analysis, &options);
        let second = |summary: &WeightedSummary| {
            let over =
                summary.shares.iter().find(|one| one.counted.threshold_ns == Nanoseconds::from_seconds(1));
            over.unwrap().counted.interval
        };
        let told = second(&incident.impacts[0].periods[0].summary);
        assert_eq!(told, second(&analysis.series[0].summary.by_attempt));
        assert!(told.high < 0.02, "{told:?}");
    }

    #[test]
    fn single_slow_samples_are_no_incident() {
        let columns = columns_of((0..SLOTS).map(|slot| {
            let milliseconds = if slot % 100 == 50 { 5000 } else { 200 + scattered(slot) };
            (slot * PERIOD, milliseconds, Outcome::Ok)
        }));
        let incident = incident_of(vec![(series_of("/home", "list"), columns), scratch()], Vec::new());
        assert_eq!((incident.span(), incident.places.len()), (None, 0));
        assert!(incident.impacts.iter().all(|one| one.periods[0].period == IncidentPeriod::Whole));
        assert_eq!(incident.impacts.iter().map(|one| one.periods.len()).sum::<usize>(), 2);
    }

    #[test]
    fn a_slow_time_is_an_incident_without_an_outage() {
        let columns = columns_of((0..SLOTS).map(|slot| {
            let milliseconds = if (200..240).contains(&slot) { 9000 } else { 200 };
            (slot * PERIOD, milliseconds + scattered(slot), Outcome::Ok)
        }));
        let incident = incident_of(vec![(series_of("/home", "list"), columns), scratch()], Vec::new());
        assert_eq!(incident.bad_times.len(), 1, "{:?}", incident.bad_times);
        assert_eq!(effects(&incident), [("/home", PlaceEffect::Slower), ("/scratch", PlaceEffect::NotShown)]);
        assert_eq!(incident.places[0].slower, ["list"]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let incident = incident_of(Vec::new(), Vec::new());
        assert_eq!((incident.span(), incident.impacts.len()), (None, 0));
        // An outage is told even if no sample of that time is left.
        let incident = incident_of(Vec::new(), vec![outage(None)]);
        assert_eq!(incident.span().unwrap().begin, WallTime::from_seconds(HANG * PERIOD));
    }
}
