//! Rescued runs: what counts of them, and how the store takes them in.

mod left;

use std::path::{Path, PathBuf};

use iolag_model::{
    AttemptId, Detail, DetailKind, Nanoseconds, PingProbe, PingSpec, RUN_FORMAT_WITH_PING, Rescue, RunState,
    Sample, WorkloadSpec,
};

use super::*;
use crate::runs::liveness::boot_id;
use crate::support::{Client, record, run_id};
use crate::{
    Manifest, ManifestEntry, ManifestKind, Recovery, SpoolNumber, SpoolWriter, recover, recover_run,
};

const OF_STUMP: usize = 500;
const OF_RUN: usize = 3000;

/// A store that filled up in mid-run, and the place to which the run was rescued.
struct Scene {
    directory: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { directory: tempfile::tempdir().unwrap() };
        let mut record = scene.record(&scene.store());
        record.rescue = None;
        let run = scene.store().create_run(&record).unwrap();
        spool(&run, OF_STUMP);
        scene.rescue(RunState::Complete, |_| {});
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn store(&self) -> Store {
        Store::open(&self.path("store")).unwrap().with_places(&[self.path("memory"), self.path("disk")])
    }

    /// The record of a keeper that is gone, of this boot.
    fn record(&self, home: &Store) -> RunRecord {
        let mut record = record(&run_id(1), 1, 1);
        record.environment.boot_id = boot_id();
        record.rescue = Some(Rescue {
            store: home.root().display().to_string(),
            identity: home.identity().ok(),
            place: self.path("memory").display().to_string(),
            cause: "no space left".into(),
            only_in_store: 0,
            keeper_pid: u32::MAX,
            keeper_start_ticks: 1,
        });
        record
    }

    /// Rescues the run once more, into memory, with these changes to its record.
    fn rescue(&self, state: RunState, change: impl FnOnce(&mut RunRecord)) -> RunDirectory {
        self.rescue_to("memory", state, change)
    }

    fn rescue_to(&self, place: &str, state: RunState, change: impl FnOnce(&mut RunRecord)) -> RunDirectory {
        let _ = std::fs::remove_dir_all(self.path(place));
        let mut record = self.record(&self.store());
        let run = Store::open(&self.path(place)).unwrap().create_run(&record).unwrap();
        spool(&run, OF_RUN);
        record.state = state;
        change(&mut record);
        if is_closed(&record) {
            close(&run, &mut record);
        } else {
            run.write_record(&record).unwrap();
        }
        run
    }

    fn adopt(&self) -> Vec<Adopted> {
        adopt(&self.store(), |_| false).unwrap()
    }

    fn left(&self) -> String {
        match self.adopt().remove(0).result.unwrap() {
            Adoption::Left { why } => why,
            other => panic!("{other:?}"),
        }
    }

    fn stump(&self) -> RunDirectory {
        self.store().own_run(&run_id(1)).unwrap()
    }

    /// The samples of what counts, and where that is.
    fn truth(&self) -> (Vec<Sample>, PathBuf) {
        let store = self.store();
        let listed = store.list().unwrap();
        assert_eq!(listed.len(), 1, "one run, one line");
        let run = store.find("last").unwrap();
        assert_eq!(run.path(), listed[0].path, "list and show mean the same");
        let of_store = store.runs().path().join(run.id().as_str());
        if of_store.exists() {
            assert_eq!(store.find(of_store.to_str().unwrap()).unwrap().path(), run.path());
        }
        (run.samples().unwrap().map(|stored| stored.unwrap().sample).collect(), run.path().to_owned())
    }
}

fn spool(run: &RunDirectory, samples: usize) {
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, run.id(), SpoolNumber(0)).unwrap();
    writer.append(&Client::new(0).take(samples)).unwrap();
    let detail = Detail { attempt: AttemptId(1), kind: DetailKind::Message, text: format!("{samples}") };
    writer.append_details(&[detail]).unwrap();
    writer.finish().unwrap();
}

fn close(run: &RunDirectory, record: &mut RunRecord) {
    let spool = run.open_spool(record).unwrap().unwrap();
    run.finish(record, &spool).unwrap();
}

fn everything() -> Vec<Sample> {
    Client::new(0).take(OF_RUN)
}

#[test]
fn a_rescued_run_is_what_counts_and_the_next_command_takes_it_home() {
    let scene = Scene::new();
    let (samples, path) = scene.truth();
    assert!(samples == everything() && path.starts_with(scene.path("memory")));
    // A stump is not recovered as if it were the run.
    assert!(recover(&scene.store(), |_| false).unwrap().is_empty());

    let adopted = scene.adopt();
    assert_eq!(adopted.len(), 1);
    assert_eq!(*adopted[0].result.as_ref().unwrap(), Adoption::Adopted { samples: OF_RUN as u64 });
    let (samples, path) = scene.truth();
    assert!(samples == everything() && path.starts_with(scene.path("store")));
    let run = scene.stump();
    assert_eq!(run.record().unwrap().rescue, None);
    assert_eq!(run.details().unwrap()[0].text, OF_RUN.to_string());
    assert_eq!(
        run.directory().names().unwrap(),
        ["details.parquet", "manifest.json", "run.json", "samples-0-0.parquet"]
    );
    assert!(!scene.path("memory").exists(), "the place of rescue is left");
    assert!(scene.adopt().is_empty() && recover(&scene.store(), |_| false).unwrap().is_empty());
}

#[test]
fn a_run_of_ping_keeps_its_format() {
    let scene = Scene::new();
    let rescued = scene.rescue(RunState::Complete, |_| {});
    let mut record = rescued.record().unwrap();
    let probe = PingProbe::Operations { object_bytes: 1 };
    let every_ns = Nanoseconds::from_seconds(1);
    record.spec.workload = WorkloadSpec::Ping(PingSpec { probe, every_ns, count: Some(1) });
    record.format = RUN_FORMAT_WITH_PING;
    rescued.write_record(&record).unwrap();
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    assert_eq!(scene.stump().record().unwrap().format, RUN_FORMAT_WITH_PING);
}

#[test]
fn a_kill_after_any_step_leaves_one_truth_and_the_next_command_goes_on() {
    for recovered_before in [false, true] {
        for step in [Step::DirectoryMade, Step::PartsCopied, Step::RecordReplaced, Step::StumpRemoved] {
            let scene = Scene::new();
            if recovered_before {
                // As an iolag does that knows no rescue: the stump has a part of the same name.
                let older = Store::open(&scene.path("store")).unwrap();
                recover(&older, |_| false).unwrap();
            }
            let store = scene.store();
            let killed =
                |at| if at == step { Err(StoreError::Locked { path: "killed here".into() }) } else { Ok(()) };
            adopt_run(&store, &store.rescued(&run_id(1)), |_| false, killed).unwrap_err();
            let (samples, path) = scene.truth();
            assert!(samples == everything(), "{step:?}");
            let is_home = matches!(step, Step::RecordReplaced | Step::StumpRemoved);
            assert_eq!(path.starts_with(scene.path("store")), is_home, "{step:?}");
            if !is_home && recovered_before {
                // Memory may be lost at this very moment: the stump is as whole as before.
                assert_eq!(scene.stump().samples().unwrap().filter_map(Result::ok).count(), OF_STUMP);
            }
            // The next command tidies, recovers, and adopts; twice changes nothing.
            for _ in 0..2 {
                scene.store().tidy().unwrap();
                scene.adopt();
                recover(&scene.store(), |_| false).unwrap();
                let (samples, path) = scene.truth();
                assert!(samples == everything() && path.starts_with(scene.path("store")), "{step:?}");
            }
            let parts = scene.stump().directory().names().unwrap();
            assert_eq!(parts.iter().filter(|name| name.starts_with("samples")).count(), 1, "{parts:?}");
            assert!(scene.stump().open_spool(&scene.stump().record().unwrap()).unwrap().is_none());
            assert!(!scene.path("memory").exists());
        }
    }
}

#[test]
fn a_source_that_is_half_removed_is_removed_by_the_next_command() {
    let scene = Scene::new();
    let kept = scene.path("kept");
    std::fs::create_dir(&kept).unwrap();
    let rescued = scene.path("memory/runs").join(run_id(1).as_str());
    std::fs::copy(rescued.join("run.json"), kept.join("run.json")).unwrap();
    scene.adopt();
    // Killed before run.json, which goes last; then before the empty directory; then before the place.
    for file in [true, false] {
        std::fs::create_dir_all(&rescued).unwrap();
        if file {
            std::fs::copy(kept.join("run.json"), rescued.join("run.json")).unwrap();
        }
        let (samples, path) = scene.truth();
        assert!(samples == everything() && path.starts_with(scene.path("store")));
        scene.store().tidy().unwrap();
        scene.adopt();
        assert!(!scene.path("memory").exists());
    }
    std::fs::create_dir_all(scene.path("memory/runs")).unwrap();
    scene.store().tidy().unwrap();
    assert!(!scene.path("memory").exists());
}

#[test]
fn a_run_that_was_rescued_twice_is_found_and_both_copies_go() {
    let scene = Scene::new();
    let unfinished = RunState::Running { keeper_pid: u32::MAX, keeper_start_ticks: 1, spool: None };
    scene.rescue(unfinished, |_| {});
    scene.rescue_to("disk", RunState::Complete, |record| {
        record.rescue.as_mut().unwrap().place = "disk".into();
    });
    let (samples, path) = scene.truth();
    assert!(samples == everything() && path.starts_with(scene.path("disk")));
    assert!(recover(&scene.store(), |_| false).unwrap().is_empty(), "it is closed, and called recovered");
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    assert!(scene.truth().0 == everything());
    assert!(!scene.path("memory").exists() && !scene.path("disk").exists());
}

#[test]
fn a_run_without_a_stump_is_taken_home() {
    let scene = Scene::new();
    std::fs::remove_dir_all(scene.stump().path()).unwrap();
    assert!(scene.truth().0 == everything());
    // The store was never opened: it is known by the path that the user gave, here through a link.
    std::os::unix::fs::symlink(scene.path("store"), scene.path("link")).unwrap();
    scene.rescue(RunState::Complete, |record| {
        let rescue = record.rescue.as_mut().unwrap();
        (rescue.identity, rescue.store) = (None, scene.path("link").display().to_string());
    });
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    assert!(scene.truth().0 == everything());
}

#[test]
fn texts_that_only_the_store_has_are_kept_and_none_twice() {
    for is_killed in [false, true] {
        let scene = Scene::new();
        if is_killed {
            let store = scene.store();
            let killed = |at| match at {
                Step::PartsCopied => Err(StoreError::Locked { path: "killed here".into() }),
                _ => Ok(()),
            };
            adopt_run(&store, &store.rescued(&run_id(1)), |_| false, killed).unwrap_err();
        }
        scene.adopt();
        let texts: Vec<_> = scene.stump().details().unwrap().into_iter().map(|detail| detail.text).collect();
        assert_eq!(texts, [OF_RUN.to_string(), OF_STUMP.to_string()]);
    }
}

#[test]
fn an_adopted_run_knows_its_directories_as_well_as_either_copy() {
    let scene = Scene::new();
    let entry = |name: &str, inode| ManifestEntry {
        parent: "/target".into(),
        name: name.into(),
        device: inode,
        inode,
        token: None,
        file_system: None,
        kind: ManifestKind::WorkingDirectory,
    };
    let manifest =
        |one, two, more| Manifest::new([vec![entry("one", one), entry("two", two)], more].concat());
    let removed = entry("removed", Some(4));
    scene.stump().write_manifest(&manifest(None, Some(2), vec![removed])).unwrap();
    let rescued = scene.store().rescued(&run_id(1)).remove(0).run;
    rescued.write_manifest(&manifest(Some(1), None, vec![entry("three", Some(3))])).unwrap();
    scene.adopt();
    let expected = manifest(Some(1), Some(2), vec![entry("three", Some(3))]);
    assert_eq!(scene.stump().manifest().unwrap(), expected);
}

#[test]
fn a_store_that_was_mounted_anew_is_known_by_the_stump() {
    let scene = Scene::new();
    let remounted = |record: &mut RunRecord| {
        let identity = record.rescue.as_mut().unwrap().identity.as_mut().unwrap();
        identity.device = identity.device.map(|device| device + 1);
    };
    scene.rescue(RunState::Complete, remounted);
    assert!(matches!(scene.adopt()[0].result, Ok(Adoption::Adopted { .. })));
    assert!(scene.truth().0 == everything());

    let scene = Scene::new();
    scene.rescue(RunState::Complete, remounted);
    std::fs::remove_dir_all(scene.stump().path()).unwrap();
    assert_eq!(scene.left(), "the store was mounted anew since, and nothing in it shows that it is the same");
    assert!(scene.truth().0 == everything());
}

#[test]
fn removing_a_run_removes_what_was_rescued_of_it() {
    let scene = Scene::new();
    let store = scene.store();
    assert!(matches!(store.remove_run(&run_id(1), |_| true), Err(StoreError::RunAlive { .. })));
    assert_eq!(store.remove_run(&run_id(1), |_| false).unwrap(), crate::Removal::Complete);
    assert!(scene.store().list().unwrap().is_empty() && !scene.path("memory").exists());
}

#[test]
fn what_killed_processes_left_is_taken_away() {
    let scene = Scene::new();
    let runs = scene.path("store/runs");
    let make = |name: &str| std::fs::write(runs.join(name), "z").unwrap();
    let (dead, own) =
        (crate::runs::store::probe_name(u32::MAX >> 1), crate::runs::store::probe_name(std::process::id()));
    [&dead[..], &format!("{dead}.new"), &own, "probe-1.new", "probe-notes"].into_iter().for_each(make);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(100_000);
    let age = |path: &Path| std::fs::File::open(path).unwrap().set_modified(old).unwrap();
    make("probe-4194305.new");
    age(&runs.join("probe-4194305.new"));
    for name in ["20261120-185901-0001", "20261120-185902-0002", "20261120-185903-0003"] {
        std::fs::create_dir(runs.join(name)).unwrap();
    }
    make("20261120-185902-0002/run.json.new");
    age(&runs.join("20261120-185902-0002/run.json.new"));
    make("20261120-185903-0003/run.json.new");
    scene.store().tidy().unwrap();
    let left = scene.store().runs().names().unwrap();
    assert_eq!(
        left,
        ["20261120-185900-0001", "20261120-185903-0003", "probe-1.new", own.as_str(), "probe-notes"]
    );
}

#[test]
fn a_directory_that_is_taken_away_while_its_run_begins_is_made_again() {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    let scene = Scene::new();
    let (is_done, left, taken) = (AtomicBool::new(false), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let store = scene.store();
            while !is_done.load(Ordering::Relaxed) {
                for name in store.runs().names().unwrap() {
                    if left.load(Ordering::Relaxed) > 0 && store.runs().remove_directory(&name).is_ok() {
                        left.fetch_sub(1, Ordering::Relaxed);
                        taken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        let store = scene.store();
        let made: Vec<_> = (2..40)
            .map(|salt| {
                // Two commands at most come in between.
                left.store(2, Ordering::Relaxed);
                store.create_run(&record(&run_id(salt), 1, 1)).map(|run| run.record().is_ok())
            })
            .collect();
        is_done.store(true, Ordering::Relaxed);
        assert!(made.iter().all(|made| matches!(made, Ok(true))), "{made:?}");
    });
    assert!(taken.into_inner() > 0, "nothing was taken away");
}
