//! What makes room in a spool before anything is dropped: nothing that a history would miss.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;
use std::path::Path;

use iolag_model::{
    HistoryRecord, HistorySample, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId, SeriesKey, SessionEnd,
    WallTime, WatchSession,
};
use iolag_watch::{Backing, Keeping, RuntimeDirectory, Spool, SpoolLimits, SpoolLosses};
use proptest::prelude::*;

fn runtime(path: &Path) -> RuntimeDirectory {
    RuntimeDirectory::open_on(&path.join("runtime"), Backing::Anything).unwrap()
}

fn file_bytes(directory: &RuntimeDirectory) -> u64 {
    directory.path().join("spool").metadata().unwrap().len()
}

fn sample(probe: u64, outcome: Outcome, duration: u64) -> HistoryRecord {
    HistoryRecord::Sample(HistorySample::new(
        SeriesKey { host: "node".into(), target: "/scratch".into(), ..SeriesKey::default() },
        ProbeId(probe),
        WallTime(0),
        Nanoseconds(duration),
        outcome,
    ))
}

fn heartbeat(begin: i64, last_seen: i64, end: SessionEnd) -> HistoryRecord {
    HistoryRecord::Session(WatchSession {
        host: "node".into(),
        boot_id: "boot".into(),
        begin: WallTime(begin),
        last_seen: WallTime(last_seen),
        end,
        iolag_version: "1".into(),
    })
}

fn outage(probe: u64, skipped: u64, end: Option<i64>) -> HistoryRecord {
    HistoryRecord::Outage(Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: "node".into(),
        mount: "/scratch".into(),
        probe: ProbeId(probe),
        begin: WallTime(0),
        end: end.map(WallTime),
        ending: end.map(|_| OutageEnding::Recovered),
        skipped,
    })
}

/// What a history makes of records: the rules of docs/history.md, written down once more.
#[derive(Debug, Default, PartialEq)]
struct Remembered {
    samples: BTreeMap<u64, HistorySample>,
    sessions: BTreeMap<i64, (i64, SessionEnd)>,
    outages: BTreeMap<u64, (u64, Option<(WallTime, OutageEnding)>)>,
}

impl Remembered {
    fn of<'a>(records: impl IntoIterator<Item = &'a HistoryRecord>) -> Self {
        let mut all = Self::default();
        for record in records {
            match record {
                HistoryRecord::Sample(sample) => {
                    let known = all.samples.entry(sample.probe.0).or_insert_with(|| sample.clone());
                    if sample.supersedes(known) {
                        known.clone_from(sample);
                    }
                }
                HistoryRecord::Session(session) => {
                    let known = all.sessions.entry(session.begin.0).or_insert((i64::MIN, SessionEnd::Open));
                    *known = (known.0.max(session.last_seen.0), known.1.max(session.end));
                }
                HistoryRecord::Outage(outage) => {
                    let known = all.outages.entry(outage.probe.0).or_insert((0, None));
                    *known = (known.0.max(outage.skipped), known.1.max(outage.end.zip(outage.ending)));
                }
                other => panic!("not made here: {other:?}"),
            }
        }
        all
    }
}

#[test]
fn a_hang_of_a_year_fits_if_only_its_age_is_new() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let limits = SpoolLimits { file_bytes_max: 40_000, records_max: 500 };
    let (mut spool, _) = Spool::open_with(&directory, limits).unwrap();
    for minute in 0..4000_u64 {
        spool.append(&sample(7, Outcome::Hung, minute));
        spool.append(&heartbeat(1, minute as i64, SessionEnd::Open));
        assert_eq!(
            spool.append(&outage(7, minute, None)),
            Keeping::Spooled,
            "{minute}: {:?}",
            spool.trouble()
        );
    }
    spool.append(&sample(8, Outcome::Ok, 1));
    assert_eq!((spool.losses(), spool.trouble()), (SpoolLosses::default(), None));
    assert!(spool.pending().len() <= 500 && file_bytes(&directory) <= 40_000);
    let left_over = Spool::open(&directory).unwrap().1;
    assert_eq!(Remembered::of(&left_over), Remembered::of(spool.pending()));
    let remembered = Remembered::of(&left_over);
    assert_eq!(remembered.samples[&7].duration_ns.0, 3999);
    assert_eq!(remembered.sessions[&1], (3999, SessionEnd::Open));
    assert_eq!(remembered.outages[&7], (3999, None));
    assert!(remembered.samples.contains_key(&8));
}

#[test]
fn what_the_history_is_being_given_stays_where_it_is() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let limits = SpoolLimits { records_max: 20, ..SpoolLimits::STANDARD };
    let (mut spool, _) = Spool::open_with(&directory, limits).unwrap();
    for minute in 0..10 {
        spool.append(&sample(7, Outcome::Hung, minute));
    }
    let given = spool.hand_over(10).to_vec();
    for minute in 10..100 {
        spool.append(&sample(7, Outcome::Hung, minute));
    }
    assert_eq!(spool.pending()[..10], given[..]);
    spool.remove_first(10);
    assert_eq!(spool.losses(), SpoolLosses::default());
    assert_eq!(Remembered::of(spool.pending()).samples[&7].duration_ns.0, 99);
    assert_eq!(Remembered::of(&Spool::open(&directory).unwrap().1), Remembered::of(spool.pending()));
}

#[test]
fn what_is_new_is_dropped_only_after_what_is_not() {
    let place = tempfile::tempdir().unwrap();
    let limits = SpoolLimits { records_max: 640, ..SpoolLimits::STANDARD };
    let (mut spool, _) = Spool::open_with(&runtime(place.path()), limits).unwrap();
    for number in 0..600 {
        spool.append(&sample(number, Outcome::Ok, 1));
        spool.append(&heartbeat(1, number as i64, SessionEnd::Open));
    }
    assert_eq!(spool.losses().records(), 0);
    for number in 600..700 {
        spool.append(&sample(number, Outcome::Ok, 1));
    }
    assert!(spool.losses().samples > 0 && spool.losses().others == 0, "{:?}", spool.losses());
}

fn record() -> impl Strategy<Value = HistoryRecord> {
    prop_oneof![
        (0..4_u64, 0..50_u64).prop_map(|(probe, age)| sample(probe, Outcome::Hung, age)),
        (0..4_u64, 0..50_u64, 0..3_usize).prop_map(|(probe, duration, which)| {
            sample(probe, [Outcome::Late, Outcome::Timeout, Outcome::Skipped][which], duration)
        }),
        (100..100_000_u64).prop_map(|probe| sample(probe, Outcome::Ok, 1)),
        (0..3_i64, 0..50_i64).prop_map(|(begin, seen)| heartbeat(begin, seen, SessionEnd::Open)),
        (0..3_i64, 0..50_i64).prop_map(|(begin, seen)| heartbeat(begin, seen, SessionEnd::Stopped)),
        (0..3_u64, 0..50_u64, prop::option::of(0..9_i64))
            .prop_map(|(probe, skipped, end)| outage(probe, skipped, end)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Whatever is appended, handed over and removed: what was removed and what waits make the same history as everything, in
    /// memory and after a restart, unless the spool says that it lost something.
    #[test]
    fn a_history_misses_nothing(
        steps in prop::collection::vec((record(), prop::option::weighted(0.1, 1..30_usize)), 1..300),
        file_bytes_max in 2_000..40_000_u64,
        records_max in 20..120_usize,
    ) {
        let place = tempfile::tempdir().unwrap();
        let directory = runtime(place.path());
        let (mut spool, _) = Spool::open_with(&directory, SpoolLimits { file_bytes_max, records_max }).unwrap();
        let (mut all, mut given, mut mark_bytes) = (Vec::new(), Vec::new(), 0);
        for (record, removed) in steps {
            spool.append(&record);
            all.push(record);
            if let Some(count) = removed {
                given.extend_from_slice(spool.hand_over(count));
                let count = count.min(spool.pending().len());
                spool.remove_first(count);
                // A removal is written down even where a record has no room.
                mark_bytes += 39;
            }
            prop_assert!(file_bytes(&directory) <= file_bytes_max + mark_bytes);
            prop_assert!(spool.pending().len() <= records_max.max(30));
        }
        if spool.losses().records() == 0 {
            prop_assert_eq!(Remembered::of(given.iter().chain(spool.pending())), Remembered::of(&all));
        }
        if spool.losses().records() == 0 && spool.trouble().is_none() {
            let left_over = Spool::open(&directory).unwrap().1;
            prop_assert_eq!(Remembered::of(given.iter().chain(&left_over)), Remembered::of(&all));
        }
    }
}
