//! A stage for watches: a scene with a history and a runtime directory that nobody else uses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use iolag_model::{
    Anchor, HistoryRecord, LastSample, Outcome, ProbePhase, ProbeStatus, WallTime, WatchStatus,
};
use iolag_watch::{PublishedStatus, RuntimeDirectory, read_status};

use crate::remembered::Remembered;
use crate::support::{Finished, PATIENCE, Running, Scene, wait_until};

pub struct Stage {
    pub scene: Scene,
    /// The history that every command gets.
    pub history: String,
    /// In memory, mode 0700.
    memory: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Self {
        let scene = Scene::new();
        let history = scene.path().join("history.sqlite").display().to_string();
        let memory = tempfile::Builder::new().prefix("iolag-test-").tempdir_in("/dev/shm").unwrap();
        Self { scene, history, memory }
    }

    /// The same stage with another history.
    pub fn with_history(self, history: impl Into<String>) -> Self {
        Self { history: history.into(), ..self }
    }

    /// Where commands are told to keep what must not touch storage.
    pub fn runtime(&self) -> PathBuf {
        self.memory.path().join("run")
    }

    /// A new directory, to be watched.
    pub fn directory(&self, name: &str) -> String {
        let path = self.scene.path().join(name);
        fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Writes the configuration file and returns its path.
    pub fn configure(&self, text: &str) -> String {
        let path = self.scene.path().join("iolag.toml");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `iolag watch …` on this stage.
    pub fn watch_command(&self, more: &[&str]) -> Command {
        let runtime = self.runtime();
        let mut arguments = vec!["watch", "--history", &self.history, "--runtime", runtime.to_str().unwrap()];
        arguments.extend(more);
        self.scene.command(&arguments)
    }

    /// `iolag watch …` on this stage, with the history that the environment names.
    pub fn watch_by_environment(&self, history: &str, more: &[&str]) -> Finished {
        let runtime = self.runtime();
        let mut arguments = vec!["watch", "--runtime", runtime.to_str().unwrap()];
        arguments.extend(more);
        let mut command = self.scene.command(&arguments);
        command.env("IOLAG_HISTORY", history);
        Running::start(command).finish()
    }

    /// Starts `iolag watch …`.
    pub fn start(&self, more: &[&str]) -> Running {
        Running::start(self.watch_command(more))
    }

    /// Runs `iolag watch …` to its end.
    pub fn watch(&self, more: &[&str]) -> Finished {
        self.start(more).finish()
    }

    /// The same; it must end with this code.
    pub fn watch_to(&self, code: i32, more: &[&str]) -> Finished {
        let done = self.watch(more);
        assert_eq!(done.code, Some(code), "{more:?}: {done:?}");
        done
    }

    /// The command must fail with `code` and one sentence that has these parts, and print nothing else.
    pub fn refused(&self, more: &[&str], code: i32, parts: &[&str]) {
        assert_refused(&self.watch(more), code, parts);
    }

    /// `iolag watch --status`, which must end with this code; what it prints.
    pub fn status(&self, code: i32) -> String {
        let done = self.watch(&["--status"]);
        assert_eq!(done.code, Some(code), "{done:?}");
        done.stdout
    }

    /// What a watch has published, whether it lives or not.
    pub fn published(&self) -> PublishedStatus {
        read_status(&RuntimeDirectory::path_for_history(&self.runtime(), &self.history)).unwrap()
    }

    /// Waits until a living watch has published something of this kind.
    pub fn wait_for(&self, what: &str, mut is_so: impl FnMut(&WatchStatus) -> bool) -> WatchStatus {
        let mut last = PublishedStatus::None;
        let has_come = wait_until(PATIENCE, || {
            last = self.published();
            matches!(&last, PublishedStatus::Live(status) if is_so(status))
        });
        match last {
            PublishedStatus::Live(status) if has_come => status,
            other => panic!("the status did not show {what}: {other:#?}"),
        }
    }

    /// Waits until this many rounds have begun.
    pub fn wait_for_rounds(&self, rounds: u64) -> WatchStatus {
        self.wait_for(&format!("{rounds} rounds"), |status| status.rounds >= rounds)
    }

    /// Waits until a task has been fine so often on each of these targets, from now on. On a busy machine that takes more rounds than it
    /// has probes: one may still be under way when the next is due, which is skipped then.
    pub fn wait_for_fine(&self, targets: &[&str], task: &str, least: usize) -> WatchStatus {
        let mut seen = vec![BTreeSet::new(); targets.len()];
        self.wait_for(&format!("{task} on {targets:?} to be fine {least} times"), |status| {
            for (target, starts) in targets.iter().zip(&mut seen) {
                let fine = last(status, target, task).filter(|last| last.outcome == Outcome::Ok);
                starts.extend(fine.map(|last| last.start));
            }
            // The first may be an older one.
            seen.iter().all(|starts| starts.len() > least)
        })
    }

    /// Waits until a probe hangs.
    pub fn wait_for_hung(&self) -> ProbeStatus {
        hung(&self.wait_for("a hung probe", |status| hung(status).is_some())).cloned().unwrap()
    }

    /// `iolag export history`.
    pub fn remembered(&self) -> Remembered {
        let done = self.scene.run(&["export", "history", "--history", &self.history]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        Remembered(
            done.stdout.lines().map(|line| serde_json::from_str::<HistoryRecord>(line).unwrap()).collect(),
        )
    }

    /// What SQLite says of the history's file.
    pub fn assert_database_is_sound(&self) {
        let database = rusqlite::Connection::open(&self.history).unwrap();
        let verdict: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }

    /// Waits for the end of what the last watch left behind. One that is ending has lost its environment, by which the scene knows it, and is
    /// still there for a moment.
    pub fn wait_for_those_left_behind(&self) {
        let PublishedStatus::Ended(status) = self.published() else { panic!("a watch runs") };
        let state = |process: u32| fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let has_ended = |process: u32| state(process).is_empty() || state(process).contains(") Z ");
        let is_over =
            || status.in_flight.iter().all(|probe| has_ended(probe.process)) && self.processes() == 0;
        assert!(wait_until(PATIENCE, is_over), "{:?}", self.scene.processes());
    }

    /// Names of the scene's processes that hang or run.
    pub fn processes(&self) -> usize {
        self.scene.processes().len()
    }
}

/// What the wall clock says, in time with a watch's clock.
pub fn wall() -> WallTime {
    WallTime(Anchor::take().realtime_ns as i64)
}

/// The hung probe of a status.
pub fn hung(status: &WatchStatus) -> Option<&ProbeStatus> {
    status.in_flight.iter().find(|probe| probe.phase == ProbePhase::Hung)
}

/// The last whole of a task on a target.
pub fn last<'a>(status: &'a WatchStatus, target: &str, task: &str) -> Option<&'a LastSample> {
    let is_it = |last: &&LastSample| {
        let key = &last.series;
        key.target == target && key.task == task && key.part.is_empty()
    };
    status.last.iter().find(is_it)
}

/// A command that failed with one sentence on standard error.
pub fn assert_refused(done: &Finished, code: i32, parts: &[&str]) {
    assert_eq!((done.code, done.stdout.as_str()), (Some(code), ""), "{done:?}");
    assert_eq!(done.stderr.trim_end().lines().count(), 1, "{}", done.stderr);
    assert!(done.stderr.starts_with("iolag: "), "{}", done.stderr);
    for part in parts {
        assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
    }
}

/// `[[target]]` with one task.
pub fn target(name: &str, directory: impl AsRef<Path>, task: &str) -> String {
    format!(
        "[[target]]\nname = {name:?}\ndirectory = {:?}\ntasks = [{task:?}]\n",
        directory.as_ref().to_str().unwrap()
    )
}
