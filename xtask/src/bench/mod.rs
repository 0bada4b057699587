//! `cargo xtask bench`: iolag against its rivals and its own limits. Each benchmark prints rows for docs/performance.md.
//!
//! A new benchmark is a module with a `run(&Setting) -> Result<()>` and a line in [`BENCHMARKS`].

mod asynchronous;
mod compare;
mod files;
mod history;
mod history_command;
mod loops;
mod many_clients;
mod memory;
mod processes;
mod servers;
mod setting;
mod short_run;
mod size;
mod start;
mod summary;
mod traces;
mod tracing;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail, ensure};

use self::setting::{Setting, Size};
use crate::machine;
use crate::places::Places;

type Benchmark = fn(&Setting<'_>) -> Result<()>;

const BENCHMARKS: &[(&str, Benchmark)] = &[
    ("start", start::run),
    ("short-run", short_run::run),
    ("size", size::run),
    ("recording", loops::recording::run),
    ("ceiling", loops::ceiling::run),
    ("metadata", loops::metadata::run),
    ("overhead", loops::overhead::run),
    ("md-workbench", loops::md_workbench::run),
    ("replay", loops::replay::run),
    ("memory", memory::run),
    ("many-clients", many_clients::run),
    ("asynchronous", asynchronous::run),
    ("postgres", servers::run_postgres),
    ("s3", servers::run_s3),
    ("web", servers::run_web),
    ("web-tls", servers::run_web_with_tls),
    ("web-clients", servers::run_clients),
    ("summary", summary::run),
    ("compare", compare::run),
    ("streams", files::streams::run),
    ("streams-direct", files::streams::run_direct),
    ("tree", files::tree::run),
    ("tracing", tracing::run),
    ("traces", traces::run),
    ("history", history::run),
    ("history-command", history_command::run),
];

/// The names of all benchmarks, for the usage text.
pub fn names() -> String {
    BENCHMARKS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Runs the benchmark that is named, or all.
pub fn bench(options: &[&str]) -> Result<ExitCode> {
    let (mut wanted, mut size, mut rival) = (None, Size::Full, None);
    let mut options = options.iter();
    while let Some(&option) = options.next() {
        match option {
            "--tiny" => size = Size::Tiny,
            "--rival" => rival = Some(PathBuf::from(options.next().context("--rival needs a path")?)),
            name if !name.starts_with('-') && wanted.is_none() => wanted = Some(name),
            _ => bail!(
                "unexpected {option:?}: expected NAME, --tiny and --rival PATH; the benchmarks are {}",
                names()
            ),
        }
    }
    // What is a rival of one is none of another.
    ensure!(
        rival.is_none() || wanted.is_some(),
        "--rival is of one benchmark: name it; there are {}",
        names()
    );
    let places = Places::find()?;
    let setting = Setting { places: &places, size, rival };
    match wanted {
        None => run_all(&setting)?,
        Some(name) => {
            let benchmark = BENCHMARKS.iter().find(|(known, _)| *known == name);
            let (_, run) =
                benchmark.ok_or_else(|| anyhow!("there is no benchmark {name:?}: there are {}", names()))?;
            run(&setting)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs all with tiny inputs: shows that they work.
pub fn all_tiny(places: &Places) -> Result<()> {
    run_all(&Setting { places, size: Size::Tiny, rival: None })
}

fn run_all(setting: &Setting<'_>) -> Result<()> {
    println!("measured on {}", machine::description());
    BENCHMARKS.iter().try_for_each(|(name, run)| {
        println!("\n{name}\n");
        run(setting).with_context(|| format!("benchmark {name}"))
    })
}
