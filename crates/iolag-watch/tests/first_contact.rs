//! Where targets truly lie, who goes there first, and that nobody else follows who did not come back.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};
use iolag_keeper::{Child, Ending, Orphanage};
use iolag_model::{
    Clock, HistoryRecord, HistorySample, MonotonicClock, Nanoseconds, Outage, OutageEnding, Outcome,
};
use iolag_watch::{
    Callbacks, FirstContact, MountKey, PublishedStatus, WatchLimit, WatchTarget, mount_keys, read_status,
};
use iolag_workload::{TaskSpec, probe_task};
use rustix::process::Signal;
use support::{Onlooker, Scene, directory, ms, target, task, wait_for_what_was_released};

const OPEN_READ: TaskSpec = TaskSpec::OpenRead { bytes: 64 };

fn quickly_given_up(directory: &Path, name: &str) -> WatchTarget {
    target(directory, name, vec![task("open-read", OPEN_READ, 50, 1000)])
}

fn patient(directory: &Path, name: &str) -> WatchTarget {
    target(directory, name, vec![task("stat", TaskSpec::Stat, 5000, 20_000)])
}

fn blocked_by(samples: &[HistorySample], blocker: &HistorySample) -> usize {
    samples.iter().filter(|sample| sample.blocker == Some(blocker.probe)).count()
}

fn hung(samples: &[HistorySample]) -> &HistorySample {
    let is_hung = |sample: &&HistorySample| matches!(sample.outcome, Outcome::Hung | Outcome::Late);
    samples.iter().find(is_hung).unwrap_or_else(|| panic!("nothing hung: {samples:?}"))
}

/// The outage that this probe found. On a busy machine others may be late, too.
fn outage_of(onlooker: &Onlooker<'_>, probe: &HistorySample) -> Outage {
    let outages = onlooker.outages();
    let found = outages.iter().find(|outage| outage.probe == probe.probe);
    found.unwrap_or_else(|| panic!("{outages:?}")).clone()
}

#[test]
fn a_link_that_nobody_has_followed_blocks_and_blames_nobody_else() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let (link, beside) = (place.path().join("link"), place.path().join("beside"));
    symlink(mount.path(), &link).unwrap();
    std::fs::create_dir(&beside).unwrap();
    let scene = Scene::new(ms(250), vec![quickly_given_up(&link, "linked"), patient(&beside, "beside")]);
    mount.hang_all();
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            if round == 8 {
                mount.release();
                wait_for_what_was_released(&mount);
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(16), &mut onlooker);
    onlooker.at_round_end = None;
    let (linked, beside) = (onlooker.wholes("linked"), onlooker.wholes("beside"));
    let first = hung(&linked);
    assert!(blocked_by(&linked, first) >= 4, "{linked:?}");
    assert_eq!(blocked_by(&beside, first), 0, "it only lies where the link does");
    // On a busy machine the one before is often still under way when one is due.
    assert!(beside.iter().filter(|sample| sample.outcome == Outcome::Ok).count() >= 4, "{beside:?}");
    assert!(linked.iter().any(|sample| sample.outcome == Outcome::Ok), "{linked:?}");
    let outage = outage_of(&onlooker, first);
    assert_eq!((outage.mount.as_str(), outage.ending), ("linked", Some(OutageEnding::Recovered)));
    let keys = mount_keys(&scene.plan.runtime_directory, &scene.plan.targets);
    assert!(keys.iter().all(|key| matches!(key, MountKey::Device(_))) && keys[0] != keys[1], "{keys:?}");
}

#[test]
fn where_a_link_leads_is_known_to_the_next_watch() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let (link, direct) = (place.path().join("link"), mount.path().join("direct"));
    symlink(mount.path(), &link).unwrap();
    std::fs::create_dir(&direct).unwrap();
    let mut scene = Scene::new(ms(250), vec![patient(&link, "linked"), patient(&direct, "direct")]);
    let keys = |scene: &Scene| mount_keys(&scene.plan.runtime_directory, &scene.plan.targets);
    assert_eq!(keys(&scene), ["linked", "direct"].map(|name| MountKey::Target(name.into())));
    scene.watch(WatchLimit::Rounds(1), &mut Onlooker::default());
    let known = keys(&scene);
    assert!(matches!(known[0], MountKey::Device(_)) && known[0] == known[1], "{known:?}");
    scene.plan.targets = vec![quickly_given_up(&link, "linked"), quickly_given_up(&direct, "direct")];

    mount.hang_all();
    let held_max = Cell::new(0);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            held_max.set(held_max.get().max(mount.held()));
            if round == 6 {
                mount.release();
                wait_for_what_was_released(&mount);
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(12), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(held_max.get(), 1, "one probe on the mount, whichever way leads there");
    let outages = onlooker.outages();
    let real = mount.path().to_string_lossy();
    assert!(!outages.is_empty() && outages.iter().all(|outage| outage.mount == real), "{outages:?}");
    assert_eq!(outages[0].ending, Some(OutageEnding::Recovered));
}

#[test]
fn a_probe_that_hangs_in_its_place_tells_where_that_is_while_it_hangs() {
    let (backing, place) = (directory(), directory());
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let (link, direct) = (place.path().join("link"), mount.path().join("direct"));
    symlink(mount.path(), &link).unwrap();
    std::fs::create_dir(&direct).unwrap();
    // Time enough to reach the place on a busy machine.
    let slowly_given_up =
        |path: &Path, name| target(path, name, vec![task("open-read", OPEN_READ, 50, 2000)]);
    let targets = vec![slowly_given_up(&link, "linked"), slowly_given_up(&direct, "direct")];
    let scene = Scene::new(ms(250), targets);
    // The file has been made and the place is open; what hangs is the task.
    mount.hang(FuseCall::Open, "read-*");
    let held_at_end = Cell::new(0);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            if round == 20 {
                held_at_end.set(mount.held());
                mount.release();
            }
        })),
        ..Onlooker::default()
    };
    scene.watch(WatchLimit::Rounds(28), &mut onlooker);
    onlooker.at_round_end = None;
    let outages = onlooker.outages();
    let real = mount.path().to_string_lossy();
    assert!(!outages.is_empty() && outages.iter().all(|outage| outage.mount == real), "{outages:?}");
    assert!((1..=2).contains(&held_at_end.get()), "{}", held_at_end.get());
    assert_eq!(outages[0].ending, Some(OutageEnding::Recovered));
}

/// A child that looks at a directory and nothing else.
fn scout(path: &Path) -> Child {
    Child::fork("scout", Orphanage::Die, || i32::from(std::fs::metadata(path.join("somewhere")).is_ok()))
        .unwrap()
}

#[test]
fn who_does_not_come_back_is_the_only_one_there() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = Scene::new(ms(250), vec![quickly_given_up(mount.path(), "hanging")]);
    mount.hang_all();
    let child = scout(mount.path());
    let process = child.id();
    assert!(mount.wait_until_held(1, support::PATIENCE));
    scene.contacts.borrow_mut().push(FirstContact::Silent { target: 0, child, start: MonotonicClock.now() });
    // Whoever looks up circumstances goes there, too.
    let facts = |target: &WatchTarget| {
        let found = std::fs::metadata(target.location.directory().unwrap()).is_ok();
        BTreeMap::from([("found".to_owned(), found.to_string())])
    };
    let held_max = Cell::new(0);
    let mut onlooker = Onlooker {
        at_round_end: Some(Box::new(|round| {
            held_max.set(held_max.get().max(mount.held()));
            if round == 8 {
                mount.release();
                wait_for_what_was_released(&mount);
            }
        })),
        ..Onlooker::default()
    };
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &facts,
        recall: &support::knows_nothing,
        remember: &|_| Ok(()),
    };
    scene.watch_with_facts(WatchLimit::Rounds(24), callbacks, Vec::new(), &mut onlooker);
    onlooker.at_round_end = None;
    assert_eq!(held_max.get(), 1, "nobody follows");
    let samples = onlooker.wholes("hanging");
    let first = hung(&samples);
    assert_eq!(
        onlooker.phases.first().map(|phase| (phase.probe, phase.process)),
        Some((first.probe, process))
    );
    assert_eq!((first.outcome, first.intended), (Outcome::Late, first.start));
    assert!(blocked_by(&samples, first) >= 6, "{samples:?}");
    assert!(samples.iter().any(|sample| sample.outcome == Outcome::Ok), "{samples:?}");
    assert_eq!(samples.len(), 25, "every slot, and who went there first");
    let outage = outage_of(&onlooker, first);
    assert_eq!(outage.begin, first.start);
    assert_eq!(outage.ending, Some(OutageEnding::Recovered));
    let configurations: Vec<_> = onlooker
        .records
        .iter()
        .filter_map(|record| match record {
            HistoryRecord::Configuration(configuration) => Some(configuration.facts["found"].as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(configurations, ["true"], "it was looked up when the mount answered");
}

#[test]
fn who_comes_back_late_leaves_no_trace_and_the_slots_begin() {
    let place = directory();
    let scene = Scene::new(ms(60_000), vec![patient(place.path(), "one")]);
    let before = support::wall();
    let child = Child::fork("scout", Orphanage::Die, || {
        std::thread::sleep(Duration::from_millis(1500));
        0
    });
    let contact = FirstContact::Silent { target: 0, child: child.unwrap(), start: MonotonicClock.now() };
    scene.contacts.borrow_mut().push(contact);
    let mut onlooker = Onlooker::default();
    let summary = scene.watch(WatchLimit::Rounds(1), &mut onlooker);
    assert_eq!(summary.left_behind, []);
    let samples = onlooker.wholes("one");
    let [sample] = &samples[..] else { panic!("{samples:?}") };
    assert_eq!(sample.outcome, Outcome::Ok);
    assert!(sample.start.0 > before + 1_000_000_000, "it waited for who was there: {sample:?}");
    assert_eq!(onlooker.outages(), []);
}

#[test]
fn a_watch_that_is_stopped_meanwhile_records_nothing_of_who_went_there_first() {
    let place = directory();
    let scene = Scene::new(ms(60_000), vec![patient(place.path(), "one")]);
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let sleep = || {
            std::thread::sleep(Duration::from_secs(600));
            0
        };
        let child = Child::fork("scout", Orphanage::Die, sleep).unwrap();
        let contact = FirstContact::Silent { target: 0, child, start: MonotonicClock.now() };
        scene.contacts.borrow_mut().push(contact);
        let mut onlooker = Onlooker::default();
        let summary = scene.watch(WatchLimit::UntilStopped, &mut onlooker);
        i32::from(!onlooker.wholes("one").is_empty() || !summary.left_behind.is_empty())
    })
    .unwrap();
    support::wait_until("the contact in the status", || {
        matches!(read_status(&scene.plan.runtime_directory), Ok(PublishedStatus::Live(status))
            if !status.in_flight.is_empty())
    });
    watch.signal(Signal::TERM);
    assert_eq!(watch.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
}

#[test]
fn who_looks_up_circumstances_and_does_not_come_back_is_the_only_one_there() {
    let backing = directory();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let scene = Scene::new(ms(1000), vec![quickly_given_up(mount.path(), "hanging")]);
    mount.hang_all();
    let facts = |target: &WatchTarget| {
        let found = std::fs::metadata(target.location.directory().unwrap()).is_ok();
        BTreeMap::from([("found".to_owned(), found.to_string())])
    };
    let (held_max, is_hung) = (Cell::new(0), Cell::new(false));
    let mut onlooker = Onlooker {
        at_record: Some(Box::new(|record| {
            held_max.set(held_max.get().max(mount.held()));
            let hangs = matches!(record, HistoryRecord::Sample(sample) if sample.outcome == Outcome::Hung);
            is_hung.set(is_hung.get() || hangs);
        })),
        ..Onlooker::default()
    };
    let callbacks = Callbacks {
        probe_task: &probe_task,
        facts: &facts,
        recall: &support::knows_nothing,
        remember: &|_| Ok(()),
    };
    let summary = scene.watch_with_facts(WatchLimit::Rounds(20), callbacks, Vec::new(), &mut onlooker);
    onlooker.at_record = None;
    assert_eq!((held_max.get(), mount.held(), is_hung.get()), (1, 1, true), "nobody follows");
    let [left] = &summary.left_behind[..] else { panic!("{summary:?}") };
    let samples = onlooker.wholes("hanging");
    assert_eq!(hung(&samples).probe, left.probe);
    assert!(blocked_by(&samples, hung(&samples)) >= 1, "{samples:?}");
    assert!(samples.iter().all(|sample| matches!(sample.outcome, Outcome::Hung | Outcome::Skipped)));
    mount.release();
}

#[test]
fn children_that_are_nobodys_are_forgotten_while_a_watch_runs() {
    let place = directory();
    let mut watch = Child::fork("watch", Orphanage::Die, || {
        let scene = Scene::new(ms(200), vec![patient(place.path(), "one")]);
        let stray = Child::fork("scout", Orphanage::Die, || {
            std::thread::sleep(Duration::from_millis(300));
            0
        });
        let stray = stray.unwrap().id();
        let mut onlooker = Onlooker {
            at_round_end: Some(Box::new(|round| {
                if round == 5 {
                    support::wait_until("the end of the stray", || support::has_ended(stray));
                }
            })),
            ..Onlooker::default()
        };
        scene.watch(WatchLimit::Rounds(8), &mut onlooker);
        // Its entry stays for as long as nobody has asked how it ended.
        i32::from(iolag_keeper::start_ticks(stray).is_some())
    })
    .unwrap();
    assert_eq!(watch.wait(Nanoseconds::from_seconds(60)), Some(Ending::Exited(0)));
}
