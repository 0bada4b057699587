//! Targets that are missing, no directories, full, read-only, not ours, or vanish in mid-run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use iolag_fixtures::{BindMount, FuseCall, FuseMount, LoopMount, TmpfsMount, skip_unless_root};

use crate::support::{
    Finished, PATIENCE, Running, Scene, assert_gapless, assert_says, leftovers, wait_until,
};

/// Refused in one sentence that names what, before anything was written.
fn assert_refused(done: &Finished, code: i32, parts: &[&str]) {
    assert_eq!(done.code, Some(code), "{done:?}");
    assert_says(&done.stderr, parts);
    let sentences: Vec<_> =
        done.stderr.lines().filter(|line| !line.starts_with("iolag: measuring")).collect();
    assert!(sentences.len() == 1 || sentences.iter().all(|line| line.starts_with("iolag: ")), "{done:?}");
}

fn bench(scene: &Scene, target: &Path) -> Finished {
    scene.run(&Scene::bench_arguments(target.to_str().unwrap(), &[]))
}

fn check(scene: &Scene, target: &Path) -> Finished {
    scene.run(&["check", target.to_str().unwrap(), "--budget", "3s", "--deadline", "2s"])
}

#[test]
fn what_is_no_directory_is_refused() {
    let scene = Scene::new();
    let missing = scene.path().join("missing");
    let file = scene.path().join("file");
    fs::write(&file, "text").unwrap();
    for run in [bench, check] {
        assert_refused(&run(&scene, &missing), 3, &["missing", "does not exist"]);
        assert_refused(&run(&scene, &file), 3, &["file", "not a directory"]);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn what_may_not_be_written_is_refused() {
    if skip_unless_root() {
        return;
    }
    let scene = Scene::new();
    for path in [scene.path().to_owned(), scene.home()] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    let target = scene.target();
    let target = target.to_str().unwrap();
    // The build's own directory may lie in a home that others may not enter.
    let program = scene.path().join("iolag");
    fs::copy(env!("CARGO_BIN_EXE_iolag"), &program).unwrap();
    for arguments in [Scene::bench_arguments(target, &[]), vec!["check", target, "--budget", "3s"]] {
        let mut command = scene.command_of(&program, &arguments);
        command.uid(65_534).gid(65_534);
        let done = Running::start(command).finish();
        assert_refused(&done, 3, &["ermission denied", target]);
    }
    assert_eq!(leftovers(Path::new(target)), Vec::<String>::new());
}

#[test]
fn what_is_read_only_or_full_is_refused() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(16) else { return };
    ext4.remount_read_only().unwrap();
    for run in [bench, check] {
        assert_refused(&run(&scene, ext4.path()), 3, &["ead-only", ext4.path().to_str().unwrap()]);
    }
    ext4.remount_writable().unwrap();
    ext4.fill().unwrap();
    for run in [bench, check] {
        assert_refused(&run(&scene, ext4.path()), 3, &["free", ext4.path().to_str().unwrap()]);
    }
    assert_eq!(leftovers(ext4.path()), Vec::<String>::new());
}

#[test]
fn a_target_that_fills_up_is_told_and_loses_nothing() {
    let scene = Scene::new();
    let Some(ext4) = LoopMount::ext4(64) else { return };
    let target = ext4.path().to_str().unwrap().to_owned();
    let running = scene.start(&["bench", "metadata", &target, "-D1", "-P10000", "-I50", "--think", "1ms"]);
    crate::support::wait_for("dataset", || ext4.path().join("iolag-work/0_0").exists().then_some(()));
    ext4.fill().unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stdout, &["the target failed while it was measured", "no space left"]);
    let samples = scene.exported();
    assert_gapless(&samples);
    assert!(samples.iter().any(|sample| sample.outcome == "error"));
    assert_eq!(leftovers(ext4.path()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn a_working_directory_that_vanishes_is_told_and_loses_nothing() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let mut running = scene.start(&Scene::bench_arguments(&target, &["-R200", "--think", "100us"]));
    running.wait_for("measuring");
    let last = scene.target().join("iolag-work/0_1/file-199");
    crate::support::wait_for("working set", || last.exists().then_some(()));
    let working = scene.target().join("iolag-work");
    // Files come while it is removed; from some moment on none do.
    let is_removed = || !working.exists() || fs::remove_dir_all(&working).is_ok();
    assert!(wait_until(PATIENCE, is_removed));
    let done = running.finish();
    assert_destroyed(&scene, &done);
}

/// Told as one cause with what followed; neither complete nor constant.
fn assert_destroyed(scene: &Scene, done: &Finished) {
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = "what iolag had made in its working directory was gone: in ";
    assert_says(&done.stdout, &["incomplete", told, "Working set: not what it was from benchmark "]);
    let serious = done.stdout.matches("serious: ").count();
    assert_eq!(serious, 1, "{done:?}");
    assert_gapless(&scene.exported());
    assert_eq!(leftovers(&scene.target()), Vec::<String>::new());
    scene.assert_nobody_is_left();
}

#[test]
fn files_that_somebody_removes_in_mid_run_are_told_once_and_the_run_is_not_complete() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let running = scene.start(&Scene::bench_arguments(&target, &["-R200", "--think", "100us"]));
    // Made by the first iteration: until the last of the 200 ends there is time to remove what is there.
    let dataset = scene.target().join("iolag-work/0_0");
    let later = dataset.join("file-200");
    crate::support::wait_for("first iteration", || later.exists().then_some(()));
    for entry in fs::read_dir(&dataset).unwrap().flatten() {
        // iolag removes some at the same time.
        let _ = fs::remove_file(entry.path());
    }
    assert_destroyed(&scene, &running.finish());
}

#[test]
fn a_working_directory_on_a_file_system_that_is_unmounted_is_told_and_removed_once_it_is_back() {
    let scene = Scene::new();
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    // A directory in it, as users have it: its path goes with the mount.
    let own = tmpfs.path().join("me");
    fs::create_dir(&own).unwrap();
    let mount = BindMount::new(tmpfs.path(), &scene.target()).unwrap();
    let target = scene.target().join("me").to_str().unwrap().to_owned();
    let running = scene.start(&Scene::bench_arguments(&target, &["-R10000", "--think", "100us"]));
    let later = own.join("iolag-work/0_0/file-200");
    crate::support::wait_for("first iteration", || later.exists().then_some(()));
    drop(mount);
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let left =
        format!("{target}/iolag-work is left on the file system that was mounted there when it was made");
    assert_says(&done.stderr, &[&left, "then remove it with: iolag cleanup 20"]);
    assert_eq!(done.stderr.matches("is left on").count(), 1, "{done:?}");
    assert_eq!(leftovers(&own), ["iolag-work"]);

    // Whether another directory has its path meanwhile or none, and an empty one its name.
    for there in ["", "me", "me/iolag-work"] {
        fs::create_dir_all(scene.target().join(there)).unwrap();
        let too_early = scene.run(&["cleanup"]);
        assert_eq!(too_early.code, Some(4), "{too_early:?}");
        assert_says(&too_early.stdout, &[&left]);
        assert_stays(&scene);
    }
    let mount = BindMount::new(tmpfs.path(), &scene.target()).unwrap();
    assert_says(&scene.run(&["rm", "last", "--yes"]).stderr, &["iolag-work of run 20", " is still there"]);
    drop(mount);
    // After another boot the device number says nothing, but where it was mounted does.
    let record = of_last_run(&scene, "run.json");
    let written = fs::read_to_string(&record).unwrap();
    fs::write(&record, written.replace("\"boot_id\": \"", "\"boot_id\": \"not ")).unwrap();
    fs::remove_dir_all(scene.target().join("me")).unwrap();
    assert_stays(&scene);
    let _mount = BindMount::new(tmpfs.path(), &scene.target()).unwrap();
    let cleaned = scene.run(&["cleanup"]);
    assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
    assert_eq!(leftovers(&own), Vec::<String>::new());
}

/// Who cleans up later needs the run, and is told so.
fn assert_stays(scene: &Scene) {
    let left = "may be left on the file system that was mounted there when it was made: mount that again, \
                then iolag cleanup 20";
    let refused = scene.run(&["rm", "last", "--yes"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert_says(&refused.stderr, &[left, "or give it up with --abandon-places; nothing is removed"]);
    let pruned = scene.run(&["prune", "--older-than", "0", "--yes"]);
    assert_eq!((pruned.code, pruned.stdout.as_str()), (Some(0), ""), "{pruned:?}");
    assert_says(&pruned.stderr, &["not pruned: the working directory ", left]);
}

/// A file of the only run of the scene.
fn of_last_run(scene: &Scene, file: &str) -> std::path::PathBuf {
    let mut runs = fs::read_dir(scene.store().join("runs")).unwrap();
    runs.next().unwrap().unwrap().path().join(file)
}

#[test]
fn a_run_goes_whose_working_directory_is_given_up_or_was_removed_before_its_file_system_was_unmounted() {
    let scene = Scene::new();
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    for (phases, flag) in [("precreate", "--abandon-places"), ("precreate,benchmark,cleanup", "-q")] {
        let mount = BindMount::new(tmpfs.path(), &scene.target()).unwrap();
        let target = scene.target().to_str().unwrap().to_owned();
        let made = scene.run(&Scene::bench_arguments(&target, &["--phases", phases]));
        assert_eq!(made.code, Some(0), "{made:?}");
        drop(mount);
        let removed = scene.run(&["rm", "last", "--yes", flag]);
        assert_eq!((removed.code, removed.stderr.as_str()), (Some(0), ""), "{removed:?}");
        let abandoned = removed.stdout.contains("; abandoned: the working directory ");
        assert_eq!(abandoned, flag == "--abandon-places", "{removed:?}");
        assert_eq!(leftovers(&scene.store().join("runs")), Vec::<String>::new());
        if abandoned {
            fs::remove_dir_all(tmpfs.path().join("iolag-work")).unwrap();
        }
    }
}

/// The device is the same whether it is mounted there or not.
#[test]
fn a_working_directory_below_another_name_of_its_file_system_is_not_taken_for_removed() {
    let scene = Scene::new();
    let Some(tmpfs) = TmpfsMount::new(64 << 20) else { return };
    let (real, other) = (tmpfs.path().join("real"), tmpfs.path().join("other"));
    for directory in [&real, &other] {
        fs::create_dir(directory).unwrap();
    }
    let mount = BindMount::new(&real, &other).unwrap();
    let target = other.to_str().unwrap().to_owned();
    let made = scene.run(&Scene::bench_arguments(&target, &["--phases", "precreate"]));
    assert_eq!(made.code, Some(0), "{made:?}");
    drop(mount);
    assert_stays(&scene);
    assert_eq!(scene.run(&["cleanup"]).code, Some(4));
    // Also if the place where it was mounted is gone.
    fs::remove_dir(&other).unwrap();
    assert_stays(&scene);
    assert!(real.join("iolag-work").is_dir());
}

#[test]
fn a_ping_whose_directory_somebody_moves_says_so_and_is_incomplete() {
    let scene = Scene::new();
    let target = scene.target().to_str().unwrap().to_owned();
    let running = scene.start(&["ping", &target, "--every", "50ms"]);
    crate::support::wait_for("probe", || running.stdout().contains("seq=1 ").then_some(()));
    let mut names = leftovers(&scene.target()).into_iter();
    let from = scene.target().join(names.find(|name| name.starts_with("iolag-ping-")).unwrap());
    fs::rename(&from, scene.target().join("mine")).unwrap();
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_says(&done.stderr, &["was moved by somebody"]);
    assert_eq!(done.code, Some(4), "{done:?}");
}

#[test]
fn a_working_directory_that_somebody_moves_in_mid_run_is_told_with_its_new_path() {
    for signal in [None, Some(libc::SIGINT)] {
        let scene = Scene::new();
        let target = scene.target().to_str().unwrap().to_owned();
        let running = scene.start(&Scene::bench_arguments(&target, &["-R200", "--think", "100us"]));
        let (from, to) = (scene.target().join("iolag-work"), scene.target().join("mine"));
        let later = from.join("0_0/file-200");
        crate::support::wait_for("first iteration", || later.exists().then_some(()));
        fs::rename(&from, &to).unwrap();
        if let Some(signal) = signal {
            running.signal(signal);
        }
        let done = running.finish();
        assert_eq!(done.code, Some(4), "{done:?}");
        let told = format!("iolag-work was moved by somebody: what is left of it is {}; look", to.display());
        assert_says(&done.stderr, &[&told]);
        assert!(to.is_dir() && !from.exists(), "{done:?}");
        assert_gapless(&scene.exported());
        scene.assert_nobody_is_left();
    }
}

#[test]
fn a_target_whose_file_system_goes_away_is_told_and_loses_nothing() {
    let scene = Scene::new();
    let Some(fuse) = FuseMount::start(&scene.target()) else { return };
    let target = fuse.path().to_str().unwrap().to_owned();
    let mut running = scene.start(&Scene::bench_arguments(&target, &["-R200", "--think", "100us"]));
    running.wait_for("measuring");
    let last = scene.target().join("iolag-work/0_1/file-199");
    crate::support::wait_for("working set", || last.exists().then_some(()));
    fuse.abort().unwrap();
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    let told = ["the target failed while it was measured", "connection lost", "Working set: unknown"];
    assert_says(&done.stdout, &told);
    assert_eq!(done.stdout.matches("serious: ").count(), 1, "{done:?}");
    assert_gapless(&scene.exported());
    scene.assert_nobody_is_left();
}

#[test]
fn a_working_directory_that_is_not_ours_is_refused() {
    let scene = Scene::new();
    let working = scene.target().join("iolag-work");
    fs::create_dir(&working).unwrap();
    fs::write(working.join("thesis"), "text").unwrap();
    assert_refused(&bench(&scene, &scene.target()), 3, &["iolag-work", "not empty"]);
    assert_eq!(fs::read_to_string(working.join("thesis")).unwrap(), "text");
    fs::remove_dir_all(&working).unwrap();
    let elsewhere = scene.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &working).unwrap();
    assert_refused(&bench(&scene, &scene.target()), 3, &["iolag-work", "symbolic link"]);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn what_a_killed_run_left_behind_wrappers_is_removed_where_it_is() {
    for around in ["delayed:1us:", "faulty:stat:eio@0:", "delayed:1us:faulty:eio@0:posix:"] {
        let scene = Scene::new();
        let directory = scene.target().join("a:b");
        fs::create_dir(&directory).unwrap();
        // Relative; the processes that measure stand elsewhere.
        let target = format!("{around}target/a:b");
        let running = scene.start(&Scene::bench_arguments(&target, &["-R10000", "--think", "100us"]));
        let first = directory.join("iolag-work/0_0/file-0");
        crate::support::wait_for("working set", || first.exists().then_some(()));
        running.signal(libc::SIGKILL);
        assert_eq!(running.finish().signal, Some(libc::SIGKILL));
        scene.assert_nobody_is_left();
        assert!(directory.join("iolag-work").exists());
        let cleaned = scene.run(&["cleanup"]);
        assert_eq!(cleaned.code, Some(0), "{cleaned:?}");
        assert_says(&cleaned.stdout, &[&format!("{}/iolag-work is removed", directory.display())]);
        assert_eq!(leftovers(&directory), Vec::<String>::new(), "{target}");
        assert_eq!(leftovers(&scene.target()), Vec::<String>::new(), "{target}");
    }
}

#[test]
fn a_directory_that_cannot_be_looked_at_is_not_taken_for_gone() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let target = fuse.path().to_str().unwrap().to_owned();
    let made = scene.run(&Scene::bench_arguments(&target, &["--phases", "precreate"]));
    assert_eq!(made.code, Some(0), "{made:?}");
    fuse.fail(FuseCall::Lookup, "iolag-work", libc::EACCES);
    // For up to a second the kernel knows the directory by itself.
    let is_refused = wait_until(PATIENCE, || {
        let done = scene.run(&["rm", "last", "--yes"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{done:?}");
        done.stderr.contains("may still be there (Permission denied")
    });
    assert!(is_refused, "the directory was looked at all the time");
    let done = scene.run(&["cleanup", "last"]);
    assert_eq!(done.code, Some(4), "{done:?}");
    assert!(!done.stdout.contains("nothing to remove"), "{done:?}");
    fuse.release();
    assert_eq!(scene.run(&["cleanup", "last"]).code, Some(0));
    assert_eq!(scene.run(&["rm", "last", "--yes"]).code, Some(0));
}
