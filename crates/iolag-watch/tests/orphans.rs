//! What a task's programs leave behind on a mount that does not answer: it blocks the mount although the probe's child is gone.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use iolag_fixtures::FuseMount;
use iolag_keeper::{Child, Orphanage};
use iolag_model::{FailureCode, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId};
use iolag_watch::{PublishedStatus, WatchLimit, read_status};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use rustix::process::Signal;
use std::cell::Cell;
use support::{Onlooker, Scene, directory, is_fine_after, listing, ms, target, task, wait_until, wall};

fn shell(script: String) -> TaskSpec {
    let command = vec!["/bin/sh".to_owned(), "-c".to_owned(), script];
    TaskSpec::Command { command, output: TaskOutput::Discard }
}

#[test]
fn a_program_left_in_the_background_that_hangs_blocks_its_mount() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    // In a session of its own: neither the probe's group nor its session shows it, only its guard does. The shell gives it time
    // to reach the mount: on a busy machine the guard would kill it on its way there.
    let spec = shell(format!("setsid /bin/ls {} & sleep 0.3; exit 0", mount.path().display()));
    let scene = Scene::new(ms(200), vec![target(place.path(), "ls", vec![task("ls", spec, 5000, 6000)])]);
    let (listing_max, hung_in, released_at) = (Cell::new(0), Cell::new(None), Cell::new(0));
    // The child waits two seconds for its guard, and ends by itself before the deadline.
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            listing_max.set(listing_max.get().max(listing(mount.path())));
            if round == 2 {
                mount.hang_all();
            } else if hung_in.get().is_none() && mount.held() > 0 {
                hung_in.set(Some(round));
            } else if hung_in.get().is_some_and(|hung| round == hung + 45) {
                released_at.set(wall());
                mount.release();
                wait_until("the end of the program", || listing(mount.path()) == 0);
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(75), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(listing_max.get(), 1, "one program hangs, and no more are started");
    let samples = onlooker.wholes("ls");
    assert_eq!(samples.len(), 75);
    assert!(
        samples.iter().all(|sample| matches!(sample.outcome, Outcome::Ok | Outcome::Skipped)),
        "{samples:?}"
    );
    let mut blocked = std::collections::BTreeMap::<ProbeId, usize>::new();
    for blocker in samples.iter().filter_map(|sample| sample.blocker) {
        *blocked.entry(blocker).or_default() += 1;
    }
    let (blocker, count) = blocked.into_iter().max_by_key(|(_, count)| *count).unwrap();
    assert!(count > 20, "{count}");
    let own = samples.iter().find(|sample| sample.probe == blocker).unwrap();
    let end = own.start.after(own.duration_ns).0;
    assert!(own.outcome == Outcome::Ok && end < released_at.get(), "what was asked did not hang: {own:?}");
    assert_eq!(onlooker.outages(), [], "the mount of its place answers all the time");
    assert!(is_fine_after(&samples, released_at.get()), "{samples:?}");
}

/// A watch that is killed while its probe's program hangs within the deadlines, and what the next watch has told when the mount is
/// released at the end of its round `released_after`.
fn killed_and_resumed(
    soft: u64,
    hard: u64,
    released_after: u64,
) -> Option<(ProbeId, Vec<HistoryRecord>, usize)> {
    let (backing, place) = (directory(), directory());
    let mount = FuseMount::start(backing.path())?;
    mount.hang_all();
    let spec = shell(format!("/bin/ls {}; exit 0", mount.path().display()));
    let scene = Scene::new(ms(250), vec![target(place.path(), "ls", vec![task("ls", spec, soft, hard)])]);
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let later = |_: &[HistoryRecord]| Err("later".to_owned());
        scene.watch_with(WatchLimit::UntilStopped, &probe_task, &later, &mut Onlooker::default());
        0
    })
    .unwrap();
    wait_until("the hang of a program", || mount.held() > 0 && listing(mount.path()) > 0);
    let mut probe = None;
    wait_until("the probe in the status", || {
        if let Ok(PublishedStatus::Live(status)) = read_status(&scene.plan.runtime_directory) {
            probe = status.in_flight.first().map(|flight| flight.probe);
        }
        probe.is_some()
    });
    watch.signal(Signal::KILL);
    assert!(watch.wait(Nanoseconds::from_seconds(60)).is_some());
    let (listing_max, released_at) = (Cell::new(0), Cell::new(0));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            listing_max.set(listing_max.get().max(listing(mount.path())));
            if round == released_after {
                released_at.set(wall());
                mount.release();
                wait_until("the end of the program", || listing(mount.path()) == 0);
            }
        })),
        ..Onlooker::default()
    };
    let summary = scene.watch(WatchLimit::Rounds(released_after + 15), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(summary.left_behind, []);
    assert!(is_fine_after(&onlooker.wholes("ls"), released_at.get()), "{:?}", onlooker.wholes("ls"));
    Some((probe.unwrap(), std::mem::take(&mut onlooker.records), listing_max.get()))
}

fn samples(records: &[HistoryRecord]) -> Vec<&HistorySample> {
    let mut samples = Vec::new();
    for record in records {
        if let HistoryRecord::Sample(sample) = record {
            samples.push(sample);
        }
    }
    samples
}

#[test]
fn a_program_that_outlives_its_killed_watch_blocks_its_mount_and_is_told_if_it_is_late() {
    let Some((probe, records, listing_max)) = killed_and_resumed(3000, 6000, 36) else { return };
    assert_eq!(listing_max, 1, "nothing was started beside it");
    let samples = samples(&records);
    assert!(samples.iter().filter(|sample| sample.blocker == Some(probe)).count() >= 10, "{samples:?}");
    let own: Vec<_> = samples.iter().filter(|sample| sample.probe == probe).collect();
    assert!(own.iter().any(|sample| sample.outcome == Outcome::Hung), "{own:?}");
    let last = own.last().unwrap();
    assert_eq!((last.outcome, last.failure), (Outcome::Late, FailureCode::ABANDONED));
    assert!(last.duration_ns > ms(6000));
    // The mount of its place answers all the time.
    assert!(!records.iter().any(|record| matches!(record, HistoryRecord::Outage(_))));
}

#[test]
fn a_program_that_was_killed_with_its_watch_and_ends_in_time_tells_nothing() {
    let Some((probe, records, listing_max)) = killed_and_resumed(60_000, 90_000, 4) else { return };
    assert_eq!(listing_max, 1, "nothing was started beside it");
    let samples = samples(&records);
    assert!(samples.iter().filter(|sample| sample.blocker == Some(probe)).count() >= 2, "{samples:?}");
    assert!(samples.iter().all(|sample| sample.probe != probe), "{samples:?}");
    assert!(!records.iter().any(|record| matches!(record, HistoryRecord::Outage(_))));
}
