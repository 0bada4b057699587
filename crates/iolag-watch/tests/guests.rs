//! A watch is a guest: it leaves nothing running, waits without working, and is small.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use iolag_keeper::{Child, Ending, Orphanage};
use iolag_model::{HistoryRecord, Nanoseconds, Outcome};
use iolag_watch::{Unobserved, WatchLimit, WatchObserver};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use rustix::process::Signal;
use support::{Onlooker, Scene, directory, ms, processes_with, resident_kib, target, task};

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
    let tasks = vec![task("leaves", shell(&script), 10_000, 30_000), task("hangs", shell(&hangs), 100, 300)];
    let scene = Scene::new(ms(2000), vec![target(place.path(), "one", tasks)]);
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(2), &mut onlooker);
    for sample in onlooker.wholes("one") {
        let expected = if sample.series.task == "leaves" { Outcome::Ok } else { Outcome::Timeout };
        assert_eq!(sample.outcome, expected, "{sample:?}");
    }
    support::wait_until("the end of what was left", || processes_with(&number) == 0);
}

#[test]
fn a_task_that_prints_without_end_is_ended_at_its_deadline() {
    let place = directory();
    let tasks = vec![task(
        "prints",
        shell("while :; do echo 0123456789012345678901234567890123456789; done"),
        200,
        500,
    )];
    let scene = Scene::new(ms(100), vec![target(place.path(), "one", tasks)]);
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    let samples = onlooker.wholes("one");
    assert_eq!(samples.iter().map(|sample| sample.outcome).collect::<Vec<_>>(), [Outcome::Timeout]);
}

/// Time on processors of this process alone, in clock ticks.
fn processor_ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_watch_is_small_and_sleeps_between_probes() {
    let place = directory();
    let tasks = vec![task("stat", TaskSpec::Stat, 5000, 20000)];
    let mut scene = Scene::new(Nanoseconds::from_seconds(900), vec![target(place.path(), "one", tasks)]);
    scene.plan.jitter = ms(5);
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        /// Lets the watch run on for some seconds, and stops it from outside.
        struct Measuring;
        impl WatchObserver for Measuring {
            fn round_ended(&mut self, _round: u64) {
                let own = std::process::id();
                let stop = move || {
                    std::thread::sleep(std::time::Duration::from_secs(4));
                    // SAFETY: sends a signal to this very process.
                    unsafe { libc::kill(own as i32, libc::SIGTERM) };
                };
                std::thread::spawn(stop);
            }
        }
        let ticks = processor_ticks();
        scene.watch_observed(WatchLimit::UntilStopped, &probe_task, &|_| Ok(()), &mut Measuring);
        let worked = processor_ticks() - ticks;
        // Ticks are 10 ms: starting and one round cost a few of them, four seconds of looking every 10 ms would cost more.
        if worked > 10 {
            return 1;
        }
        i32::from(resident_kib() > 25 << 10) * 2
    })
    .unwrap();
    assert_eq!(watch.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
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
    let pause = |milliseconds| std::thread::sleep(std::time::Duration::from_millis(milliseconds));
    pause(1000);
    watch.signal(Signal::STOP);
    pause(2000);
    watch.signal(Signal::CONT);
    pause(1000);
    watch.signal(Signal::TERM);
    assert!(watch.wait(Nanoseconds::from_seconds(20)).is_some());
    let left = iolag_watch::Spool::open(&scene.directory()).unwrap().1;
    let missed = left.iter().any(|record| {
        matches!(record, HistoryRecord::Event(event) if event.kind == "late" && event.text.contains("rounds were missed"))
    });
    assert!(missed);
    let samples = left.iter().filter(|record| matches!(record, HistoryRecord::Sample(_))).count();
    // Four seconds have 40 places, and in half of them nobody watched.
    assert!((5..=30).contains(&samples), "{samples}");
}
