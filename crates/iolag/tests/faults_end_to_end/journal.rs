//! The journal of what a run makes: whoever is killed wherever, and whatever call fails, everything is known for what it is afterwards,
//! and `cleanup` removes it all.
//!
//! Store and target lie in one file system that counts the requests which change something. Each point is one of them: it is executed and
//! not answered, somebody is killed, and the next commands find what that left. All points use one store and one target: what one
//! leaves would be in the way of the next.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_fixtures::{FuseCall, FuseMount};

use crate::support::{Finished, PATIENCE, Running, Scene, kill, leftovers, wait_until};

/// All points of a test take less, on a machine that has other things to do.
const LIFE: Duration = Duration::from_secs(1200);
/// The bound of the issue that asked for this: more points would take more than a few minutes.
const POINTS_MAX: u32 = 75;

struct Workshop {
    scene: Scene,
    fuse: FuseMount,
}

impl Workshop {
    fn new() -> Option<Self> {
        let scene = Scene::new();
        let backing = scene.path().join("backing");
        fs::create_dir_all(backing.join("target")).unwrap();
        let fuse = FuseMount::start_for(&backing, LIFE)?;
        Some(Self { scene, fuse })
    }

    fn target(&self) -> PathBuf {
        self.scene.path().join("backing/target")
    }

    fn start(&self, arguments: &[&str]) -> Running {
        let store = self.fuse.path().join("store");
        let all = [&["--store", store.to_str().unwrap()], arguments].concat();
        Running::start(self.scene.bare_command(Path::new(env!("CARGO_BIN_EXE_iolag")), &all))
    }

    fn bench(&self) -> Running {
        let target = self.fuse.path().join("target");
        self.start(&[
            "-q",
            "bench",
            "metadata",
            target.to_str().unwrap(),
            "-D1",
            "-P1",
            "-I1",
            "--deadline",
            "20s",
        ])
    }

    /// How many requests of a run change something.
    fn count_changes(&self) -> u32 {
        self.fuse.withhold_change(u32::MAX);
        let done = self.bench().finish();
        assert_eq!(done.code, Some(0), "{done:?}");
        let changes = self.fuse.changes();
        self.fuse.release();
        assert!((20..=POINTS_MAX).contains(&changes), "{changes} changes");
        changes
    }

    /// Starts a run and holds its request with this number; returns it if it came to that.
    fn hold(&self, change: u32) -> Running {
        self.fuse.withhold_change(change);
        let mut running = self.bench();
        let is_held = wait_until(PATIENCE, || self.fuse.held() == 1 || running.has_ended());
        assert!(is_held, "change {change}: neither held nor ended");
        running
    }

    /// Whatever happened, nothing is left that the next commands do not know and remove.
    fn assert_all_is_known(&self, what: &str) {
        self.scene.assert_nobody_is_left();
        let runs_directory = self.scene.path().join("backing/store/runs");
        let mut left = String::new();
        // For up to a second the kernel believes that a name is not there which the file server made for who was killed.
        let is_known = wait_until(PATIENCE, || {
            let listed = self.start(&["list"]).finish();
            assert_eq!(listed.code, Some(0), "{what}: {listed:?}");
            if !leftovers(&self.target()).is_empty() {
                let cleaned = self.start(&["cleanup", "last"]).finish();
                assert_eq!(cleaned.code, Some(0), "{what}: {cleaned:?}");
            }
            let on_target = leftovers(&self.target());
            let in_store: Vec<_> = names(&runs_directory)
                .into_iter()
                .filter(|name| {
                    !listed.stdout.contains(name.as_str()) && has_begun(&runs_directory.join(name))
                })
                .collect();
            left = format!("{on_target:?} on the target, {in_store:?} in the store: {listed:?}");
            on_target.is_empty() && in_store.is_empty()
        });
        assert!(is_known, "{what}: {left}");
        let begun = |name: &String| has_begun(&runs_directory.join(name));
        for run in names(&runs_directory).into_iter().filter(begun) {
            let removed = self.start(&["rm", "--yes", &run]).finish();
            assert_eq!(removed.code, Some(0), "{what}: {removed:?}");
            let elsewhere = ["/dev/shm", "/tmp", "/var/tmp"]
                .map(|place| Path::new(place).join(format!("iolag-spool-{run}")))
                .into_iter()
                .find(|spool| spool.exists());
            assert_eq!(elsewhere, None, "{what}");
        }
    }
}

/// What fails.
#[derive(Debug)]
enum Fault {
    /// The request with this number of those that change something.
    Change(u32),
    /// Every request of this kind.
    All(FuseCall),
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether it is more than a run's directory with unfinished files, which goes by itself after a day.
fn has_begun(entry: &Path) -> bool {
    !entry.is_dir() || names(entry).iter().any(|name| !name.ends_with(".new"))
}

/// Whether a thread of the process waits for an answer of a FUSE file system.
fn waits_for_fuse(process: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks
        .map(|task| fs::read_to_string(task.path().join("wchan")).unwrap_or_default())
        .any(|place| place.contains("request_wait") || place.contains("fuse"))
}

fn assert_is_no_bug(done: &Finished, what: &str) {
    assert!(matches!(done.code, Some(0 | 3 | 4)), "{what}: {done:?}");
    assert!(!done.stderr.contains("panicked"), "{what}: {done:?}");
}

#[test]
fn wherever_everybody_is_killed_everything_is_known_and_removed() {
    let Some(workshop) = Workshop::new() else { return };
    for change in 1..=workshop.count_changes() {
        let running = workshop.hold(change);
        for (process, _) in workshop.scene.processes() {
            kill(process, libc::SIGKILL);
        }
        workshop.fuse.release();
        running.finish();
        workshop.assert_all_is_known(&format!("killed all at change {change}"));
    }
}

#[test]
fn wherever_one_role_is_killed_the_run_ends_and_everything_is_known_and_removed() {
    let Some(workshop) = Workshop::new() else { return };
    let (changes, mut killed) = (workshop.count_changes(), 0);
    for change in 1..=changes {
        let running = workshop.hold(change);
        let keeper = running.id();
        let others = workshop.scene.processes().into_iter().filter(|(process, _)| *process != keeper);
        let callers: Vec<u32> =
            others.map(|(process, _)| process).filter(|process| waits_for_fuse(*process)).collect();
        callers.iter().for_each(|process| kill(*process, libc::SIGKILL));
        killed += u32::from(!callers.is_empty());
        workshop.fuse.release();
        let what = format!("killed {callers:?} at change {change}");
        assert_is_no_bug(&running.finish(), &what);
        workshop.assert_all_is_known(&what);
    }
    assert!(killed > changes / 2, "only {killed} of {changes} were found waiting");
}

#[test]
fn whatever_call_fails_everything_is_known_and_removed() {
    let Some(workshop) = Workshop::new() else { return };
    let changes = (1..=workshop.count_changes()).map(Fault::Change);
    for fault in changes.chain([FuseCall::Fsync, FuseCall::Fsyncdir].map(Fault::All)) {
        match fault {
            Fault::Change(change) => workshop.fuse.fail_change(change, libc::EIO),
            Fault::All(call) => workshop.fuse.fail(call, "*", libc::EIO),
        }
        let done = workshop.bench().finish();
        workshop.fuse.release();
        let what = format!("{fault:?} failed");
        assert_is_no_bug(&done, &what);
        workshop.assert_all_is_known(&what);
    }
}
