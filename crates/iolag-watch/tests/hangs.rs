//! Probes of a real mount that takes requests and never answers: they cannot be killed, and nothing else suffers.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use iolag_fixtures::FuseMount;
use iolag_model::{
    FailureCode, HistoryRecord, HistorySample, MonotonicTime, Nanoseconds, OutageEnding, OutageKind, Outcome,
    ProbePhase, ProbeStatus,
};
use iolag_watch::{AtDeadline, WatchLimit, WatchObserver};
use iolag_workload::TaskSpec;
use std::cell::Cell;
use std::time::Duration;
use support::{
    Onlooker, Scene, children, descriptors, directory, is_fine_after, listing, ms, target, task,
    wait_for_what_was_released, wall,
};

fn open_read(soft: u64, hard: u64) -> Vec<iolag_watch::PlannedTask> {
    vec![task("open-read", TaskSpec::OpenRead { bytes: 64 }, soft, hard)]
}

#[test]
fn a_thousand_slots_pass_while_one_probe_hangs() {
    const ROUNDS: u64 = 1000;
    let (backing, other) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let targets = vec![
        target(mount.path(), "hanging", open_read(50, 2000)),
        target(other.path(), "other", open_read(5000, 20000)),
    ];
    let scene = Scene::new(ms(10), targets);
    let (hung_at, released_at) = (Cell::new(0), Cell::new(0));
    let (before, within) = (Cell::new((0, 0)), Cell::new((0, 0)));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            match round {
                150 => before.set((descriptors(), children().len())),
                200 => {
                    hung_at.set(wall());
                    mount.hang_all();
                }
                750 => within.set((descriptors(), children().len())),
                800 => {
                    released_at.set(wall());
                    mount.release();
                    wait_for_what_was_released(&mount);
                }
                _ => {}
            }
            assert!(children().len() <= 4, "a hung probe, one in flight, a historian and a lookup");
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch(WatchLimit::Rounds(ROUNDS), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!((summary.rounds, summary.left_behind.len()), (ROUNDS, 0));
    // The hung probe is known by a pidfd; other tests of this process may hold some descriptors for a moment.
    assert!(within.get().0 <= before.get().0 + 40, "{before:?} {within:?}");

    let samples = onlooker.wholes("hanging");
    assert_eq!(samples.len() as u64, ROUNDS);
    let hung: Vec<_> = samples
        .iter()
        .filter(|sample| sample.outcome == Outcome::Late && sample.failure == FailureCode::ABANDONED)
        .filter(|sample| {
            sample.start.0 < released_at.get() && sample.start.after(sample.duration_ns).0 > released_at.get()
        })
        .collect();
    let [hung] = hung[..] else { panic!("{hung:?}") };
    assert!(hung.start.after(hung.duration_ns).0 < released_at.get() + 60_000_000_000);
    let within_hang = |at: i64| at > hung.start.0 && at < released_at.get();
    let mut skipped = 0;
    for sample in samples.iter().filter(|sample| within_hang(sample.start.0) && sample.probe != hung.probe) {
        assert_eq!((sample.outcome, sample.blocker), (Outcome::Skipped, Some(hung.probe)), "{sample:?}");
        skipped += 1;
    }
    assert!(skipped > 300, "{skipped}");
    assert!(is_fine_after(&samples, released_at.get()));

    let others = onlooker.wholes("other");
    assert_eq!(others.len() as u64, ROUNDS);
    let meanwhile: Vec<_> = others.iter().filter(|sample| within_hang(sample.start.0)).collect();
    // On a busy machine the one before is often still under way when one is due.
    assert!(meanwhile.iter().filter(|sample| sample.outcome == Outcome::Ok).count() > meanwhile.len() / 10);
    // Until its soft deadline it holds up everybody.
    let is_soft = |sample: &HistorySample| sample.start.0 < hung.start.0 + 1_000_000_000;
    let is_blocked = |sample: &&&HistorySample| sample.blocker == Some(hung.probe) && !is_soft(sample);
    assert_eq!(meanwhile.iter().filter(is_blocked).count(), 0, "it blocks its mount alone");
    assert!(meanwhile.iter().all(|sample| matches!(sample.outcome, Outcome::Ok | Outcome::Skipped)));

    let outages = onlooker.outages();
    let outage = outages.iter().find(|outage| outage.probe == hung.probe).unwrap();
    assert_eq!(outage.ending, Some(OutageEnding::Recovered));
    assert!(outage.begin.0 <= hung.start.0 && outage.begin.0 > hung.start.0 - 1_000_000_000, "{outage:?}");
    assert!(hung.start.after(hung.duration_ns).0 > hung_at.get(), "{hung:?}");
    assert_eq!(outage.mount, mount.path().to_string_lossy());
    assert!(outage.skipped >= skipped, "{outage:?} {skipped}");
    let evidence = onlooker.records.iter().find_map(|record| match record {
        HistoryRecord::Evidence(evidence) if evidence.probe == hung.probe => Some(&evidence.text),
        _ => None,
    });
    assert!(evidence.unwrap().contains("state "), "{evidence:?}");
    let provisional = onlooker.records.iter().any(|record| {
        matches!(record, HistoryRecord::Sample(sample) if sample.probe == hung.probe && sample.outcome == Outcome::Hung)
    });
    assert!(provisional);
}

#[test]
fn a_probe_that_is_waited_for_tells_how_long_it_truly_took() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let mut tasks = open_read(100, 1000);
    tasks[0].at_deadline = AtDeadline::Wait;
    let scene = Scene::new(ms(300), vec![target(mount.path(), "slow", tasks)]);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            1 => mount.delay_all(Duration::from_millis(1500)),
            8 => {
                mount.release();
                wait_for_what_was_released(&mount);
            }
            _ => {}
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(14), &mut onlooker);
    onlooker.at_round_end = None;
    let samples = onlooker.wholes("slow");
    assert_eq!(samples.len(), 14);
    let is_late = |sample: &&HistorySample| sample.outcome == Outcome::Late && sample.duration_ns > ms(1400);
    let late = samples.iter().find(is_late).unwrap_or_else(|| panic!("{samples:?}"));
    assert_eq!(late.failure, FailureCode::NONE);
    assert!(samples.iter().any(|sample| sample.blocker == Some(late.probe)));
    assert!(onlooker.phases.iter().any(|phase| phase.probe == late.probe && phase.phase == ProbePhase::Hung));
    let outages = onlooker.outages();
    assert!(outages.iter().all(|outage| outage.ending == Some(OutageEnding::Recovered)), "{outages:?}");
    assert!(!outages.is_empty());
}

/// Lets a mount stall after the first round, and answer again when a probe has waited for two seconds.
struct Stalling<'a> {
    mount: &'a FuseMount,
    wholes: Vec<HistorySample>,
}

impl WatchObserver for Stalling<'_> {
    fn recorded(&mut self, record: &HistoryRecord) {
        if let HistoryRecord::Sample(sample) = record {
            self.wholes.push(sample.clone());
        }
    }

    fn round_ended(&mut self, round: u64) {
        if round == 0 {
            self.mount.hang_all();
        }
    }

    fn wants_to_be_woken(&self) -> Option<Nanoseconds> {
        Some(ms(100))
    }

    fn tick(&mut self, now: MonotonicTime, in_flight: &[ProbeStatus]) {
        if in_flight.first().is_some_and(|probe| now.since(probe.start_ns) > ms(2000)) {
            self.mount.release();
        }
    }
}

#[test]
fn a_stall_that_ends_before_the_deadline_is_in_the_sample_wherever_it_was_met() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = Scene::new(ms(5000), vec![target(mount.path(), "stalling", open_read(20_000, 30_000))]);
    let mut observer = Stalling { mount: &mount, wholes: Vec::new() };
    scene.watch_observed(WatchLimit::Rounds(2), &iolag_workload::probe_task, &|_| Ok(()), &mut observer);
    let [quick, stalled] = &observer.wholes[..] else { panic!("{:?}", observer.wholes) };
    assert_eq!((quick.outcome, stalled.outcome), (Outcome::Ok, Outcome::Ok));
    assert!(stalled.duration_ns > ms(2000), "its first directory is where it waited: {stalled:?}");
}

#[test]
fn a_hung_mount_that_is_given_up_by_the_kernel_ends_its_probe() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = Scene::new(ms(100), vec![target(mount.path(), "hanging", open_read(50, 1000))]);
    let given_up_at = Cell::new(0);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            1 => mount.hang_all(),
            25 => {
                given_up_at.set(wall());
                mount.abort().unwrap();
                wait_for_what_was_released(&mount);
            }
            _ => {}
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch(WatchLimit::Rounds(30), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(summary.left_behind, []);
    let samples = onlooker.wholes("hanging");
    assert_eq!(samples.len(), 30);
    assert!(
        samples.iter().any(|sample| sample.outcome == Outcome::Late && sample.duration_ns > ms(1000)),
        "{samples:?}"
    );
    // Nobody answers for the mount any more, and says so.
    let after: Vec<_> = samples.iter().filter(|sample| sample.start.0 > given_up_at.get()).collect();
    assert!(after.iter().any(|sample| sample.outcome == Outcome::Error), "{after:?}");
    assert!(after.iter().all(|sample| sample.outcome != Outcome::Ok), "{after:?}");
}

#[test]
fn a_program_that_hangs_is_the_probe_that_hangs() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let command = vec!["/bin/ls".to_owned(), "-l".to_owned(), mount.path().to_string_lossy().into_owned()];
    let spec = TaskSpec::Command { command, output: iolag_workload::TaskOutput::Discard };
    // The child lies on a mount that answers: it can be killed, and the program that it waits for cannot.
    let scene = Scene::new(ms(200), vec![target(place.path(), "ls", vec![task("ls", spec, 100, 1500)])]);
    let listing_max = Cell::new(0);
    let released_at = Cell::new(0);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            listing_max.set(listing_max.get().max(listing(mount.path())));
            match round {
                2 => mount.hang_all(),
                20 => {
                    released_at.set(wall());
                    mount.release();
                    support::wait_until("the end of the program", || listing(mount.path()) == 0);
                }
                _ => {}
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(30), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(listing_max.get(), 1);
    let samples = onlooker.wholes("ls");
    assert_eq!(samples.len(), 30);
    let late = samples
        .iter()
        .find(|sample| {
            sample.outcome == Outcome::Late && sample.start.after(sample.duration_ns).0 > released_at.get()
        })
        .unwrap_or_else(|| panic!("{samples:?}"));
    assert_eq!(late.failure, FailureCode::ABANDONED);
    assert!(samples.iter().filter(|sample| sample.blocker == Some(late.probe)).count() > 10, "{samples:?}");
    assert!(is_fine_after(&samples, released_at.get()), "{samples:?}");
}

#[test]
fn a_mount_that_is_taken_away_ends_its_outage_but_not_its_probe() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = Scene::new(ms(100), vec![target(mount.path(), "hanging", open_read(50, 1000))]);
    let unmounted_at = Cell::new(0);
    let unmount = || {
        unmounted_at.set(wall());
        let unmounted = std::process::Command::new("umount").arg("-l").arg(mount.path()).status().unwrap();
        assert!(unmounted.success());
    };
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            1 => mount.hang_all(),
            25 => unmount(),
            _ => {}
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch(WatchLimit::Rounds(35), &mut onlooker);
    onlooker.at_round_end = None;
    let [left] = &summary.left_behind[..] else { panic!("{summary:?}") };
    let outages = onlooker.outages();
    let outage = outages.iter().find(|outage| outage.probe == left.probe).unwrap();
    assert_eq!(outage.ending, Some(OutageEnding::Unmounted));
    // What is there now is not what was watched.
    let missing: Vec<_> = outages.iter().filter(|outage| outage.kind == OutageKind::NotMounted).collect();
    let [missing] = missing[..] else { panic!("{outages:?}") };
    assert_eq!((missing.mount.as_str(), missing.end), (mount.path().to_str().unwrap(), None));
    assert!(missing.begin.0 >= unmounted_at.get(), "{missing:?} {}", unmounted_at.get());
    let samples = onlooker.wholes("hanging");
    let after: Vec<_> = samples.iter().filter(|sample| sample.start.0 > missing.begin.0).collect();
    assert!(after.iter().any(|sample| sample.failure == FailureCode::NOT_MOUNTED), "{after:?}");
    assert!(after.iter().all(|sample| sample.outcome != Outcome::Ok), "{after:?}");
    assert_eq!(std::fs::read_dir(mount.path()).unwrap().count(), 0, "nothing was written beneath");
    mount.release();
}
