//! Other people's programs read what iolag wrote: a run made by the built binary, read by pandas, Polars and DuckDB.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::places::{Places, Profile, output, run};

const NAME: &str = "readers";
const SCRIPT: &str = "crates/iolag-store/tests/readers.py";

/// Makes a small run and lets `crates/iolag-store/tests/readers.py RUN_DIRECTORY` read it.
pub fn read_everywhere(places: &Places, skipped_file: &Path) -> Result<()> {
    let script = places.root.join(SCRIPT);
    if !script.exists() {
        return skip(skipped_file, &format!("there is no {SCRIPT} yet"));
    }
    let python = places.python();
    if !python.exists() {
        return skip(skipped_file, &format!("there is no {}: run the step install", python.display()));
    }
    let iolag = places.build("iolag", "iolag", Profile::Dev)?;
    // A binary without that command may refuse, or print something else.
    let usage = output(Command::new(&iolag).args(["bench", "metadata", "--help"])).unwrap_or_default();
    if !usage.contains("--store") {
        return skip(skipped_file, "this iolag has no `bench metadata --store` yet");
    }
    let scratch = places.cache.join(format!("readers-{}", std::process::id()));
    let result = make_and_read(&iolag, &python, &script, &scratch);
    fs::remove_dir_all(&scratch).with_context(|| format!("removing {}", scratch.display()))?;
    result
}

fn make_and_read(iolag: &Path, python: &Path, script: &Path, scratch: &Path) -> Result<()> {
    let (target, store) = (scratch.join("target"), scratch.join("store"));
    for directory in [&target, &store] {
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    }
    output(Command::new(iolag).args(["bench", "metadata"]).arg(&target).arg("--store").arg(&store))?;
    let runs = runs_in(&store)?;
    ensure!(!runs.is_empty(), "`iolag bench metadata --store {}` left no run there", store.display());
    runs.iter().try_for_each(|directory| run(Command::new(python).arg(script).arg(directory)))
}

/// The run directories anywhere below `directory`: those that hold a run.json.
fn runs_in(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    for entry in fs::read_dir(directory).with_context(|| format!("listing {}", directory.display()))? {
        let path = entry?.path();
        if path.join("run.json").exists() {
            runs.push(path);
        } else if path.is_dir() {
            runs.extend(runs_in(&path)?);
        }
    }
    Ok(runs)
}

/// Named like a skipped test, and counted with them.
fn skip(skipped_file: &Path, why: &str) -> Result<()> {
    let line = format!("SKIPPED {NAME}: {why}\n");
    print!("{line}");
    let mut file =
        OpenOptions::new().append(true).open(skipped_file).context("opening the list of skipped tests")?;
    Ok(file.write_all(line.as_bytes())?)
}
