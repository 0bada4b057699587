//! Rounds on storage that answers: complete, in order, remembered.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{PermissionsExt, chown};

use iolag_model::{Configuration, FailureCode, HistoryRecord, HistorySample, Outcome, SessionEnd, WallTime};
use iolag_watch::{Callbacks, PlannedCovariate, WatchEnd, WatchLimit, WatchTarget};
use iolag_workload::{PartEnding, PartRecorder, ProbeTask, TaskError, TaskOutput, TaskSpec, probe_task};
use support::{Onlooker, Scene, directory, ms, target, task};

#[test]
fn three_rounds_of_two_targets_give_every_sample_once() {
    let (one, other) = (directory(), directory());
    let tasks = || {
        vec![
            task("stat", TaskSpec::Stat, 5000, 20000),
            task("open-read", TaskSpec::OpenRead { bytes: 100 }, 5000, 20000),
        ]
    };
    // Time enough for all five on a busy machine: what is not over when the next round begins is skipped.
    let mut scene = Scene::new(
        ms(4000),
        vec![target(one.path(), "one", tasks()), target(other.path(), "other", tasks())],
    );
    scene.plan.covariates.push(PlannedCovariate {
        name: "seven".into(),
        unit: "jobs".into(),
        command: vec!["/bin/echo".into(), "7".into()],
        deadline: ms(20000),
    });
    let mut onlooker = Onlooker::default();
    let summary = scene.watch(WatchLimit::Rounds(3), &mut onlooker);
    assert_eq!((summary.end, summary.rounds, summary.waiting_records), (WatchEnd::RoundsDone, 3, 0));
    assert_eq!(onlooker.troubles, [""; 0]);
    for name in ["one", "other"] {
        let samples = onlooker.wholes(name);
        assert_eq!(samples.len(), 6, "{samples:?}");
        for sample in &samples {
            assert_eq!((sample.outcome, sample.failure), (Outcome::Ok, FailureCode::NONE), "{sample:?}");
            assert!(sample.start >= sample.intended && sample.duration_ns.0 > 0);
            assert!(sample.surroundings.is_some() && sample.configuration.is_some());
        }
        let rounds: std::collections::BTreeSet<WallTime> =
            samples.iter().map(|sample| sample.intended).collect();
        assert_eq!(rounds.len(), 3);
    }
    let covariates = onlooker.wholes("");
    assert_eq!(covariates.iter().map(|sample| sample.value).collect::<Vec<_>>(), [Some(7.0); 3]);
    let sessions: Vec<_> = onlooker
        .records
        .iter()
        .filter_map(|record| if let HistoryRecord::Session(session) = record { Some(session) } else { None })
        .collect();
    assert_eq!(sessions.first().unwrap().end, SessionEnd::Open);
    assert_eq!(sessions.last().unwrap().end, SessionEnd::Stopped);
    assert!(onlooker.outages().is_empty());
}

/// A task with two parts, the second of which fails, and a preparation that fails for another.
struct Failing {
    in_preparation: bool,
}

impl ProbeTask for Failing {
    fn parts(&self) -> &[&'static str] {
        &["", "second"]
    }

    fn prepare(&mut self, _place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        match self.in_preparation {
            true => Err(TaskError { failure: FailureCode::from_errno(28), message: "no space".into() }),
            false => Ok(()),
        }
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        recorder.begin(0);
        recorder.begin(1);
        recorder.end(1, PartEnding { failure: FailureCode::from_errno(116), ..PartEnding::default() });
        recorder.end(0, PartEnding::default());
    }
}

#[test]
fn failures_are_samples_and_are_told() {
    let place = directory();
    let tasks =
        vec![task("fails", TaskSpec::Stat, 5000, 20000), task("unprepared", TaskSpec::Compile, 5000, 20000)];
    let scene = Scene::new(
        ms(50),
        vec![
            target(place.path(), "one", tasks),
            target(&place.path().join("gone"), "gone", vec![task("stat", TaskSpec::Stat, 5000, 20000)]),
        ],
    );
    let mut onlooker = Onlooker::default();
    let double = |spec: &TaskSpec, _| -> Box<dyn ProbeTask> {
        Box::new(Failing { in_preparation: *spec == TaskSpec::Compile })
    };
    scene.watch_with(WatchLimit::Rounds(1), &double, &|_| Ok(()), &mut onlooker);
    let told = |task: &str, part: &str| {
        let samples = onlooker.records.iter().filter_map(|record| match record {
            HistoryRecord::Sample(sample) if sample.series.task == task && sample.series.part == part => {
                Some((sample.outcome, sample.failure.errno(), sample.blocker == Some(sample.probe)))
            }
            _ => None,
        });
        samples.collect::<Vec<_>>()
    };
    assert_eq!(told("fails", ""), [(Outcome::Ok, None, false)]);
    assert_eq!(told("fails", "second"), [(Outcome::Error, Some(116), false)]);
    assert_eq!(told("unprepared", ""), [(Outcome::Error, Some(28), false)]);
    assert_eq!(told("unprepared", "second"), [(Outcome::Skipped, None, true)]);
    assert_eq!(told("stat", ""), [(Outcome::Error, Some(2), false)]);
    assert_eq!(onlooker.troubles.len(), 2, "{:?}", onlooker.troubles);
}

#[test]
fn a_place_that_another_user_planted_for_root_is_a_failure_and_nothing_runs_in_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let shared = directory();
    std::fs::set_permissions(shared.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
    let scene = Scene::new(
        ms(50),
        vec![target(shared.path(), "shared", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    let place = support::place_of(&scene, shared.path(), "stat");
    std::fs::create_dir_all(&place).unwrap();
    for planted in [&place, place.parent().unwrap()] {
        chown(planted, Some(65534), None).unwrap();
    }
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let samples = onlooker.wholes("shared");
    let told: Vec<_> = samples.iter().map(|sample| (sample.outcome, sample.failure.errno())).collect();
    assert_eq!(told, [(Outcome::Error, Some(1))]);
    let [sentence] = &onlooker.troubles[..] else { panic!("{:?}", onlooker.troubles) };
    assert!(sentence.contains("is not iolag's own (owner 65534"), "{sentence}");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn a_configuration_that_changed_since_the_last_watch_is_an_event() {
    let place = directory();
    let scene = Scene::new(
        ms(100),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    let facts = |kernel: &'static str| {
        move |_: &WatchTarget| BTreeMap::from([("kernel".to_owned(), kernel.to_owned())])
    };
    let (old, new) = (facts("6.1"), facts("6.2"));
    let mut first = Onlooker::default();
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &old,
        recall: &support::knows_nothing,
        remember: &|_| Ok(()),
    };
    scene.watch_with_facts(WatchLimit::Rounds(1), callbacks, Vec::new(), &mut first);
    let configurations = |onlooker: &Onlooker<'_>| -> Vec<Configuration> {
        let configuration = |record: &HistoryRecord| match record {
            HistoryRecord::Configuration(configuration) => Some(configuration.clone()),
            _ => None,
        };
        onlooker.records.iter().filter_map(configuration).collect()
    };
    let known = configurations(&first);
    assert_eq!(known.len(), 1);
    assert!(!first.records.iter().any(|record| matches!(record, HistoryRecord::Event(_))));
    let mut second = Onlooker::default();
    let callbacks = Callbacks { facts: &new, ..callbacks };
    scene.watch_with_facts(WatchLimit::Rounds(1), callbacks, known.clone(), &mut second);
    let event = second.records.iter().find_map(|record| match record {
        HistoryRecord::Event(event) => Some(event.text.as_str()),
        _ => None,
    });
    assert_eq!(event, Some("kernel changed from 6.1 to 6.2"));
    let changed = configurations(&second);
    assert_ne!(changed[0].key, known[0].key);
    assert_eq!(second.wholes("one")[0].configuration, Some(changed[0].key));
}

#[test]
fn circumstances_that_cannot_be_looked_up_hold_up_nothing_for_long() {
    let place = directory();
    let scene = Scene::new(
        ms(1500),
        vec![target(place.path(), "one", vec![task("stat", TaskSpec::Stat, 5000, 20000)])],
    );
    let hang = |_: &WatchTarget| loop {
        std::thread::sleep(std::time::Duration::from_secs(5));
    };
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &hang,
        recall: &support::knows_nothing,
        remember: &|_| Ok(()),
    };
    let mut onlooker = Onlooker::default();
    scene.watch_with_facts(WatchLimit::Rounds(3), callbacks, Vec::new(), &mut onlooker);
    let samples = onlooker.wholes("one");
    assert_eq!(samples.len(), 3);
    assert!(samples.iter().all(|sample| sample.configuration.is_none()));
    // Whoever looks up is ended after a while; until then nobody else goes there.
    let is_fine = |sample: &HistorySample| matches!(sample.outcome, Outcome::Ok | Outcome::Skipped);
    assert!(samples.iter().all(is_fine), "{samples:?}");
    assert_eq!(samples.last().map(|sample| sample.outcome), Some(Outcome::Ok));
    assert_eq!(onlooker.outages(), [], "it was not the mount that did not answer");
}

#[test]
fn every_task_runs_in_a_child_that_has_left_its_inheritance() {
    let place = directory();
    let shell = std::path::PathBuf::from("/bin/sh");
    let specs = [
        ("compile", TaskSpec::Compile),
        ("list", TaskSpec::List { files: 6, output: TaskOutput::Terminal }),
        ("create", TaskSpec::Create { files: 50, bytes: 10 }),
        ("stat", TaskSpec::Stat),
        ("open-read", TaskSpec::OpenRead { bytes: 4096 }),
        ("write-fsync", TaskSpec::WriteFsync { bytes: 4096 }),
        ("shell", TaskSpec::Shell { program: shell.clone() }),
        ("echo", TaskSpec::Echo { program: shell }),
    ];
    let tasks = specs.iter().map(|(name, spec)| task(name, spec.clone(), 30_000, 60_000)).collect();
    let scene = Scene::new(ms(1000), vec![target(place.path(), "one", tasks)]);
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let samples = onlooker.wholes("one");
    assert_eq!(samples.len(), specs.len());
    for sample in samples {
        // A machine without a compiler says so; everything else is there.
        let is_fine = sample.outcome == Outcome::Ok || sample.series.task == "compile";
        assert!(is_fine, "{sample:?} {:?}", onlooker.troubles);
    }
    let parts = onlooker.records.iter().filter(|record| {
        matches!(record, HistoryRecord::Sample(sample) if !sample.series.part.is_empty() && sample.outcome == Outcome::Ok)
    });
    assert!(parts.count() >= 3);
}
