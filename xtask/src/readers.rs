//! Other people's programs read what iolag wrote: a run made by the built binary, read by pandas, Polars and DuckDB.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::places::{Places, output, run};
use crate::suite::{Case, Launch, skip};

const SCRIPT: &str = "crates/iolag-store/tests/readers.py";

/// Also after it was built anew while it runs.
pub const THIS_PROGRAM: &str = "/proc/self/exe";

/// The test that is `xtask readers`.
pub fn case(places: &Places) -> Case {
    let launch = Launch {
        // Of the guard, which is this program, too.
        program: THIS_PROGRAM.into(),
        arguments: vec![OsString::from("readers")],
        directory: places.root.clone(),
        environment: Vec::new(),
        proof: None,
    };
    Case::new("readers", "pandas_pyarrow_polars_and_duckdb_agree", launch)
}

/// Makes a small run with the program that `IOLAG_PROGRAM` names, and lets `readers.py RUN_DIRECTORY` read it.
pub fn read_everywhere() -> Result<ExitCode> {
    let places = Places::find()?;
    let python = places.python();
    if python.exists() {
        let program = std::env::var_os("IOLAG_PROGRAM").context("IOLAG_PROGRAM names no iolag")?;
        let scratch = std::env::temp_dir().join("readers");
        make_and_read(Path::new(&program), &python, &places.root.join(SCRIPT), &scratch)?;
    } else {
        skip("readers", &format!("there is no {}: run the step install", python.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn make_and_read(iolag: &Path, python: &Path, script: &Path, scratch: &Path) -> Result<()> {
    let (target, store) = (scratch.join("target"), scratch.join("store"));
    for directory in [&target, &store] {
        fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    }
    output(Command::new(iolag).args(["bench", "metadata"]).arg(&target).arg("--store").arg(&store))?;
    let runs = runs_in(&store)?;
    ensure!(!runs.is_empty(), "`iolag bench metadata --store {}` left no run there", store.display());
    runs.iter().try_for_each(|directory| run(Command::new(python).arg(script).arg(directory)))?;
    fs::remove_dir_all(scratch).with_context(|| format!("removing {}", scratch.display()))
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
