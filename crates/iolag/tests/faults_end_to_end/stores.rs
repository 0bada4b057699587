//! Stores that hang, are full, read-only, damaged or newer; and where samples wait.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_fixtures::{FuseMount, LoopMount, TmpfsMount};

use crate::support::{
    Finished, Running, Scene, assert_gapless, assert_says, exported, leftovers, remove_rescued_run,
};

/// The program with a store of the test's choice.
fn run_with(scene: &Scene, store: &Path, arguments: &[&str]) -> Running {
    let all = [&["--store", store.to_str().unwrap()], arguments].concat();
    Running::start(scene.bare_command(Path::new(env!("CARGO_BIN_EXE_iolag")), &all))
}

/// Where a run was kept instead; to be removed by the test.
struct Rescued(PathBuf);

impl Rescued {
    fn of(done: &Finished) -> Self {
        let (_, rest) =
            done.stderr.split_once("kept in ").unwrap_or_else(|| panic!("nothing rescued: {done:?}"));
        let path = PathBuf::from(rest.split(" instead").next().unwrap());
        // A run, or (when the store was never used) the store in memory.
        assert!(path.to_string_lossy().contains("iolag-"), "{path:?}");
        Self(path)
    }

    fn exported(&self, scene: &Scene) -> Vec<crate::support::Exported> {
        let store = self.0.parent().unwrap().parent().unwrap();
        let name = self.0.to_str().unwrap();
        let done = run_with(scene, store, &["export", name, "--format", "json"]).finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        exported(&done.stdout)
    }
}

impl Drop for Rescued {
    fn drop(&mut self) {
        // What a failed test has left in memory is a few KiB.
        if self.0.join("run.json").exists() {
            let _ = remove_rescued_run(&self.0);
        }
    }
}

#[test]
fn a_store_that_hangs_in_mid_run_costs_neither_result_nor_samples() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let target = scene.target().to_str().unwrap().to_owned();
    // Slow enough to be under way still when somebody who is slow lets the store hang.
    let arguments = Scene::bench_arguments(&target, &["-R4", "--think", "2ms"]);
    let mut running = run_with(&scene, &fuse.path().join("store"), &arguments);
    running.wait_for("measuring");
    std::thread::sleep(Duration::from_millis(150));
    fuse.hang_all();
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stdout, &["precreate", "cleanup", "complete"]);
    assert_says(&done.stderr, &["has not answered for", "the run is kept in"]);
    let rescued = Rescued::of(&done);
    let samples = rescued.exported(&scene);
    assert_gapless(&samples);
    assert_eq!(samples.iter().filter(|sample| sample.operation == "stage").count(), 6);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_store_that_hangs_from_the_start_is_replaced() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    fuse.hang_all();
    let target = scene.target().to_str().unwrap().to_owned();
    let arguments = Scene::bench_arguments(&target, &["--deadline", "4s"]);
    let done = run_with(&scene, &fuse.path().join("store"), &arguments).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_says(&done.stderr, &["has not answered for", "this run is kept in"]);
    assert_says(&done.stdout, &["precreate", "cleanup"]);
    let (_, announced) = done.stderr.split_once("; run ").unwrap();
    let (id, root) = announced.split_once(" in ").unwrap();
    remove_rescued_run(&Path::new(root.lines().next().unwrap()).join("runs").join(id)).unwrap();
    // Each waits for a while: at the same time.
    let looks = [&["list"][..], &["show"], &["cleanup"], &["prune", "--keep-last", "1"]];
    let running = looks.map(|look| run_with(&scene, &fuse.path().join("store"), look));
    for (look, running) in looks.iter().zip(running) {
        let done = running.finish();
        assert_eq!(done.code, Some(3), "{look:?} {done:?}");
        assert_says(&done.stderr, &["has not answered for"]);
    }
    fuse.release();
    scene.assert_nobody_is_left();
}

#[test]
fn a_store_that_fills_up_in_mid_run_loses_nothing() {
    let scene = Scene::new();
    let Some(store) = TmpfsMount::new(400 << 10) else { return };
    let target = scene.target().to_str().unwrap().to_owned();
    let done = run_with(&scene, store.path(), &Scene::bench_arguments(&target, &["-R20", "-n2"])).finish();
    assert_says(&done.stderr, &["No space left", "free some space", "the run is kept in"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let rescued = Rescued::of(&done);
    let samples = rescued.exported(&scene);
    assert_gapless(&samples);
    assert_eq!(samples.iter().filter(|sample| sample.operation == "stage").count(), 2 * 22);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn a_store_that_fills_up_when_memory_is_small_stops_the_run_and_loses_nothing() {
    let scene = Scene::new();
    let Some(store) = TmpfsMount::new(400 << 10) else { return };
    let target = scene.target().to_str().unwrap().to_owned();
    let arguments = Scene::bench_arguments(&target, &["-R100", "--buffer", "64KiB"]);
    let done = run_with(&scene, store.path(), &arguments).finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["the store takes no samples and the memory for them is full"]);
    let rescued = Rescued::of(&done);
    assert!(assert_gapless(&rescued.exported(&scene)) > 1365);
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn a_store_that_is_full_or_read_only_is_refused_in_one_sentence() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let Some(full) = TmpfsMount::new(256 << 10) else { return };
    full.fill().unwrap();
    let Some(read_only) = LoopMount::ext4(16) else { return };
    read_only.remount_read_only().unwrap();
    for (store, said) in [(full.path(), "No space left"), (read_only.path(), "Read-only file system")] {
        let done = run_with(&scene, store, &Scene::bench_arguments(&target, &[])).finish();
        assert_eq!(done.code, Some(3), "{done:?}");
        assert_says(&done.stderr, &[said, store.to_str().unwrap()]);
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    }
    scene.assert_nobody_is_left();
}

#[test]
fn damaged_and_newer_runs_are_told_in_a_sentence() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    for _ in 0..2 {
        assert_eq!(scene.run(&Scene::bench_arguments(&target, &[])).code, Some(0));
    }
    let mut runs: Vec<_> =
        fs::read_dir(scene.store().join("runs")).unwrap().flatten().map(|run| run.path()).collect();
    runs.sort();
    fs::write(runs[0].join("run.json"), "{ this is not").unwrap();
    let record = fs::read_to_string(runs[1].join("run.json")).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&record).unwrap();
    value["format"] = "99.0".into();
    fs::write(runs[1].join("run.json"), value.to_string()).unwrap();

    let listed = scene.run(&["list"]);
    assert_eq!(listed.code, Some(3), "{listed:?}");
    assert_says(
        &listed.stderr,
        &["run.json is damaged", "iolag rm", "newer format (99.0)", "this iolag reads up to 3."],
    );
    assert_eq!(
        (listed.stdout.as_str(), listed.stderr.lines().count()),
        ("", 2),
        "newer is not damaged: {listed:?}"
    );
    let pruned = scene.run(&["prune", "--keep-last", "0"]);
    assert_eq!(pruned.code, Some(0), "{pruned:?}");
    assert_says(&pruned.stdout, &[runs[0].file_name().unwrap().to_str().unwrap(), "would be removed"]);
    assert_says(&pruned.stderr, &["not pruned", "newer format (99.0)"]);
    assert_eq!((pruned.stdout.lines().count(), pruned.stderr.lines().count()), (1, 1), "{pruned:?}");
    for (run, expected) in [(&runs[0], "is damaged"), (&runs[1], "99")] {
        let name = run.file_name().unwrap().to_str().unwrap();
        for command in ["show", "export", "cleanup"] {
            let done = scene.run(&[command, name]);
            assert_eq!(done.code, Some(3), "{command} {done:?}");
            assert_says(&done.stderr, &[expected, "run.json"]);
            assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
        }
    }
    // A damaged run keeps nobody from measuring.
    assert_eq!(scene.run(&Scene::bench_arguments(&target, &[])).code, Some(0));
}

#[test]
fn samples_wait_elsewhere_while_the_store_is_measured() {
    let scene = Scene::new();
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let store = tmpfs.path().join("store");
    let target = tmpfs.path().to_str().unwrap().to_owned();
    // Slow enough for somebody who is slow to find the spool.
    let running = run_with(&scene, &store, &Scene::bench_arguments(&target, &["-R8", "--think", "2ms"]));
    let spool = crate::support::wait_for("writer's spool", || {
        let writer = running.writer()?;
        let descriptors = fs::read_dir(format!("/proc/{writer}/fd")).ok()?;
        let mut names = descriptors.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
        names.find(|name| name.extension().is_some_and(|extension| extension == "spool"))
    });
    assert!(!spool.starts_with(tmpfs.path()), "samples go to the measured file system: {spool:?}");
    let done = running.finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(!spool.exists() && !spool.parent().unwrap().exists(), "the spool is left");
    assert!(!done.stdout.contains("there is no other place"));
}

#[test]
fn a_small_buffer_makes_clients_wait_and_loses_nothing() {
    let scene = Scene::new();
    let done =
        scene.run(&["bench", "metadata", "memory:", "-D2", "-P2000", "-I1000", "-R20", "--buffer", "64KiB"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let samples = scene.exported();
    assert_gapless(&samples);
    assert!(samples.iter().any(|sample| sample.operation == "ring-wait"), "no wait is on record");
    assert_eq!(samples.iter().filter(|sample| sample.operation == "read").count(), 2 * 1000 * 20);
}

#[test]
fn samples_on_the_measured_file_system_are_told_where_there_is_no_other_place() {
    let scene = Scene::new();
    // The program alone has a quarter of it where it is not optimised.
    let Some(tmpfs) = TmpfsMount::new(1 << 30) else { return };
    let only = tmpfs.path().to_str().unwrap();
    fs::create_dir(tmpfs.path().join("target")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_iolag"), tmpfs.path().join("program")).unwrap();
    // In a mount namespace of its own, every place for samples is the measured file system.
    let script = format!(
        "cd {only} && mount --make-rprivate / && for place in /dev/shm /var/tmp /tmp; do mount --bind . $place; done && \
         cd /tmp && exec ./program --store /tmp/store bench metadata /tmp/target -D2 -P50 -I10 -R1"
    );
    let done =
        Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    let said = done.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &said,
        &["samples are written to the file system that is being measured: there is no other place"],
    );
    assert_says(&said, &["--store"]);
}
