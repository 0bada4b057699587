//! Runs whose store refused them: they are rescued to memory, there is one truth about them, and the next command takes them
//! home.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount, LoopMount, TmpfsMount, skip_unless_root};

use crate::support::{
    Finished, PATIENCE, Running, Scene, assert_gapless, assert_says, exported, kill, wait_for, wait_until,
};

struct Rescued {
    path: PathBuf,
    /// As the run's own result counted them.
    samples: usize,
}

fn run_with(scene: &Scene, store: &Path, arguments: &[&str]) -> Finished {
    start_with(scene, store, arguments).finish()
}

fn start_with(scene: &Scene, store: &Path, arguments: &[&str]) -> Running {
    let all = [&["--store", store.to_str().unwrap()], arguments].concat();
    Running::start(scene.bare_command(Path::new(env!("CARGO_BIN_EXE_iolag")), &all))
}

impl Rescued {
    /// A run whose store fills up.
    fn run(scene: &Scene, store: &Path) -> Self {
        let target = scene.target().to_str().unwrap().to_owned();
        Self::of(run_with(scene, store, &Scene::bench_arguments(&target, &["-R20", "-n2"])))
    }

    fn of(done: Finished) -> Self {
        assert_eq!(done.code, Some(0), "{done:?}");
        let (_, rest) = done.stderr.split_once("the run is kept in ").unwrap_or_else(|| panic!("{done:?}"));
        let path = PathBuf::from(rest.split(" instead").next().unwrap());
        // Per client: 2 datasets, 200 objects precreated in each, 20 iterations of 50 objects with four operations each.
        let samples = 2 * (1 + 2 + 2 * 200 + 1 + 20 * (2 * 50 * 4 + 1) + 2 * 200 + 2 + 1);
        Self { path, samples }
    }

    fn id(&self) -> &str {
        self.path.file_name().unwrap().to_str().unwrap()
    }

    fn counted(&self) -> String {
        iolag_model::counted(self.samples as u64, "sample", "samples")
    }

    /// Everybody finds all of the run, with this store.
    fn assert_whole(&self, scene: &Scene, store: &Path) {
        for name in [self.id(), "last", self.path.to_str().unwrap()] {
            let done = run_with(scene, store, &["export", name, "--format", "json"]);
            assert_eq!(done.code, Some(0), "{done:?}");
            let samples = exported(&done.stdout);
            assert_eq!(assert_gapless(&samples), self.samples, "{name}");
        }
        let listed = run_with(scene, store, &["list", "--json", "-"]);
        let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!(listed.as_array().unwrap().len(), 1, "one run, one line");
        let parts = listed[0]["parts"].as_array().unwrap();
        let count: u64 = parts.iter().map(|part| part["samples"].as_u64().unwrap()).sum();
        assert_eq!((count as usize, &listed[0]["state"]["state"]), (self.samples, &"complete".into()));
    }
}

impl Drop for Rescued {
    fn drop(&mut self) {
        // Only a test that failed leaves something, a few KiB in memory.
        if self.path.join("run.json").exists() {
            let _ = crate::support::remove_rescued_run(&self.path);
        }
    }
}

/// A store that has room for the beginning of a run.
fn small_store() -> Option<(LoopMount, PathBuf)> {
    let mount = LoopMount::ext4(4)?;
    let store = mount.path().join("store");
    fs::create_dir_all(store.join("runs")).unwrap();
    for part in ["", "runs"] {
        fs::set_permissions(store.join(part), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    // What is left is less than the run needs.
    let free = rustix::fs::statvfs(mount.path()).unwrap();
    let ballast = (free.f_bavail * free.f_frsize).saturating_sub(400 << 10);
    fs::write(mount.path().join("ballast"), vec![1; ballast as usize]).unwrap();
    Some((mount, store))
}

#[test]
fn a_store_that_fills_up_tells_one_truth_and_takes_the_run_home_when_there_is_room() {
    let scene = Scene::new();
    let Some((mount, store)) = small_store() else { return };
    let rescued = Rescued::run(&scene, &store);
    // Others take the room, too, that the run itself had in the store.
    fs::remove_dir_all(store.join("runs").join(rescued.id()).join("spool")).unwrap();
    let filling = mount.path().join("filling");
    let _ = mount.fill().map(|()| fs::rename(filled(mount.path()), &filling).unwrap());

    // Full: everybody is told where the run is, shows all of it, and nobody says that it was killed.
    for command in [&["list"][..], &["show"]] {
        let done = run_with(&scene, &store, command);
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_says(&done.stderr, &[rescued.id(), rescued.path.to_str().unwrap(), "No space left"]);
        assert_says(&done.stdout, &[rescued.id(), "complete", "rescued"]);
        assert!(!format!("{done:?}").contains("killed"), "{done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    }
    rescued.assert_whole(&scene, &store);
    // Another store has nothing to do with it.
    let other = run_with(&scene, &scene.store(), &["list"]);
    assert!(other.stdout.starts_with("no runs") && other.stderr.is_empty(), "{other:?}");
    assert!(rescued.path.exists());

    fs::remove_file(&filling).unwrap();
    fs::remove_file(mount.path().join("ballast")).unwrap();
    // By another name of the same store.
    let link = scene.path().join("link");
    std::os::unix::fs::symlink(&store, &link).unwrap();
    let listed = run_with(&scene, &link, &["list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert_says(&listed.stderr, &[&format!("is in the store now: {}", rescued.counted())]);
    assert!(!listed.stdout.contains("rescued"), "{listed:?}");
    assert!(!rescued.path.exists(), "it is in two places");
    rescued.assert_whole(&scene, &store);
    let again = run_with(&scene, &store, &["list"]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), ""));
    scene.assert_nobody_is_left();
}

fn filled(directory: &Path) -> PathBuf {
    let files = fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    files
        .filter(|path| path.is_file() && !path.ends_with("ballast"))
        .max_by_key(|path| path.metadata().unwrap().len())
        .unwrap()
}

#[test]
fn a_run_whose_place_of_rescue_fills_up_too_is_rescued_to_the_next_without_a_gap() {
    let scene = Scene::new();
    let Some((mount, store)) = small_store() else { return };
    let (program, target) = (env!("CARGO_BIN_EXE_iolag"), scene.target());
    // The store has room for less than half of it, the memory of this mount namespace for that and a part of the rest.
    let script = format!(
        "mount --make-rprivate / && mount -t tmpfs -o size=700k none /dev/shm && exec {program} --store {} bench metadata {} \
         -D2 -P200 -I50 -R20 -n2",
        store.display(),
        target.display()
    );
    let done =
        Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
    let rescued = Rescued::of(done);
    assert!(!rescued.path.starts_with("/dev/shm"), "memory had room: {:?}", rescued.path);
    fs::remove_file(mount.path().join("ballast")).unwrap();
    rescued.assert_whole(&scene, &store);
    assert!(!rescued.path.exists());
}

#[test]
fn a_place_of_rescue_that_somebody_made_a_link_is_passed_over() {
    let scene = Scene::new();
    let Some((mount, store)) = small_store() else { return };
    let (program, target) = (env!("CARGO_BIN_EXE_iolag"), scene.target());
    let elsewhere = scene.path().join("elsewhere");
    std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), 0o700).create(&elsewhere).unwrap();
    let script = format!(
        "mount --make-rprivate / && mount -t tmpfs none /dev/shm && ln -s {} /dev/shm/iolag-$(id -u) && \
         exec {program} --store {} bench metadata {} -D2 -P200 -I50 -R20 -n2",
        elsewhere.display(),
        store.display(),
        target.display()
    );
    let done =
        Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
    let rescued = Rescued::of(done);
    assert!(rescued.path.starts_with("/tmp") || rescued.path.starts_with("/var/tmp"), "{:?}", rescued.path);
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(mount.path().join("ballast")).unwrap();
    rescued.assert_whole(&scene, &store);
}

#[test]
fn a_run_is_rescued_past_a_strangers_directory_of_our_name() {
    let scene = Scene::new();
    let Some((mount, store)) = small_store() else { return };
    let (program, target) = (env!("CARGO_BIN_EXE_iolag"), scene.target());
    let script = format!(
        "mount --make-rprivate / && mount -t tmpfs none /dev/shm && mkdir -m 755 /dev/shm/iolag-$(id -u) && \
         chown 31002 /dev/shm/iolag-$(id -u) && {program} --store {} bench metadata {} -D2 -P200 -I50 -R20 -n2 && \
         rm {} && exec {program} --store {} list",
        store.display(),
        target.display(),
        mount.path().join("ballast").display(),
        store.display(),
    );
    let done =
        Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
    let rescued = Rescued::of(done);
    let user = rustix::process::geteuid().as_raw();
    assert!(rescued.path.starts_with(format!("/dev/shm/iolag-{user}-1")), "{:?}", rescued.path);
    rescued.assert_whole(&scene, &store);
}

#[test]
fn where_memory_is_read_only_samples_wait_elsewhere_and_nothing_is_amiss() {
    if skip_unless_root() {
        return;
    }
    let scene = Scene::new();
    let (program, target) = (env!("CARGO_BIN_EXE_iolag"), scene.target().display().to_string());
    let store = scene.store().display().to_string();
    for command in ["bench metadata -D2 -P50 -I10 -R2", "check --budget 10s", "ping -n 1"] {
        let script = format!(
            "mount --make-rprivate / && mount -t tmpfs -o ro none /dev/shm && mount -t tmpfs none /var/tmp && \
             exec {program} --store {store} {command} {target}"
        );
        let done =
            Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
        assert_eq!(done.code, Some(0), "{command}: {done:?}");
        assert!(!done.stderr.contains("Read-only"), "{command}: {done:?}");
    }
    scene.assert_nobody_is_left();
}

#[test]
fn who_does_not_wait_for_a_rescue_finds_the_run_later() {
    // The store fills up, and what it took is taken over.
    not_waited_for(&["-R20", "-n2"], 400 << 10, |_, _| {});
}

#[test]
fn who_does_not_wait_for_a_rescue_finds_what_memory_held_of_a_run_whose_spool_is_gone() {
    not_waited_for(&["-R10000", "--think", "2ms"], 16 << 20, |store, running| {
        remove_run_under_way(store);
        running.signal(libc::SIGINT);
    });
}

/// A run whose place of rescue does not answer until the user has left.
fn not_waited_for(more: &[&str], store_bytes: u64, spoil: impl FnOnce(&Path, &Running)) {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir_all(backing.join("memory")).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let Some(tmpfs) = TmpfsMount::new(store_bytes) else { return };
    let (store, target) = (tmpfs.path().join("store"), scene.target());
    let start = |arguments: &str| {
        let script = format!(
            "mount --make-rprivate / && mount --bind {}/memory /dev/shm && exec {} --store {} {arguments}",
            fuse.path().display(),
            env!("CARGO_BIN_EXE_iolag"),
            store.display()
        );
        Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script]))
    };
    fuse.hang(FuseCall::Rename, "run.json*");
    let mut running = start(&Scene::bench_arguments(target.to_str().unwrap(), more).join(" "));
    spoil(&store, &running);
    assert!(fuse.wait_until_held(1, PATIENCE), "nothing was rescued");
    // Close to each other they are one wish.
    assert!(wait_until(PATIENCE, || {
        running.signal(libc::SIGINT);
        running.has_ended()
    }));
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    assert_says(&done.stderr, &["left at once", "still being written to /dev/shm/iolag-"]);
    fuse.release();
    scene.assert_nobody_is_left();
    let done = start("export last --format json").finish();
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(assert_gapless(&exported(&done.stdout)) > 0);
}

/// Removes the one run of a store as soon as its spool is there; says where it was.
fn remove_run_under_way(store: &Path) -> PathBuf {
    let run = wait_for("spool", || {
        let mut runs = fs::read_dir(store.join("runs")).ok()?.flatten().map(|run| run.path());
        runs.find(|run| run.join("spool/ring-0.spool").exists())
    });
    fs::remove_dir_all(&run).unwrap();
    run
}

#[test]
fn a_command_that_is_killed_while_it_takes_a_run_home_loses_and_doubles_nothing() {
    let scene = Scene::new();
    let Some((mount, store)) = small_store() else { return };
    let rescued = Rescued::run(&scene, &store);
    fs::remove_file(mount.path().join("ballast")).unwrap();
    let mut killed = 0;
    for round in 0..40_u64 {
        let mut running = start_with(&scene, &store, &["list"]);
        // Spread over the taking; each build and machine meets other moments.
        std::thread::sleep(Duration::from_millis(round * 3));
        killed += u32::from(!running.has_ended());
        kill(running.id(), libc::SIGKILL);
        running.finish();
        scene.assert_nobody_is_left();
    }
    assert!(killed > 0, "nobody was killed");
    rescued.assert_whole(&scene, &store);
    let listed = run_with(&scene, &store, &["list"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "{listed:?}");
    assert!(!rescued.path.exists());
}

#[test]
fn a_run_that_cannot_be_read_is_neither_called_damaged_nor_touched() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let store = fuse.path().join("store");
    let target = scene.target().to_str().unwrap().to_owned();
    assert_eq!(run_with(&scene, &store, &Scene::bench_arguments(&target, &[])).code, Some(0));
    fuse.fail(FuseCall::Open, "run.json", libc::EIO);
    let before = fs::read_dir(backing.join("store/runs")).unwrap().count();
    for arguments in [&["list"][..], &["show"], &["rm", "last", "--yes"]] {
        let done = run_with(&scene, &store, arguments);
        assert_eq!(done.code, Some(3), "{arguments:?} {done:?}");
        assert_says(&done.stderr, &["cannot read", "Input/output error"]);
        assert!(!done.stderr.contains("damaged"), "{done:?}");
    }
    let pruned = run_with(&scene, &store, &["prune", "--keep-last", "0", "--yes"]);
    assert_says(&pruned.stderr, &["not pruned", "Input/output error"]);
    fuse.release();
    assert_eq!(fs::read_dir(backing.join("store/runs")).unwrap().count(), before);
    assert_eq!(run_with(&scene, &store, &["show"]).code, Some(0));
}

#[test]
fn a_rescued_run_is_removed_with_its_stump() {
    for is_by_path in [false, true] {
        let scene = Scene::new();
        let Some((mount, store)) = small_store() else { return };
        let rescued = Rescued::run(&scene, &store);
        let _ = mount.fill();
        let removed = match is_by_path {
            // Whatever store the command looks at.
            true => run_with(&scene, &scene.store(), &["rm", rescued.path.to_str().unwrap(), "--yes"]),
            false => run_with(&scene, &store, &["rm", rescued.id(), "--yes"]),
        };
        assert_eq!(removed.code, Some(0), "{removed:?}");
        assert_says(&removed.stdout, &[rescued.id(), "removed: complete", &rescued.counted()]);
        assert!(!rescued.path.exists());
        assert_eq!(fs::read_dir(store.join("runs")).unwrap().count(), 0);
    }
}

#[test]
fn who_removes_runs_is_told_of_a_place_of_rescue_that_does_not_answer() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir_all(backing.join("memory")).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let Some(tmpfs) = TmpfsMount::new(16 << 20) else { return };
    let (store, target) = (tmpfs.path().join("store"), scene.target().to_str().unwrap().to_owned());
    assert_eq!(run_with(&scene, &store, &Scene::bench_arguments(&target, &[])).code, Some(0));
    for command in ["prune --keep-last 1 --yes", "rm last --yes"] {
        fuse.hang(FuseCall::Lookup, "iolag-*");
        let script = format!(
            "mount --make-rprivate / && mount --bind {}/memory /dev/shm && exec {} --store {} {command}",
            fuse.path().display(),
            env!("CARGO_BIN_EXE_iolag"),
            store.display()
        );
        let done =
            Running::start(scene.bare_command(Path::new("unshare"), &["-m", "sh", "-c", &script])).finish();
        fuse.release();
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_says(&done.stderr, &["/dev/shm/iolag-", "did not answer: runs that were rescued there"]);
    }
    scene.assert_nobody_is_left();
}

#[test]
fn what_killed_commands_leave_in_a_store_is_taken_away_by_the_next() {
    let scene = Scene::new();
    let backing = scene.path().join("backing");
    fs::create_dir(&backing).unwrap();
    let Some(fuse) = FuseMount::start(&backing) else { return };
    let store = fuse.path().join("store");
    let target = scene.target().to_str().unwrap().to_owned();
    // A scout that shows that the store takes bytes, and a writer that has just made the directory of its run.
    for (call, name, left) in [(FuseCall::Rename, "probe-*", "probe-"), (FuseCall::Opendir, "20*", "20")] {
        fuse.hang(call, name);
        let running = start_with(&scene, &store, &Scene::bench_arguments(&target, &[]));
        assert!(fuse.wait_until_held(1, PATIENCE), "{call:?} was not reached");
        for (process, _) in scene.processes() {
            kill(process, libc::SIGKILL);
        }
        fuse.release();
        running.finish();
        scene.assert_nobody_is_left();
        let names = || {
            let entries = fs::read_dir(backing.join("store/runs")).unwrap().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert!(names().iter().any(|name| name.starts_with(left)), "nothing was left: {:?}", names());
        // For up to a second the kernel believes that a name is not there which the file server made for who was killed.
        let is_tidy = wait_until(PATIENCE, || {
            let listed = run_with(&scene, &store, &["list"]);
            assert_eq!(listed.code, Some(0), "{listed:?}");
            assert!(listed.stdout.starts_with("no runs") && listed.stderr.is_empty(), "{listed:?}");
            names().is_empty()
        });
        assert!(is_tidy, "{:?}", names());
    }
}

#[test]
fn a_run_whose_spool_is_gone_is_stored_from_memory() {
    let scene = Scene::new();
    // Another file system than the target's: the spool lies in it.
    let Some(tmpfs) = TmpfsMount::new(16 << 20) else { return };
    let (store, target) = (tmpfs.path().join("store"), scene.target().to_str().unwrap().to_owned());
    // It is under way until it is told to end.
    let arguments = Scene::bench_arguments(&target, &["-R10000", "--think", "2ms"]);
    let mut running = start_with(&scene, &store, &arguments);
    running.wait_for("measuring");
    let run = remove_run_under_way(&store);
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    // A slow machine may show two modes, as of "a cache and the price of missing it".
    assert!(!["is missing", "are missing"].iter().any(|lost| done.stdout.contains(lost)), "{done:?}");
    let (_, rest) = done.stderr.split_once("the run is kept in ").unwrap_or_else(|| panic!("{done:?}"));
    let rescued = PathBuf::from(rest.split(" instead").next().unwrap());
    assert!(rescued.exists(), "{done:?}");
    let exported_run = run_with(&scene, &store, &["export", "last", "--format", "json"]);
    assert_eq!(exported_run.code, Some(0), "{exported_run:?}");
    assert_gapless(&exported(&exported_run.stdout));
    // The store takes it again, and nothing of it lies elsewhere: a place that was too slow for the rescue may have begun it too.
    let user = rustix::process::geteuid().as_raw();
    let places = ["/dev/shm", "/run/shm", "/tmp", "/var/tmp"];
    let copies = places
        .map(|place| Path::new(place).join(format!("iolag-{user}/runs")).join(run.file_name().unwrap()));
    let copies: Vec<_> = copies.into_iter().filter(|copy| copy.exists()).collect();
    assert!(copies.is_empty(), "{copies:?} {done:?} {exported_run:?}");
    scene.assert_nobody_is_left();
}
