//! A user with histories of their own. Every command names its history: root's usual one is not to be touched by a test.

use std::fs::File;
use std::path::PathBuf;

use serde_json::Value;

use crate::study::{Script, Study};
use crate::support::{Finished, Running, Scene};

/// The name of the machine that the study's measurements come from.
pub const LOGIN_NODE: &str = "nid4100";

pub struct User {
    pub scene: Scene,
    /// The history that commands without a place of their own use.
    pub history: String,
}

impl User {
    pub fn new() -> Self {
        let scene = Scene::new();
        let history = scene.path().join("history.sqlite").display().to_string();
        Self { scene, history }
    }

    /// The same user with another history.
    pub fn with_history(self, history: String) -> Self {
        Self { history, ..self }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.scene.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// Runs a command on `history`.
    pub fn on(&self, history: &str, arguments: &[&str]) -> Finished {
        let mut all = arguments.to_vec();
        all.extend(["--history", history]);
        let mut command = self.scene.command(&all);
        // Local times of tests are those of a fixed place.
        command.env("TZ", "PST8PDT,M3.2.0,M11.1.0").env("USER", "ann").env_remove("NO_COLOR");
        Running::start(command).finish()
    }

    /// Runs a command on the user's history.
    pub fn iolag(&self, arguments: &[&str]) -> Finished {
        self.on(&self.history, arguments)
    }

    /// The same; it must end well.
    pub fn fine(&self, arguments: &[&str]) -> Finished {
        let done = self.iolag(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
        done
    }

    /// The same with a file as standard input.
    pub fn fine_with_input(&self, input: &str, arguments: &[&str]) -> Finished {
        let mut all = arguments.to_vec();
        all.extend(["--history", &self.history]);
        let mut command = self.scene.command(&all);
        command.stdin(File::open(self.path(input)).unwrap());
        let done = Running::start(command).finish();
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
        done
    }

    /// The command must fail with `code` and one sentence that has these parts; nothing on standard output.
    pub fn refused(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let done = self.iolag(arguments);
        assert_refused(&done, code, parts);
    }

    /// Imports what a script of the study wrote.
    pub fn import_script(&self, script: &Script, host: &str) -> Finished {
        self.write("timings.csv", &script.csv());
        let options = script.options();
        let mut arguments = vec!["import", "timings.csv", "--host", host, "--deadline", "600s"];
        arguments.extend(options.iter().map(String::as_str));
        self.fine(&arguments)
    }

    /// Imports the study as its site would.
    pub fn import_study(&self, study: &Study, host: &str) {
        self.import_script(&study.home, host);
        self.import_script(&study.scratch, host);
        self.write("events.csv", Study::EVENTS);
        self.fine(&["import", "--events", "events.csv", "--time-zone", "local"]);
    }

    /// What `show history --json -` says.
    pub fn document(&self, more: &[&str]) -> Value {
        let mut arguments = vec!["show", "history", "--json", "-"];
        arguments.extend(more);
        serde_json::from_str(&self.fine(&arguments).stdout).unwrap()
    }

    /// Everything in the history, as it is exported.
    pub fn exported(&self) -> String {
        self.fine(&["export", "history"]).stdout
    }
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

/// The series of this task and target in a document.
pub fn series_of<'a>(document: &'a Value, task: &str, target: &str) -> &'a Value {
    let all = document["series"].as_array().unwrap();
    let is_wanted = |one: &&Value| {
        let key = &one["summary"]["series"]["key"];
        key["task"] == task && key["target"] == target
    };
    all.iter().find(is_wanted).unwrap_or_else(|| panic!("no {task} on {target} in {document}"))
}
