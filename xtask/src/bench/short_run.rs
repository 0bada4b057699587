//! A run of twenty operations, from the start of the process to its end: what a user waits for who only looks.
//!
//! The rival is an earlier iolag, built as Release from the commit that the requirement names; it is named by `--rival PATH` or in the
//! environment as IOLAG_EARLIER. Without one only our own time is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::setting::{Scratch, Setting};
use crate::machine;
use crate::pairs::{self, Requirement, Spread, TABLE_HEAD};

/// Names an earlier iolag.
pub const VARIABLE: &str = "IOLAG_EARLIER";
/// A dataset, two objects, two iterations over both: 22 operations.
const RUN: [&str; 11] = ["bench", "metadata", "memory:", "-D", "1", "-P", "2", "-I", "2", "-R", "2"];
/// Against the commit 46ca57f, whose shared memory had the same size for every run.
const MOST: f64 = 0.65;

/// Times whole runs. Target and store are in memory, so that no disk decides.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let ours = setting.places.build("iolag", "iolag", setting.size.optimised())?;
    let place = Scratch::new(Path::new("/dev/shm"), "iolag-short-run")?;
    let rival = setting.rival.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
    let Some(rival) = rival else {
        let seconds =
            (0..setting.size.pairs()).map(|_| run_s(&ours, place.path())).collect::<Result<Vec<_>>>()?;
        let median_ms = Spread::of(seconds.into_iter()).median * 1e3;
        println!(
            "a run of 22 operations takes {median_ms:.1} ms; name an earlier iolag with --rival PATH or {VARIABLE}"
        );
        return Ok(());
    };
    let comparison =
        pairs::measure(setting.size.pairs(), || run_s(&ours, place.path()), || run_s(&rival, place.path()))?;
    println!("{TABLE_HEAD}");
    let name = "a run of 22 operations, against commit 46ca57f";
    println!("{}", comparison.row(name, "s", Some(Requirement::AtMost(MOST)), &machine::description()));
    Ok(())
}

fn run_s(iolag: &Path, place: &Path) -> Result<f64> {
    let store = place.join("store");
    let mut command = Command::new(iolag);
    command.args(RUN).arg("--quiet").arg("--store").arg(&store);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status().with_context(|| format!("starting {}", iolag.display()))?;
    let elapsed_s = start.elapsed().as_secs_f64();
    ensure!(status.success(), "{} failed: {status}", iolag.display());
    // Each run finds an empty store: listing earlier ones is not what is measured.
    std::fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
    Ok(elapsed_s)
}
