//! A watch is a guest: it leaves nothing running, waits without working, and is small.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use iolag_keeper::{Child, Ending, Orphanage};
use iolag_model::{HistoryRecord, Nanoseconds, Outcome};
use iolag_watch::{
    AtDeadline, PlannedTask, PublishedStatus, Unobserved, WatchLimit, WatchObserver, read_status,
};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use rustix::process::Signal;
use support::{Onlooker, Scene, directory, ms, processes_with, resident_kib, target, task};

/// The same task with time to end when it is told to, on a busy machine too.
fn patiently(task: PlannedTask) -> PlannedTask {
    PlannedTask { at_deadline: AtDeadline::End { grace: ms(20_000) }, ..task }
}

fn shell(script: &str) -> TaskSpec {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    TaskSpec::Command { command, output: TaskOutput::Discard }
}

#[test]
fn what_a_task_leaves_running_is_ended_with_it() {
    let place = directory();
    let number = format!("7{}", std::process::id());
    let script = format!("sleep {number} & sleep {number} & echo done");
    let hangs = format!("sleep {number} & sleep {number}");
    let tasks = vec![
        task("leaves", shell(&script), 10_000, 30_000),
        patiently(task("hangs", shell(&hangs), 100, 300)),
    ];
    let scene = Scene::new(ms(2000), vec![target(place.path(), "one", tasks)]);
    let mut onlooker = Onlooker::default();
    // One round each: none is due while the one before is under way.
    for _ in 0..2 {
        scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    }
    for sample in onlooker.wholes("one") {
        let expected = if sample.series.task == "leaves" { Outcome::Ok } else { Outcome::Timeout };
        assert_eq!(sample.outcome, expected, "{sample:?}");
    }
    support::wait_until("the end of what was left", || processes_with(&number) == 0);
}

#[test]
fn a_task_that_prints_without_end_is_ended_at_its_deadline() {
    let place = directory();
    let endless = shell("while :; do echo 0123456789012345678901234567890123456789; done");
    let tasks = vec![patiently(task("prints", endless, 200, 500))];
    let scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let samples = onlooker.wholes("one");
    assert_eq!(samples.iter().map(|sample| sample.outcome).collect::<Vec<_>>(), [Outcome::Timeout]);
}

/// Time on processors of a process with one thread, which the kernel counts in nanoseconds.
fn processor_ns(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_watch_is_small_and_sleeps_between_probes() {
    const IDLE_SECONDS: u64 = 5;
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let scene = Scene::new(Nanoseconds::from_seconds(3600), vec![target(place.path(), "one", tasks)]);
    let slowly = |_: &[HistoryRecord]| {
        std::thread::sleep(std::time::Duration::from_secs(1));
        Ok(())
    };
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        scene.watch_observed(WatchLimit::UntilStopped, &probe_task, &slowly, &mut Unobserved);
        0
    })
    .unwrap();
    // The status tells that everything is written, although nothing else happens for an hour.
    support::wait_until("the end of the first round", || {
        matches!(read_status(&scene.plan.runtime_directory), Ok(PublishedStatus::Live(status))
            if status.in_flight.is_empty() && !status.last.is_empty() && status.waiting_records == 0)
    });
    std::thread::sleep(std::time::Duration::from_secs(1));
    // Who mounts wakes every watch of the machine, and other tests mount: one that works by itself works at all times.
    let worked_in = || {
        let before = processor_ns(watch.id());
        std::thread::sleep(std::time::Duration::from_secs(IDLE_SECONDS));
        processor_ns(watch.id()) - before
    };
    let mut worked_ns = Vec::new();
    let is_idle = (0..8).any(|_| {
        worked_ns.push(worked_in());
        // 0.1 % of a core.
        worked_ns.last() < Some(&(IDLE_SECONDS * 1_000_000))
    });
    assert!(iolag_keeper::descendants(watch.id()).is_empty(), "nobody else waits");
    let resident = resident_kib(watch.id());
    watch.signal(Signal::TERM);
    assert_eq!(watch.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
    assert!(is_idle, "it works in {IDLE_SECONDS} s for {worked_ns:?} ns");
    assert!(resident < 25 << 10, "{resident} KiB");
}

/// Exits with a status other than 0 if its process grows between two rounds.
struct Growth {
    rounds: [u64; 2],
    descriptors: usize,
    resident_kib: u64,
}

/// What it means to have grown.
const MORE_DESCRIPTORS: i32 = 3;
const MORE_MEMORY: i32 = 4;
/// Memory fluctuates with how much waits for the history.
const RESIDENT_SLACK_KIB: u64 = 1536;

impl WatchObserver for Growth {
    fn round_ended(&mut self, round: u64) {
        let own = std::process::id();
        if round >= self.rounds[0] && self.resident_kib == 0 {
            (self.descriptors, self.resident_kib) = (support::descriptors(), resident_kib(own));
        }
        if round < self.rounds[1] {
            return;
        }
        let grown = if support::descriptors() > self.descriptors + 6 {
            MORE_DESCRIPTORS
        } else if resident_kib(own) > self.resident_kib + RESIDENT_SLACK_KIB {
            MORE_MEMORY
        } else {
            return;
        };
        std::process::exit(grown);
    }
}

fn watch_for_growth(scene: &Scene, rounds: [u64; 2]) {
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let mut growth = Growth { rounds, descriptors: 0, resident_kib: 0 };
        let limit = WatchLimit::Rounds(rounds[1] + 50);
        scene.watch_observed(limit, &probe_task, &|_| Ok(()), &mut growth);
        i32::from(growth.resident_kib == 0)
    })
    .unwrap();
    let ending = watch.wait(Nanoseconds::from_seconds(110));
    watch.signal(Signal::KILL);
    assert_eq!(ending, Some(Ending::Exited(0)));
}

#[test]
fn two_thousand_rounds_take_no_more_than_five_hundred() {
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let scene = Scene::new(ms(8), vec![target(place.path(), "one", tasks)]);
    watch_for_growth(&scene, [500, 2000]);
}

#[test]
fn a_hang_of_a_thousand_slots_takes_no_more_than_one_of_two_hundred() {
    let backing = directory();
    let Some(mount) = iolag_fixtures::FuseMount::start(backing.path()) else { return };
    mount.hang_all();
    let tasks = vec![task("open-read", TaskSpec::OpenRead { bytes: 64 }, 50, 100)];
    let scene = Scene::new(ms(8), vec![target(mount.path(), "hanging", tasks)]);
    watch_for_growth(&scene, [200, 1200]);
    mount.release();
}

#[test]
fn a_watch_that_was_held_up_records_its_lag_and_invents_no_samples() {
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let later = |_: &[HistoryRecord]| Err("later".to_owned());
        scene.watch_observed(WatchLimit::UntilStopped, &probe_task, &later, &mut Unobserved);
        0
    })
    .unwrap();
    let rounds = || match read_status(&scene.plan.runtime_directory) {
        Ok(PublishedStatus::Live(status)) => status.rounds,
        _ => 0,
    };
    let wait_for_rounds = |least| support::wait_until("the next rounds", || rounds() >= least);
    wait_for_rounds(5);
    watch.signal(Signal::STOP);
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", watch.id())).unwrap();
    support::wait_until("the halt", || state().contains(") T "));
    let halted = support::wall();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let goes_on = support::wall();
    let before = rounds();
    watch.signal(Signal::CONT);
    wait_for_rounds(before + 5);
    watch.signal(Signal::TERM);
    assert!(watch.wait(Nanoseconds::from_seconds(60)).is_some());
    let left = iolag_watch::Spool::open(&scene.directory()).unwrap().1;
    let missed = left.iter().any(|record| {
        matches!(record, HistoryRecord::Event(event) if event.kind == "late" && event.text.contains(" missed: the watch itself"))
    });
    assert!(missed);
    // A round every 100 ms: the last of those that were due meanwhile begins late, and none before it.
    let in_the_halt = |record: &&HistoryRecord| {
        let place = halted + 100_000_000..goes_on - 200_000_000;
        matches!(record, HistoryRecord::Sample(sample) if place.contains(&sample.intended.0))
    };
    assert_eq!(left.iter().filter(in_the_halt).collect::<Vec<_>>(), Vec::<&HistoryRecord>::new());
    let samples = left.iter().filter(|record| matches!(record, HistoryRecord::Sample(_))).count();
    assert!(samples >= 5, "{samples}");
}
