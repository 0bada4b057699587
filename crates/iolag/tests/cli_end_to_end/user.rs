//! A user of iolag: a home, a temporary directory and a store that no other test has, and a bounded wait for every command.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::support::caches_of_the_machine;

/// No command of these tests takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// A user with an empty home.
pub struct User {
    home: tempfile::TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub output: String,
    pub errors: String,
}

impl User {
    pub fn new() -> Self {
        let home = tempfile::Builder::new().prefix("iolag-cli-").tempdir().expect("a temporary directory");
        let user = Self { home };
        std::fs::create_dir(user.path("tmp")).expect("it is new");
        user
    }

    /// A path in the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A directory in the home, made if need be.
    pub fn directory(&self, name: &str) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(&path).expect("the home is writable");
        path.display().to_string()
    }

    pub fn store(&self) -> PathBuf {
        self.path("data/iolag")
    }

    /// A command in the user's environment, standing in the home; nothing of the developer's reaches it.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("HOME", self.home.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("TMPDIR", self.path("tmp"))
            .current_dir(self.home.path());
        command
    }

    /// Runs iolag.
    pub fn iolag(&self, arguments: &[&str]) -> Said {
        let mut command = self.command(env!("CARGO_BIN_EXE_iolag"));
        command.args(arguments);
        let _caches = caches_of_the_machine(arguments);
        said(command)
    }

    /// Runs iolag, which must end well.
    pub fn fine(&self, arguments: &[&str]) -> Said {
        let said = self.iolag(arguments);
        assert_eq!(said.code, 0, "{arguments:?}: {said:?}");
        said
    }

    /// A check that had time for these operations in every directory. `check` makes one of the given budget: how much fits into a
    /// second depends on what else the machine does, so only what is missing in the longest is missing.
    pub fn with_time_for(&self, operations: &[&str], check: impl Fn(&str) -> Said) -> Said {
        for budget in ["6s", "15s", "30s"] {
            let said = check(budget);
            if said.code != 0 || self.has_measured(operations) {
                return said;
            }
        }
        let said = check("60s");
        assert!(
            said.code != 0 || self.has_measured(operations),
            "one of {operations:?} is missing: {said:?}"
        );
        said
    }

    /// Whether the last run, a check, has all of these operations in every directory.
    fn has_measured(&self, operations: &[&str]) -> bool {
        let document = self.document("last");
        let directories = document["directories"].as_array().expect("a check has directories");
        let is_there = |directory: &serde_json::Value, operation: &str| {
            let summaries = directory["summaries"].as_array().expect("a directory has summaries");
            summaries.iter().any(|summary| text(summary, "operation") == operation)
        };
        directories.iter().all(|one| operations.iter().all(|operation| is_there(one, operation)))
    }

    /// The names of everything below the home, the store left aside.
    pub fn everything(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(self.home.path(), &mut found);
        found.retain(|path| !path.starts_with(self.path("data")));
        found.sort();
        found
    }

    /// A finished run as `iolag show --json` tells it.
    pub fn document(&self, run: &str) -> serde_json::Value {
        let said = self.fine(&["show", run, "--json", "-"]);
        serde_json::from_str(&said.output).expect("it is JSON")
    }

    /// run.json of the last run.
    pub fn record(&self) -> serde_json::Value {
        let records: serde_json::Value =
            serde_json::from_str(&self.fine(&["list", "--json", "-"]).output).expect("it is JSON");
        records.as_array().and_then(|records| records.last()).expect("there is a run").clone()
    }

    /// The samples of a run.
    pub fn samples(&self, run: &str) -> Vec<serde_json::Value> {
        let said = self.fine(&["export", run, "--format", "json"]);
        said.output.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
    }

    /// The samples of the last run that are operations on objects.
    pub fn operations(&self, names: &[&str]) -> Vec<serde_json::Value> {
        let mut samples = self.samples("last");
        samples.retain(|sample| names.contains(&text(sample, "operation")));
        samples
    }
}

/// A member that is a text.
pub fn text<'a>(value: &'a serde_json::Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("no text {member} in {value}"))
}

/// A member that is a number.
pub fn number(value: &serde_json::Value, member: &str) -> u64 {
    value[member].as_u64().unwrap_or_else(|| panic!("no number {member} in {value}"))
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("it can be listed").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), found);
        }
        found.push(entry.path());
    }
}

/// Runs a command in a process group of its own, which is killed if it takes too long.
pub fn said(mut command: Command) -> Said {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let output = read_all(child.stdout.take());
    let errors = read_all(child.stderr.take());
    let end = Instant::now() + PATIENCE;
    let status = loop {
        let ended = child.try_wait().expect("it is our child");
        // Whoever it has left behind may hold its output.
        if let Some(status) = ended.filter(|_| output.is_finished() && errors.is_finished()) {
            break status;
        }
        if Instant::now() > end {
            let group = Pid::from_raw(child.id() as i32).expect("a child has an id");
            let _ = kill_process_group(group, Signal::KILL);
            panic!("{command:?} did not end within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let joined = |thread: std::thread::JoinHandle<String>| thread.join().expect("reading cannot fail");
    Said { code: status.code().unwrap_or(-1), output: joined(output), errors: joined(errors) }
}

fn read_all(from: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    let mut from = from.expect("it is a pipe");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
