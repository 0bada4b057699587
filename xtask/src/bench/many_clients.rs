//! The memory of thousands of clients: all processes of a run, pages that they share counted once.
//!
//! As threads: the built program on `memory:`, once with as many samples as the run has operations, once with a time limit, so
//! that the rings take all that they may. As asynchronous clients: an example with the same three roles, since no command has
//! such clients yet.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::memory::stored;
use super::processes::{Peak, watch};
use super::setting::{Setting, Size};
use crate::machine;

const THREADS_MOST_MIB: f64 = 400.0;
const ASYNCHRONOUS_MOST_MIB: f64 = 200.0;

/// Runs each once.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let clients: u64 = match setting.size {
        Size::Full => 5000,
        Size::Tiny => 50,
    };
    // A session, a directory made and removed, two objects and four operations, three stages.
    let peak = threads(setting, clients, &["-P", "2", "-I", "1", "-R", "1"], Some(clients * 14))?;
    tell(setting.size, &format!("{clients} clients as threads, 14 samples each"), peak, THREADS_MOST_MIB);
    // More operations than a ring has places, so that the rings take all that they may.
    let long =
        ["-P", "20", "-I", "20", "-R", "7", "--read-only", "--object-size", "1", "--time-limit", "200ms"];
    let peak = threads(setting, clients, &long, None)?;
    tell(setting.size, &format!("{clients} clients as threads, with a time limit"), peak, THREADS_MOST_MIB);
    let example = setting.build_example("iolag", "asynchronous_clients")?;
    let mut command = Command::new(&example);
    command.arg(clients.to_string()).stdin(Stdio::null()).stdout(Stdio::null());
    let peak = watch(command.spawn().with_context(|| format!("starting {}", example.display()))?)?;
    tell(setting.size, &format!("{clients} asynchronous clients"), peak, ASYNCHRONOUS_MOST_MIB);
    Ok(())
}

fn threads(setting: &Setting<'_>, clients: u64, shape: &[&str], samples: Option<u64>) -> Result<Peak> {
    let iolag = setting.places.build("iolag", "iolag", setting.size.optimised())?;
    let scratch = setting.scratch("many-clients")?;
    let store = scratch.path().join("store");
    let mut command = Command::new(&iolag);
    command
        .args(["bench", "metadata", "memory:", "--quiet", "-D", "1", "-n", &clients.to_string()])
        .args(shape);
    command.arg("--store").arg(&store).stdin(Stdio::null()).stdout(Stdio::null());
    let peak = watch(command.spawn().with_context(|| format!("starting {}", iolag.display()))?)?;
    let stored = stored(&store)?;
    ensure!(
        samples.is_none_or(|samples| samples == stored),
        "{stored} samples are stored, {samples:?} were due"
    );
    Ok(peak)
}

/// A row of it.
pub(super) fn tell(size: Size, what: &str, peak: Peak, most_mib: f64) {
    let mebibytes = peak.proportional_kib as f64 / 1024.0;
    let verdict = match size {
        Size::Tiny => "not judged",
        Size::Full if mebibytes <= most_mib => "met",
        Size::Full => "missed",
    };
    println!(
        "| memory of {what} | {mebibytes:.0} MiB in {} processes | at most {most_mib} MiB | {verdict} | {} |",
        peak.processes,
        machine::description()
    );
}
