//! One run of one test under a guard.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::case::Case;
use super::report::{End, Report};
use super::skipped::reasons;

/// Where attempts are made.
#[derive(Debug)]
pub struct Laboratory {
    guard: PathBuf,
    environment: Vec<(&'static str, OsString)>,
    directory: TempDir,
    next: AtomicU32,
}

/// What came of one.
#[derive(Debug)]
pub struct Attempt {
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Why it says that it could not run here, if it does.
    pub skipped: Option<String>,
    /// What it left behind.
    pub left: Vec<String>,
    /// Everything that it and those whom it started printed.
    pub output: String,
    /// How long it took.
    pub duration: Duration,
}

impl Laboratory {
    /// A directory among the temporary files in which `guard`, a program that knows the command `guard`, runs tests with `environment` added.
    pub fn new(guard: PathBuf, environment: Vec<(&'static str, OsString)>) -> Result<Self> {
        // Short, since names of sockets are; to be passed through by tests that become another user.
        let directory = tempfile::Builder::new()
            .prefix("iolag-")
            .tempdir()
            .and_then(|made| fs::set_permissions(made.path(), Permissions::from_mode(0o755)).map(|()| made))
            .context("making a directory among the temporary files")?;
        Ok(Self { guard, environment, directory, next: AtomicU32::new(0) })
    }

    /// Runs a test once. What keeps it from being run is a failure of this test, and no reason to lose what came of the others.
    pub fn attempt(&self, case: &Case) -> Attempt {
        let place = self.directory.path().join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        let begin = Instant::now();
        let told = self.ask_guard(case, &place);
        let duration = begin.elapsed();
        let mut output = end_of(&place.join("output"));
        let skipped = reasons(&end_of(&place.join("skipped")));
        // What cannot be removed are files among the temporary ones.
        let _ = fs::remove_dir_all(&place);
        let (report, trouble) = match told {
            Ok(told) => {
                let (said, complaint) =
                    (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
                let report = Report::parse(&said);
                let is_lost = report.end == End::Abandoned;
                output.push_str(&complaint);
                (
                    report,
                    is_lost.then(|| format!("its guard ended without a report, {}: {said}", told.status)),
                )
            }
            Err(error) => (Report::default(), Some(format!("{error:#}"))),
        };
        let mut left = report.left.clone();
        left.extend(output.lines().filter(|line| line.starts_with("LEFT by ")).map(str::to_owned));
        let failure = trouble.or_else(|| failure(case, &report, &output));
        Attempt { failure, skipped, left, output, duration }
    }

    fn ask_guard(&self, case: &Case, place: &Path) -> Result<Output> {
        fs::create_dir(place)
            .and_then(|()| fs::set_permissions(place, Permissions::from_mode(0o755)))
            .with_context(|| format!("making {}", place.display()))?;
        Command::new(&self.guard)
            .args(["guard", &case.limit.as_secs_f64().to_string()])
            .arg(place)
            .arg(&case.launch.program)
            .args(&case.launch.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(case.launch.environment.iter().map(|(name, value)| (name, value)))
            .env("IOLAG_SKIPPED", place.join("skipped"))
            .current_dir(&case.launch.directory)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("starting the guard {}", self.guard.display()))
    }
}

/// The last part of a file, in which the harness says what came of a test, of whatever length the rest is.
fn end_of(path: &Path) -> String {
    const MOST_BYTES: u64 = 4 << 20;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES)))?;
        file.take(MOST_BYTES).read_to_end(&mut bytes)
    });
    // A file that is not there was not written.
    read.map_or_else(|_| String::new(), |_| String::from_utf8_lossy(&bytes).into_owned())
}

fn failure(case: &Case, report: &Report, output: &str) -> Option<String> {
    let proof = case.launch.proof;
    let ending = match report.end {
        End::Code(0) if proof.is_none_or(|proof| output.contains(proof)) => None,
        End::Code(0) => Some(format!("it did not run: its output lacks {:?}", proof.unwrap_or_default())),
        End::Code(code) => Some(format!("exit code {code}")),
        End::Signal(signal) => Some(format!("ended by signal {signal}")),
        End::Limit => {
            let seconds = case.limit.as_secs_f64();
            Some(format!("it did not end within {seconds} s; by then there were: {}", report.left.join("; ")))
        }
        End::Abandoned => Some("its guard was abandoned".to_owned()),
    };
    let is_stuck = !report.stuck.is_empty();
    let stuck = is_stuck.then(|| format!("it leaves what cannot be ended: {}", report.stuck.join("; ")));
    let reasons: Vec<String> = ending.into_iter().chain(stuck).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
