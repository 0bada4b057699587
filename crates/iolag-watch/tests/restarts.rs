//! Watches that are killed, stopped and started again, with and without something that hangs.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use iolag_fixtures::FuseMount;
use iolag_keeper::{Child, Orphanage};
use iolag_model::{
    FailureCode, HistoryRecord, HistorySample, Nanoseconds, OutageEnding, Outcome, ProbeId, ProbePhase,
    SessionEnd,
};
use iolag_watch::{AtDeadline, PublishedStatus, Spool, WatchLimit, read_status};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use rustix::process::Signal;
use support::{Onlooker, Scene, directory, has_ended, listing, ms, target, task, wait_until};

/// A watch in a process of its own, whose history takes nothing, so that everything stays in the spool.
fn watch_apart(scene: &Scene) -> Child {
    Child::fork("watch", Orphanage::Die, || {
        let later = |_: &[HistoryRecord]| Err("later".to_owned());
        scene.watch_with(WatchLimit::UntilStopped, &probe_task, &later, &mut Onlooker::default());
        0
    })
    .unwrap()
}

fn in_phase(scene: &Scene, phase: ProbePhase) -> Option<(ProbeId, u32)> {
    match read_status(&scene.plan.runtime_directory) {
        Ok(PublishedStatus::Live(status)) => {
            let found = status.in_flight.iter().find(|probe| probe.phase == phase);
            found.map(|probe| (probe.probe, probe.process))
        }
        _ => None,
    }
}

/// Waits for a probe in this phase; returns it and its process.
fn wait_for_phase(scene: &Scene, phase: ProbePhase) -> (ProbeId, u32) {
    let mut found = None;
    wait_until("the phase", || {
        found = in_phase(scene, phase);
        found.is_some()
    });
    found.unwrap()
}

fn kill(mut watch: Child) {
    watch.signal(Signal::KILL);
    assert!(watch.wait(Nanoseconds::from_seconds(60)).is_some());
}

fn spooled(scene: &Scene) -> Vec<HistoryRecord> {
    Spool::open(&scene.directory()).unwrap().1
}

fn samples_of<'a>(records: &'a [HistoryRecord], probe: ProbeId) -> Vec<&'a HistorySample> {
    let sample = |record: &'a HistoryRecord| match record {
        HistoryRecord::Sample(sample) => Some(sample),
        _ => None,
    };
    records
        .iter()
        .filter_map(sample)
        .filter(|sample| sample.probe == probe && sample.series.part.is_empty())
        .collect()
}

/// Longer than what answers takes on a busy machine, in milliseconds.
const DEADLINE: u64 = 1500;

fn hanging_scene(mount: &FuseMount, at_deadline: AtDeadline) -> Scene {
    let mut tasks = vec![task("open-read", TaskSpec::OpenRead { bytes: 64 }, 100, DEADLINE)];
    tasks[0].at_deadline = at_deadline;
    Scene::new(ms(250), vec![target(mount.path(), "hanging", tasks)])
}

const END: AtDeadline = AtDeadline::End { grace: ms(50) };

#[test]
fn a_watch_goes_on_with_what_a_killed_one_left_hanging() {
    for at_deadline in [END, AtDeadline::Wait] {
        let backing = directory();
        let Some(mount) = FuseMount::start(backing.path()) else { return };
        let scene = hanging_scene(&mount, at_deadline);
        mount.hang_all();
        let watch = watch_apart(&scene);
        let (hung, process) = wait_for_phase(&scene, ProbePhase::Hung);
        kill(watch);
        let left = spooled(&scene);
        assert!(samples_of(&left, hung).iter().any(|sample| sample.outcome == Outcome::Hung));

        let mut onlooker = Onlooker {
            at_round_end: Some(Box::new(|round| {
                if round == 4 {
                    mount.release();
                    wait_until("the end of the orphan", || has_ended(process));
                }
            })),
            ..Onlooker::default()
        };
        let summary = scene.watch(WatchLimit::Rounds(10), &mut onlooker);
        onlooker.at_round_end = None;
        assert_eq!(summary.left_behind, []);
        let ended = samples_of(&onlooker.records, hung);
        let late = ended
            .iter()
            .find(|sample| sample.outcome == Outcome::Late)
            .unwrap_or_else(|| panic!("{ended:?}"));
        let first = samples_of(&left, hung)[0];
        assert!(late.start == first.start && late.duration_ns > first.duration_ns && late.supersedes(first));
        assert!(late.duration_ns > ms(DEADLINE + 3 * 250), "{late:?}");
        if at_deadline == AtDeadline::Wait {
            assert_eq!(late.failure, FailureCode::NONE, "it ended by itself and said so itself");
        } else {
            assert_eq!(late.failure, FailureCode::ABANDONED);
        }
        let samples = onlooker.wholes("hanging");
        let blocked = samples.iter().filter(|sample| sample.blocker == Some(hung)).count();
        assert!(blocked >= 4, "{samples:?}");
        assert!(samples.iter().any(|sample| sample.outcome == Outcome::Ok), "{samples:?}");
        let outages = onlooker.outages();
        let outage = outages.iter().find(|outage| outage.probe == hung).unwrap();
        assert_eq!(outage.ending, Some(OutageEnding::Recovered));
        assert!(outage.skipped >= 4);
    }
}

#[test]
fn a_program_that_outlived_its_probe_and_its_watch_is_found_again() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    mount.hang_all();
    let command = vec!["/bin/ls".to_owned(), mount.path().to_string_lossy().into_owned()];
    let spec = TaskSpec::Command { command, output: TaskOutput::Discard };
    let scene = Scene::new(ms(250), vec![target(place.path(), "ls", vec![task("ls", spec, 100, DEADLINE)])]);
    let watch = watch_apart(&scene);
    let (hung, _) = wait_for_phase(&scene, ProbePhase::Hung);
    kill(watch);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            if round == 4 {
                mount.release();
                wait_until("the end of the program", || listing(mount.path()) == 0);
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(10), &mut onlooker);
    onlooker.at_round_end = None;
    let ended = samples_of(&onlooker.records, hung);
    assert!(ended.iter().any(|sample| sample.outcome == Outcome::Late), "{ended:?}");
    let samples = onlooker.wholes("ls");
    assert!(samples.iter().filter(|sample| sample.blocker == Some(hung)).count() >= 4, "{samples:?}");
    assert!(samples.iter().any(|sample| sample.outcome == Outcome::Ok), "{samples:?}");
}

#[test]
fn an_end_that_nobody_watched_is_known_from_its_stamps() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = hanging_scene(&mount, AtDeadline::Wait);
    mount.hang_all();
    let watch = watch_apart(&scene);
    let (hung, process) = wait_for_phase(&scene, ProbePhase::Hung);
    kill(watch);
    mount.release();
    wait_until("the end of the orphan", || has_ended(process));
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let ended = samples_of(&onlooker.records, hung);
    assert_eq!(
        ended.first().map(|sample| (sample.outcome, sample.failure)),
        Some((Outcome::Late, FailureCode::NONE))
    );
    let outages = onlooker.outages();
    assert_eq!(
        outages.iter().map(|outage| outage.ending).collect::<Vec<_>>(),
        [Some(OutageEnding::Recovered)]
    );
}

#[test]
fn a_killed_orphan_that_vanished_unwatched_stays_hung_until_the_mount_is_seen_to_answer() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = hanging_scene(&mount, END);
    mount.hang_all();
    let watch = watch_apart(&scene);
    let (hung, process) = wait_for_phase(&scene, ProbePhase::Hung);
    kill(watch);
    let last_age = samples_of(&spooled(&scene), hung).last().unwrap().duration_ns;
    mount.release();
    wait_until("the end of the orphan", || has_ended(process));
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(2), &mut onlooker);
    let ended = samples_of(&onlooker.records, hung);
    assert_eq!(
        ended.first().map(|sample| (sample.outcome, sample.duration_ns)),
        Some((Outcome::Hung, last_age))
    );
    let outages = onlooker.outages();
    let [outage] = &outages[..] else { panic!("{outages:?}") };
    assert_eq!((outage.probe, outage.ending), (hung, Some(OutageEnding::Recovered)));
}

#[test]
fn a_watch_that_is_told_to_stop_ends_its_probe_and_says_so() {
    let place = directory();
    let command = vec!["/bin/sleep".to_owned(), "600".to_owned()];
    let spec = TaskSpec::Command { command, output: TaskOutput::Discard };
    let scene =
        Scene::new(ms(250), vec![target(place.path(), "one", vec![task("sleep", spec, 60_000, 90_000)])]);
    let mut watch = watch_apart(&scene);
    let (probe, _) = wait_for_phase(&scene, ProbePhase::InFlight);
    watch.signal(Signal::TERM);
    assert!(watch.wait(Nanoseconds::from_seconds(60)).is_some());
    let left = spooled(&scene);
    let [sample] = samples_of(&left, probe)[..] else { panic!("{left:?}") };
    assert_eq!((sample.outcome, sample.failure), (Outcome::Interrupted, FailureCode::NONE));
    let last = left.iter().rev().find_map(|record| match record {
        HistoryRecord::Session(session) => Some(session.end),
        _ => None,
    });
    assert_eq!(last, Some(SessionEnd::Stopped));
    assert!(!left.iter().any(|record| matches!(record, HistoryRecord::Outage(_))));
}

#[test]
fn what_another_boot_left_ended_with_that_boot() {
    let place = directory();
    let scene = Scene::new(
        ms(250),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    scene.watch(WatchLimit::Rounds(1), &mut Onlooker::default());
    let runtime = scene.directory();
    let text = runtime.read_file("flights.json", 1 << 20).unwrap().unwrap();
    let mut kept: serde_json::Value = serde_json::from_slice(&text).unwrap();
    kept["boot_id"] = "another".into();
    let outage = r#"{"mount":{"device":"0:1"},"outage":{"host":"node1","mount":"/home","probe":5,"begin":7,"skipped":3}}"#;
    kept["outages"] = serde_json::Value::Array(vec![serde_json::from_str(outage).unwrap()]);
    runtime.replace_file("flights.json", kept.to_string().as_bytes()).unwrap();
    drop(runtime);
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let outages = onlooker.outages();
    let [outage] = &outages[..] else { panic!("{outages:?}") };
    assert_eq!((outage.probe, outage.ending, outage.skipped), (ProbeId(5), Some(OutageEnding::Rebooted), 3));
}
