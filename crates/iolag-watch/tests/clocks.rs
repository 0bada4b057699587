//! Watches whose wall clock is set, whose machine sleeps or was started anew, as their clocks tell; everything else is real.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use iolag_model::{
    Anchor, Event, HistoryRecord, MonotonicTime, Nanoseconds, Outage, OutageEnding, Outcome, ProbeId,
    ProbeStatus, WallTime,
};
use iolag_watch::{MountTable, WatchLimit, WatchObserver};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use support::{HOST, Onlooker, Scene, directory, ms, target, task, wall};

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;

/// Clocks that can be set, and a machine that can be put to sleep.
#[derive(Clone, Default)]
struct Clocks {
    set_by: Rc<Cell<i64>>,
    asleep: Rc<Cell<i64>>,
}

impl Clocks {
    fn anchors(&self) -> Box<dyn Fn() -> Anchor> {
        let clocks = self.clone();
        Box::new(move || {
            let anchor = Anchor::take();
            let asleep = clocks.asleep.get();
            Anchor {
                boottime_ns: anchor.boottime_ns.checked_add_signed(asleep).unwrap(),
                realtime_ns: anchor.realtime_ns.checked_add_signed(asleep + clocks.set_by.get()).unwrap(),
                ..anchor
            }
        })
    }

    fn set(&self, by: i64) {
        self.set_by.set(self.set_by.get() + by);
    }

    fn sleep(&self, time: i64) {
        self.asleep.set(self.asleep.get() + time);
    }
}

fn events<'a>(onlooker: &'a Onlooker<'_>, kind: &str) -> Vec<&'a Event> {
    let of_kind = |record: &'a HistoryRecord| match record {
        HistoryRecord::Event(event) if event.kind == kind => Some(event),
        _ => None,
    };
    onlooker.records.iter().filter_map(of_kind).collect()
}

#[test]
fn a_set_clock_and_a_sleep_are_events_and_change_no_duration_and_no_round() {
    const ROUNDS: u64 = 24;
    let place = directory();
    let tasks = vec![
        task("stat", TaskSpec::Stat, 20_000, 30_000),
        task("open-read", TaskSpec::OpenRead { bytes: 64 }, 20_000, 30_000),
    ];
    let mut scene = Scene::new(ms(300), vec![target(place.path(), "one", tasks)]);
    let clocks = Clocks::default();
    scene.anchors = clocks.anchors();
    let (in_rounds, between) = (clocks.clone(), clocks);
    let mut samples = 0;
    let mut onlooker = Onlooker {
        // In the middle of a round: one task has been executed, the other has not.
        at_record: Some(Box::new(move |record| {
            if matches!(record, HistoryRecord::Sample(_)) {
                samples += 1;
                if samples == 11 {
                    in_rounds.set(-HOUR);
                }
            }
        })),
        at_round_end: Some(Box::new(move |round| match round {
            12 => between.set(24 * HOUR),
            18 => between.sleep(8 * HOUR),
            _ => {}
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch(WatchLimit::Rounds(ROUNDS), &mut onlooker);
    (onlooker.at_record, onlooker.at_round_end) = (None, None);
    assert_eq!(summary.rounds, ROUNDS);

    let clock = events(&onlooker, "clock");
    let told: Vec<&str> = clock.iter().map(|event| event.text.as_str()).collect();
    let [back, forward, asleep] = clock[..] else { panic!("{told:?}") };
    assert!(back.text.starts_with("the wall clock was set back by 1") && back.end.is_none(), "{told:?}");
    assert!(forward.text.starts_with("the wall clock was set forward by "), "{told:?}");
    assert!(asleep.text.starts_with("the machine was suspended for 8"), "{told:?}");
    let slept = asleep.end.unwrap().since(asleep.begin);
    assert!(slept.0 >= 8 * HOUR as u64 && slept.0 < 9 * HOUR as u64, "{slept}");

    let mut samples = onlooker.wholes("one");
    assert_eq!(samples.len() as u64, 2 * ROUNDS);
    for sample in &samples {
        assert!(matches!(sample.outcome, Outcome::Ok | Outcome::Skipped), "{sample:?}");
        let waited = sample.start.0 - sample.intended.0;
        assert!((0..600 * SECOND).contains(&waited), "within a round one clock counts: {sample:?}");
        assert!(sample.duration_ns < Nanoseconds::from_seconds(60), "{sample:?}");
    }
    // The grid did not jump: had it followed a clock, thousands of rounds would have been missed or repeated.
    samples.sort_by_key(|sample| sample.probe);
    let steps: Vec<i64> = samples.windows(2).map(|pair| pair[1].intended.0 - pair[0].intended.0).collect();
    let jump = |least: i64, most: i64| steps.iter().filter(|step| (least..most).contains(step)).count();
    assert_eq!(jump(i64::MIN, -1), 1, "{steps:?}");
    assert_eq!(jump(-HOUR - 60 * SECOND, -HOUR + 60 * SECOND), 1, "{steps:?}");
    assert_eq!((jump(7 * HOUR, 9 * HOUR), jump(23 * HOUR, 25 * HOUR)), (1, 1), "{steps:?}");
    assert_eq!(jump(60 * SECOND, i64::MAX), 2, "{steps:?}");
}

fn open_outage(host: &str, mount: &str, probe: u64, begin: i64) -> Outage {
    Outage {
        kind: Default::default(),
        targets: Default::default(),
        host: host.into(),
        mount: mount.into(),
        probe: ProbeId(probe),
        begin: WallTime(begin),
        end: None,
        ending: None,
        skipped: 3,
    }
}

fn mount_point_of(path: &Path) -> String {
    MountTable::read().mount_of(path).unwrap().mount_point.to_string_lossy().into_owned()
}

#[test]
fn outages_that_only_the_history_knows_end_with_the_boot_or_with_an_answer() {
    let place = directory();
    let mut scene = Scene::new(
        ms(200),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 20_000, 30_000)])],
    );
    let base = Anchor::take().boottime_ns;
    // The machine was started ten minutes ago.
    let booted = wall() - 600 * SECOND;
    scene.anchors = Box::new(move || {
        let anchor = Anchor::take();
        Anchor { boottime_ns: anchor.boottime_ns - base + 600 * SECOND as u64, ..anchor }
    });
    scene.open_outages = vec![
        open_outage(HOST, "/home", 5, booted - 3 * HOUR),
        open_outage("node2", "/home", 6, booted - 3 * HOUR),
        open_outage(HOST, &mount_point_of(place.path()), 7, booted + 60 * SECOND),
        open_outage(HOST, "/somewhere/else", 8, booted + 60 * SECOND),
    ];
    let mut onlooker = Onlooker::default();
    let summary = scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    assert_eq!(summary.rounds, 1);
    let outages = onlooker.outages();
    let [rebooted, recovered] = &outages[..] else { panic!("{outages:?}") };
    assert_eq!(
        (rebooted.probe, rebooted.ending, rebooted.skipped),
        (ProbeId(5), Some(OutageEnding::Rebooted), 3)
    );
    let end = rebooted.end.unwrap().0;
    assert!((end - booted).abs() < 60 * SECOND, "when the boot began, not when it was noticed: {rebooted:?}");
    assert_eq!((recovered.probe, recovered.ending), (ProbeId(7), Some(OutageEnding::Recovered)));
}

#[test]
fn an_outage_whose_end_still_waits_in_the_spool_is_not_ended_twice() {
    let place = directory();
    let mut scene = Scene::new(
        ms(200),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 20_000, 30_000)])],
    );
    let open = open_outage(HOST, "/home", 5, 7);
    let ended = Outage { end: Some(WallTime(9)), ending: Some(OutageEnding::Recovered), ..open.clone() };
    let runtime = scene.directory();
    iolag_watch::Spool::open(&runtime).unwrap().0.append(&HistoryRecord::Outage(ended));
    drop(runtime);
    scene.open_outages = vec![open];
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    assert_eq!(onlooker.outages(), []);
}

/// Wants to see the probe in flight.
#[derive(Default)]
struct Impatient {
    interval: Option<Nanoseconds>,
    ages: Vec<(MonotonicTime, Vec<ProbeStatus>)>,
}

impl WatchObserver for Impatient {
    fn wants_to_be_woken(&self) -> Option<Nanoseconds> {
        self.interval
    }

    fn tick(&mut self, now: MonotonicTime, in_flight: &[ProbeStatus]) {
        self.ages.push((now, in_flight.to_vec()));
    }
}

#[test]
fn who_looks_on_is_woken_if_they_want_to_be() {
    let place = directory();
    let command = vec!["/bin/sleep".to_owned(), "2".to_owned()];
    let spec = TaskSpec::Command { command, output: TaskOutput::Discard };
    let scene =
        Scene::new(ms(200), vec![target(place.path(), "one", vec![task("sleep", spec, 60_000, 90_000)])]);
    for interval in [None, Some(ms(100))] {
        let mut observer = Impatient { interval, ..Impatient::default() };
        scene.watch_observed(WatchLimit::Rounds(1), &probe_task, &|_| Ok(()), &mut observer);
        let with_probe: Vec<_> =
            observer.ages.iter().filter(|(_, in_flight)| !in_flight.is_empty()).collect();
        assert_eq!(with_probe.len() >= 3, interval.is_some(), "{:?}", observer.ages);
        assert!(interval.is_some() || observer.ages.is_empty());
        assert!(with_probe.windows(2).all(|pair| pair[1].0.since(pair[0].0) >= ms(100)));
        assert!(with_probe.iter().all(|(now, in_flight)| *now >= in_flight[0].start_ns));
    }
}
