//! What is said of a mount: that it does not answer only if that is so, from when on and until when.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{BindMount, FuseCall, FuseMount, skip_unless_root};
use iolag_model::{
    Configuration, FailureCode, HistoryRecord, HistorySample, Outage, OutageEnding, OutageKind, Outcome,
    WallTime,
};
use iolag_watch::{AtDeadline, Callbacks, Mounted, PlannedTask, WatchLimit, configuration_key};
use iolag_workload::{TaskOutput, TaskSpec, probe_task};
use rustix::process::{Pid, Signal, kill_process};
use support::{
    Onlooker, Scene, directory, is_fine_after, ms, target, task, wait_for_what_was_released, wall,
};

fn command(script: &str, soft: u64, hard: u64) -> PlannedTask {
    let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
    task("command", TaskSpec::Command { command, output: TaskOutput::Discard }, soft, hard)
}

/// All requests stand in the kernel's queue, and whoever waits for one can be killed, as on NFS and Lustre.
fn stop(mount: &FuseMount, signal: Signal) {
    kill_process(Pid::from_raw(mount.daemon_pid() as i32).unwrap(), signal).unwrap();
}

fn count(samples: &[HistorySample], outcome: Outcome) -> usize {
    samples.iter().filter(|sample| sample.outcome == outcome).count()
}

fn only(outages: &[Outage]) -> &Outage {
    let [outage] = outages else { panic!("{outages:?}") };
    outage
}

#[test]
fn a_command_that_waits_for_something_else_is_no_outage_of_its_mount() {
    let place = directory();
    for at_deadline in [AtDeadline::End { grace: ms(100) }, AtDeadline::Wait] {
        let sleeping = PlannedTask { at_deadline, ..command("exec sleep 4", 50, 1000) };
        let stat = task("stat", TaskSpec::Stat, 5000, 20_000);
        let scene = Scene::new(ms(500), vec![target(place.path(), "place", vec![sleeping, stat])]);
        let mut onlooker = Onlooker::default();
        scene.watch(WatchLimit::Rounds(6), &mut onlooker);
        assert_eq!(onlooker.outages(), [], "{at_deadline:?}");
        let is_late = |sample: &HistorySample| matches!(sample.outcome, Outcome::Timeout | Outcome::Hung);
        assert!(onlooker.wholes("place").iter().any(is_late), "{:?}", onlooker.wholes("place"));
    }
}

#[test]
fn a_mount_that_answers_slowly_is_no_outage_however_long_a_task_of_many_calls_takes() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let create = task("create", TaskSpec::Create { files: 400, bytes: 64 }, 200, 2000);
    let list = task("list", TaskSpec::List { files: 300, output: TaskOutput::Discard }, 200, 2000);
    let scene = Scene::new(ms(300), vec![target(mount.path(), "slow", vec![create, list])]);
    // Some 2000 calls for making each.
    mount.delay_all(Duration::from_millis(5));
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(4), &mut onlooker);
    let samples = onlooker.wholes("slow");
    assert!(count(&samples, Outcome::Timeout) >= 2, "{samples:?}");
    assert_eq!(onlooker.outages(), []);
    let told =
        |phase: &iolag_model::ProbeStatus| phase.progress.is_some_and(|one| one.done > 0 && one.of >= 300);
    assert!(onlooker.phases.iter().any(told), "how far it has come: {:?}", onlooker.phases);
}

#[test]
fn a_hang_that_can_be_killed_lasts_until_the_mount_answers() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let listing = format!("exec /bin/ls {}", mount.path().display());
    let scene =
        Scene::new(ms(1000), vec![target(mount.path(), "killable", vec![command(&listing, 50, 1500)])]);
    let (stopped_at, continued_at) = (Cell::new(0), Cell::new(0));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            2 => {
                stopped_at.set(wall());
                stop(&mount, Signal::STOP);
            }
            8 => {
                continued_at.set(wall());
                stop(&mount, Signal::CONT);
            }
            _ => {}
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(20), &mut onlooker);
    onlooker.at_round_end = None;
    let outages = onlooker.outages();
    let outage = only(&outages);
    let expected = (OutageKind::NoAnswer, Some(OutageEnding::Recovered), mount.path().to_str().unwrap());
    assert_eq!((outage.kind, outage.ending, outage.mount.as_str()), expected);
    assert_eq!(outage.targets, ["killable".to_owned()].into());
    // It began with the first thing that did not come back, and ended with the first that did.
    assert!(outage.begin.0 >= stopped_at.get(), "{outage:?} {}", stopped_at.get());
    let samples = onlooker.wholes("killable");
    let first = samples.iter().find(|sample| sample.outcome == Outcome::Timeout).unwrap();
    assert!(outage.begin.0 <= first.start.after(first.duration_ns).0, "{outage:?} {first:?}");
    assert!(outage.end.unwrap().0 >= continued_at.get(), "{outage:?} {}", continued_at.get());
    assert!(is_fine_after(&samples, continued_at.get()), "{samples:?}");
}

#[test]
fn a_program_that_cannot_be_killed_has_one_canary_beside_it() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let listing = format!("exec /bin/ls {}", mount.path().display());
    let scene = Scene::new(ms(500), vec![target(mount.path(), "stuck", vec![command(&listing, 50, 1500)])]);
    let (hung_at, held_max, released_at) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            held_max.set(held_max.get().max(mount.held()));
            match round {
                2 => {
                    hung_at.set(wall());
                    // What opening a place does not ask, but the program and the canary.
                    mount.hang(FuseCall::Readdir, "*");
                    mount.hang(FuseCall::Statfs, "*");
                }
                // Time for the canary to be given up.
                40 => {
                    released_at.set(wall());
                    mount.release();
                    wait_for_what_was_released(&mount);
                }
                _ => {}
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(60), &mut onlooker);
    onlooker.at_round_end = None;
    assert!((1..=2).contains(&held_max.get()), "the program and one canary: {}", held_max.get());
    let outages = onlooker.outages();
    let outage = only(&outages);
    assert!(outage.begin.0 >= hung_at.get(), "until then the mount answered: {outage:?} {}", hung_at.get());
    assert_eq!(outage.ending, Some(OutageEnding::Recovered));
    assert!(outage.end.unwrap().0 >= released_at.get(), "{outage:?} {}", released_at.get());
    let samples = onlooker.wholes("stuck");
    assert!(is_fine_after(&samples, released_at.get()), "{samples:?}");
}

/// A directory that is mounted elsewhere, for as long as this lives. `None`, and the test is skipped, without root.
fn mounted(backing: &Path, mount_point: &Path) -> Option<BindMount> {
    (!skip_unless_root()).then(|| BindMount::new(backing, mount_point).unwrap())
}

fn create_here(mount_point: &Path) -> Scene {
    let create = task("create", TaskSpec::Create { files: 5, bytes: 64 }, 5000, 20_000);
    Scene::new(ms(200), vec![target(mount_point, "scratch", vec![create])])
}

/// Watches with what the history knows of configurations, and facts that are looked up.
fn watch_knowing(
    scene: &Scene,
    rounds: u64,
    facts: BTreeMap<String, String>,
    known: Vec<Configuration>,
) -> Onlooker<'static> {
    let mut onlooker = Onlooker::default();
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &|_| facts.clone(),
        recall: &support::knows_nothing,
        remember: &|_| Ok(()),
    };
    scene.watch_with_facts(WatchLimit::Rounds(rounds), callbacks, known, &mut onlooker);
    onlooker
}

/// What the history knows of the target `scratch`.
fn known_of_scratch(facts: BTreeMap<String, String>) -> Configuration {
    let (host, target) = (support::HOST.to_owned(), "scratch".to_owned());
    Configuration { key: configuration_key(&facts), host, target, first_seen: WallTime(1), facts }
}

fn facts<const COUNT: usize>(facts: [(&str, &str); COUNT]) -> BTreeMap<String, String> {
    facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).into_iter().collect()
}

fn entries(directory: &Path) -> usize {
    std::fs::read_dir(directory).unwrap().count()
}

#[test]
fn what_is_not_mounted_any_more_is_an_outage_and_nothing_is_written_beneath() {
    let (backing, mount_point) = (directory(), directory());
    let Some(first) = mounted(backing.path(), mount_point.path()) else { return };
    let mount = RefCell::new(Some(first));
    let scene = create_here(mount_point.path());
    let (gone_at, back_at) = (Cell::new(0), Cell::new(0));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            3 => {
                gone_at.set(wall());
                drop(mount.take());
            }
            9 => {
                assert_eq!(entries(mount_point.path()), 0);
                back_at.set(wall());
                *mount.borrow_mut() = mounted(backing.path(), mount_point.path());
            }
            _ => {}
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(16), &mut onlooker);
    onlooker.at_round_end = None;
    let outages = onlooker.outages();
    let outage = only(&outages);
    let expected =
        (OutageKind::NotMounted, mount_point.path().to_str().unwrap(), Some(OutageEnding::Remounted));
    assert_eq!((outage.kind, outage.mount.as_str(), outage.ending), expected);
    assert_eq!(outage.targets, ["scratch".to_owned()].into());
    let (begin, end) = (outage.begin.0, outage.end.unwrap().0);
    assert!(gone_at.get() <= begin && begin <= back_at.get() && back_at.get() <= end, "{outage:?}");
    let samples = onlooker.wholes("scratch");
    let meanwhile: Vec<_> =
        samples.iter().filter(|sample| sample.start.0 > begin && sample.start.0 < back_at.get()).collect();
    assert!(meanwhile.len() >= 3, "{samples:?}");
    assert!(meanwhile.iter().all(|sample| sample.failure == FailureCode::NOT_MOUNTED), "{meanwhile:?}");
    assert!(is_fine_after(&samples, end), "{samples:?}");
    assert!(
        onlooker.troubles.iter().any(|told| told.contains("nothing is mounted at")),
        "{:?}",
        onlooker.troubles
    );
}

#[test]
fn a_watch_that_remembers_nothing_knows_from_the_history_what_has_to_be_mounted() {
    let mount_point = directory();
    let mut scene = create_here(mount_point.path());
    let known = known_of_scratch(facts([("mount-point", mount_point.path().to_str().unwrap())]));
    let watch = |scene: &Scene| watch_knowing(scene, 2, facts([("mount-point", "/")]), vec![known.clone()]);
    let onlooker = watch(&scene);
    let outages = onlooker.outages();
    assert_eq!((only(&outages).kind, only(&outages).end), (OutageKind::NotMounted, None));
    assert_eq!(entries(mount_point.path()), 0);
    let is_changed = |record: &HistoryRecord| matches!(record, HistoryRecord::Configuration(_));
    assert!(!onlooker.records.iter().any(is_changed), "what shows beneath is not the target");

    // The next one is told that it may lie anywhere, and goes on with what is known of the outage.
    scene.plan.targets[0].mounted = Mounted::Any;
    let onlooker = watch(&scene);
    assert_eq!(only(&onlooker.outages()).ending, Some(OutageEnding::Recovered));
    assert_eq!((count(&onlooker.wholes("scratch"), Outcome::Ok), entries(mount_point.path())), (2, 1));
}

#[test]
fn a_target_that_gets_another_name_takes_its_past_along_once() {
    let place = directory();
    let watch_on = |source: &str, name: &str, known: Vec<Configuration>| {
        let mut scene = create_here(place.path());
        scene.plan.targets[0].name = name.to_owned();
        let found = [("directory", "/lustre/scratch"), ("file-system", "lustre"), ("mount-source", source)];
        watch_knowing(&scene, 1, facts(found), known).records
    };
    let watch = |name: &str, known: Vec<Configuration>| watch_on("mds:/scratch", name, known);
    let configurations = |records: &[HistoryRecord]| -> Vec<Configuration> {
        let of = |record: &HistoryRecord| match record {
            HistoryRecord::Configuration(configuration) => Some(configuration.clone()),
            _ => None,
        };
        records.iter().filter_map(of).collect()
    };
    let renames = |records: &[HistoryRecord]| -> Vec<(String, String)> {
        let of = |record: &HistoryRecord| match record {
            HistoryRecord::Rename(rename) => Some((rename.old.clone(), rename.new.clone())),
            _ => None,
        };
        records.iter().filter_map(of).collect()
    };
    let first = watch("/scratch", Vec::new());
    assert_eq!(renames(&first), []);
    let mut known = configurations(&first);
    let elsewhere = watch_on("other:/scratch", "scratch", known.clone());
    assert_eq!(renames(&elsewhere), [], "another file system at the same place");
    let second = watch("scratch", known.clone());
    assert_eq!(renames(&second), [("/scratch".to_owned(), "scratch".to_owned())]);
    known.extend(configurations(&second));
    for name in ["scratch", "/scratch"] {
        assert_eq!(renames(&watch(name, known.clone())), [], "both names are known by now");
    }
}

#[test]
fn a_watch_ends_also_if_a_program_and_its_canary_cannot_be_killed_and_no_attempt_is_made_up() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let reading = format!("exec cat {}/hang-me", mount.path().display());
    let scene = Scene::new(ms(500), vec![target(mount.path(), "stuck", vec![command(&reading, 50, 1500)])]);
    mount.hang(FuseCall::Lookup, "hang-*");
    mount.hang(FuseCall::Lookup, ".iolag-canary*");
    let mut onlooker = Onlooker::default();
    // The canary is given up 14 s after it was sent.
    let summary = scene.watch(WatchLimit::Rounds(45), &mut onlooker);
    assert_eq!((summary.rounds, summary.left_behind.len()), (45, 1), "{summary:?}");
    // The canary may stand behind the program, before the file system is asked.
    let held = mount.held();
    assert!((1..=2).contains(&held), "the program and one canary: {held}");
    let samples = onlooker.wholes("stuck");
    let tried: BTreeSet<_> = samples
        .iter()
        .filter(|sample| sample.outcome != Outcome::Skipped)
        .map(|sample| sample.probe)
        .collect();
    assert_eq!(tried.len(), 1, "a canary is no attempt: {samples:?}");
    only(&onlooker.outages());
    // The next watch goes on with both, and sends nobody else.
    let mut onlooker = Onlooker::default();
    scene.watch(WatchLimit::Rounds(3), &mut onlooker);
    assert_eq!(mount.held(), held);
    mount.release();
    wait_for_what_was_released(&mount);
}

#[test]
fn what_stands_in_the_place_of_a_mount_that_hangs_is_not_blamed_for_it() {
    let (backing, other) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let stat = task("stat", TaskSpec::Stat, 50, 3000);
    let scene = Scene::new(ms(300), vec![target(mount.path(), "replaced", vec![stat])]);
    let (replaced_at, standing) = (Cell::new(0), RefCell::new(None));
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| match round {
            2 => mount.hang_all(),
            6 => {
                let unmounted = std::process::Command::new("umount").arg("-l").arg(mount.path()).status();
                assert!(unmounted.unwrap().success());
                *standing.borrow_mut() = mounted(other.path(), mount.path());
                replaced_at.set(wall());
            }
            _ => {}
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(30), &mut onlooker);
    onlooker.at_round_end = None;
    let outages = onlooker.outages();
    let is_of_now = |outage: &&Outage| outage.end.is_none() || outage.begin.0 > replaced_at.get();
    assert_eq!(outages.iter().filter(is_of_now).count(), 0, "{outages:?} {}", replaced_at.get());
    // The old one hangs still.
    assert!(
        is_fine_after(&onlooker.wholes("replaced"), replaced_at.get()),
        "{:?}",
        onlooker.wholes("replaced")
    );
    drop(standing.take());
    mount.release();
    wait_for_what_was_released(&mount);
}

#[test]
fn a_link_to_what_is_not_mounted_is_told_from_one_that_leads_elsewhere_now() {
    let (place, mount_point, plain) = (directory(), directory(), directory());
    let link = place.path().join("link");
    std::os::unix::fs::symlink(mount_point.path(), &link).unwrap();
    let path = mount_point.path().to_str().unwrap();
    let known = known_of_scratch(facts([("mount-point", path), ("directory", path)]));
    let scene = create_here(&link);
    let watch = || watch_knowing(&scene, 2, BTreeMap::new(), vec![known.clone()]);
    let onlooker = watch();
    assert_eq!((only(&onlooker.outages()).kind, entries(mount_point.path())), (OutageKind::NotMounted, 0));

    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(plain.path(), &link).unwrap();
    let onlooker = watch();
    assert_eq!((count(&onlooker.wholes("scratch"), Outcome::Ok), entries(plain.path())), (2, 1));
    assert_eq!(only(&onlooker.outages()).ending, Some(OutageEnding::Recovered));
    assert_eq!(entries(mount_point.path()), 0);
}
