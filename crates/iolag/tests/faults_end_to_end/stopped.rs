//! Processes that somebody stops and, or not, lets go on: SIGSTOP, a batch system that suspends, a control group that is frozen.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, current_test, skip};
use iolag_model::{Clock, GeneratorLimit, GeneratorRecord, MarkedSpan, MonotonicClock};

use crate::support::{
    PATIENCE, Running, Scene, assert_gapless, assert_says, children, kill, leftovers, wait_for, wait_until,
};

/// Longer than any test lasts.
const LONG: [&str; 4] = ["-n2", "-R10000", "--think", "100us"];

fn started(scene: &Scene, target: &Path, more: &[&str]) -> Running {
    let mut running = scene.start(&Scene::bench_arguments(target.to_str().unwrap(), more));
    running.wait_for("measuring");
    running
}

fn measurer(running: &Running) -> u32 {
    wait_for("measurer", || running.measurer())
}

fn writer(running: &Running) -> u32 {
    wait_for("writer", || running.writer())
}

/// The letter of a process's state.
fn state(process: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

fn stop(process: u32) {
    kill(process, libc::SIGSTOP);
    assert!(wait_until(PATIENCE, || state(process) == Some('T')), "{:?}", state(process));
}

/// The run has ended with a report that tells it, and nothing is left.
fn assert_ended(scene: &Scene, running: Running) {
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["was stopped (SIGSTOP) for", "and was ended"]);
    assert_says(&done.stdout, &["precreate", "incomplete: the measurer of", "was stopped (SIGSTOP) for"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    // That its process was stopped is not the file system's fault.
    assert!(samples.iter().all(|sample| sample.outcome != "hung"), "{samples:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

/// The benchmark is under way.
fn wait_for_benchmark(scene: &Scene) {
    wait_for("benchmark phase", || scene.target().join("iolag-work/1_1/file-199").exists().then_some(()));
}

#[test]
fn a_stopped_measurer_is_ended_at_its_deadline() {
    for pace in ["100us", "500ms"] {
        let scene = Scene::new();
        let arguments = ["-n2", "-R10000", "--think", pace, "--deadline", "2s"];
        let running = started(&scene, &scene.target(), &arguments);
        wait_for_benchmark(&scene);
        stop(measurer(&running));
        assert_ended(&scene, running);
    }
}

#[test]
fn a_measurer_that_is_stopped_in_an_operation_is_ended_at_its_deadline() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let running = started(&scene, fuse.path(), &[&LONG[..], &["--deadline", "10s"]].concat());
    wait_for_benchmark(&scene);
    fuse.hang(FuseCall::Lookup, "*_0");
    assert!(fuse.wait_until_held(1, PATIENCE));
    kill(measurer(&running), libc::SIGSTOP);
    fuse.release();
    assert_ended(&scene, running);
}

#[test]
fn a_stopped_writer_is_replaced_and_nothing_is_lost() {
    let scene = Scene::new();
    let mut running =
        started(&scene, &scene.target(), &["-n2", "-R5", "--think", "5ms", "--deadline", "60s"]);
    stop(writer(&running));
    let replaced = wait_until(PATIENCE, || {
        running.has_ended() || running.writer().is_some_and(|writer| state(writer) != Some('T'))
    });
    assert!(replaced, "{}", running.stderr());
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["the writer was stopped (SIGSTOP) for", "and was replaced"]);
    assert_says(&done.stdout, &["benchmark 5", "cleanup"]);
    assert_gapless(&scene.exported());
    assert_says(&scene.run(&["list"]).stdout, &["complete"]);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn measurer_and_writer_stopped_together_are_both_ended() {
    let scene = Scene::new();
    let running = started(&scene, &scene.target(), &[&LONG[..], &["--deadline", "2s"]].concat());
    wait_for_benchmark(&scene);
    let both = [measurer(&running), writer(&running)];
    both.into_iter().for_each(stop);
    assert_ended(&scene, running);
}

#[test]
fn a_measurer_that_goes_on_within_its_deadline_is_told_and_kept() {
    let scene = Scene::new();
    let running = started(&scene, &scene.target(), &["-n2", "-R10", "--think", "10ms", "--deadline", "60s"]);
    let measurer = measurer(&running);
    stop(measurer);
    std::thread::sleep(Duration::from_secs(2));
    let amid = MonotonicClock.now();
    std::thread::sleep(Duration::from_secs(2));
    kill(measurer, libc::SIGCONT);
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let listed: serde_json::Value =
        serde_json::from_str(&scene.run(&["list", "--json", "-"]).stdout).unwrap();
    let generator: GeneratorRecord = serde_json::from_value(listed[0]["generator"].clone()).unwrap();
    let is_late = |span: &MarkedSpan| {
        span.beyond.contains(&GeneratorLimit::Lag) && span.begin <= amid && amid < span.end
    };
    assert!(!generator.marked.iter().any(is_late), "whoever stands still is not late: {generator:?}");
    // Where lines break depends on the path of the target.
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&said, &["Before you trust the numbers", "was stopped by somebody for", "and went on"]);
    scene.assert_nobody_is_left();
}

/// Every process of a run, the keeper first.
fn everybody(running: &Running) -> Vec<u32> {
    [vec![running.id()], children(running.id())].concat()
}

#[test]
fn a_job_that_is_suspended_and_goes_on_loses_nothing() {
    let scene = Scene::new();
    let running = started(&scene, &scene.target(), &["-n2", "-R10", "--think", "10ms", "--deadline", "5s"]);
    measurer(&running);
    writer(&running);
    let everybody = everybody(&running);
    everybody.iter().copied().for_each(stop);
    std::thread::sleep(Duration::from_secs(6));
    // The keeper first: it wakes while all the others still stand still.
    everybody.iter().for_each(|process| kill(*process, libc::SIGCONT));
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["iolag itself did not run for"]);
    assert_says(
        &done.stdout,
        &["Before you trust the numbers", "iolag itself did not run for", "counts for no"],
    );
    let samples = scene.exported();
    assert_gapless(&samples);
    assert!(samples.iter().all(|sample| sample.outcome != "hung"), "{samples:?}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

/// The measurer: the child that holds something below the target open.
fn who_works_in(running: &Running, target: &str) -> u32 {
    let works = |process: &u32| {
        let descriptors = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let mut paths = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
        paths.any(|path| path.starts_with(target) && path != Path::new(target))
    };
    wait_for("measurer", || children(running.id()).into_iter().find(works))
}

#[test]
fn a_check_tells_that_its_measurer_was_stopped_and_accuses_no_directory() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let mut running = scene.start(&["check", &target, "--deadline", "3s"]);
    running.wait_for("is kept as");
    let measurer = who_works_in(&running, &target);
    stop(measurer);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["which was stopped (SIGSTOP) for"]);
    let told = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["was stopped (SIGSTOP) for"]);
    assert!(!told.contains("unreliable") && !told.contains("did not end"), "{told}");
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn a_ping_ends_when_its_measurer_was_stopped() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let running = scene.start(&["ping", &target, "--every", "100ms", "--deadline", "2s"]);
    assert!(wait_until(PATIENCE, || running.stdout().contains("seq=2 ")), "{}", running.stderr());
    let measurer = who_works_in(&running, &target);
    stop(measurer);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["was stopped (SIGSTOP) for", "and was ended"]);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

/// A control group of its own; thawed and removed when dropped.
struct Freezer {
    group: PathBuf,
    freeze: (&'static str, [&'static str; 2]),
}

impl Freezer {
    /// Of version 1, or of version 2; `None`, and the test is skipped, where it cannot be made.
    fn new(mounts: &[&str], freeze: (&'static str, [&'static str; 2])) -> Option<Self> {
        let name = format!("iolag-test-{}", std::process::id());
        let made = mounts.iter().map(|mount| Path::new(mount).join(&name)).find_map(|group| {
            fs::create_dir(&group).ok()?;
            let freezer = Self { group, freeze };
            freezer.group.join(freeze.0).exists().then_some(freezer)
        });
        if made.is_none() {
            skip(&current_test(), "no control group can be frozen here");
        }
        made
    }

    fn freeze(&self, process: u32) {
        fs::write(self.group.join("cgroup.procs"), process.to_string()).unwrap();
        fs::write(self.group.join(self.freeze.0), self.freeze.1[0]).unwrap();
    }

    fn thaw(&self) {
        let _ = fs::write(self.group.join(self.freeze.0), self.freeze.1[1]);
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.thaw();
        wait_until(PATIENCE, || fs::remove_dir(&self.group).is_ok());
    }
}

#[test]
fn a_measurer_in_a_frozen_control_group_of_version_1_is_left_behind_and_named() {
    let Some(freezer) = Freezer::new(&["/sys/fs/cgroup/freezer"], ("freezer.state", ["FROZEN", "THAWED"]))
    else {
        return;
    };
    let scene = Scene::new();
    // None of its clients is in an operation, as a rule.
    let running = started(&scene, &scene.target(), &["-n2", "-R10000", "--think", "1s", "--deadline", "2s"]);
    wait_for_benchmark(&scene);
    freezer.freeze(measurer(&running));
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["precreate", "incomplete"]);
    assert_says(&done.stderr, &["process ", " cannot be ended"]);
    assert_gapless(&scene.exported());
    freezer.thaw();
    scene.assert_nobody_is_left();
}

#[test]
fn a_measurer_in_a_frozen_control_group_of_version_2_is_ended() {
    let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
    let Some(freezer) = Freezer::new(&mounts, ("cgroup.freeze", ["1", "0"])) else { return };
    let scene = Scene::new();
    let running = started(&scene, &scene.target(), &["-n2", "-R10000", "--think", "1s", "--deadline", "2s"]);
    wait_for_benchmark(&scene);
    freezer.freeze(measurer(&running));
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["was frozen with its control group for", "and was ended"]);
    assert_gapless(&scene.exported());
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}
