//! The memory of a long run: 50 million samples through all processes of the built program, none of them lost.
//!
//! The target is `memory:` and the run reads only, so that nothing but iolag's own processes takes memory and the samples
//! come as fast as they can.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::processes::watch;
use super::setting::{Setting, Size};
use crate::machine;

const MOST_MIB: f64 = 1024.0;

/// How many objects in a data set, and how often each is asked for twice (stat and read).
const fn shape(size: Size) -> (u64, u64) {
    match size {
        Size::Full => (20_000, 125),
        Size::Tiny => (20, 2),
    }
}

const DATASETS: u64 = 10;

/// Runs it once.
pub fn run(setting: &Setting<'_>) -> Result<()> {
    let iolag = setting.places.build("iolag", "iolag", setting.size.optimised())?;
    let scratch = setting.scratch("memory")?;
    let (store, json) = (scratch.path().join("store"), scratch.path().join("result.json"));
    let (objects, iterations) = shape(setting.size);
    let mut command = Command::new(&iolag);
    command.args(["bench", "metadata", "memory:", "--read-only", "--quiet", "--object-size", "64"]);
    command.args(["--datasets", &DATASETS.to_string(), "--precreate", &objects.to_string()]);
    command.args(["--objects", &objects.to_string(), "--iterations", &iterations.to_string()]);
    command.arg("--store").arg(&store).arg("--json").arg(&json).stdout(Stdio::null());
    let start = Instant::now();
    let peak = watch(command.spawn().with_context(|| format!("starting {}", iolag.display()))?)?;
    let seconds = start.elapsed().as_secs_f64();
    let expected = DATASETS * objects * iterations * 2;
    let stored = stored(&store)?;
    let summarised = summarised(&json)?;
    ensure!(summarised == expected, "{summarised} operations are in the result, {expected} were made");
    ensure!(stored >= expected, "{stored} samples are stored, {expected} were made");
    let mebibytes = peak.proportional_kib as f64 / 1024.0;
    let verdict = match setting.size {
        Size::Tiny => "not judged",
        Size::Full if mebibytes < MOST_MIB => "met",
        Size::Full => "missed",
    };
    println!(
        "| memory of a run of {expected} samples, all kept ({stored} with those of the other phases) | \
         {mebibytes:.0} MiB in {} processes (sum of resident sets {} MiB), {seconds:.0} s | under {MOST_MIB} MiB | \
         {verdict} | {} |",
        peak.processes,
        peak.resident_kib / 1024,
        machine::description()
    );
    Ok(())
}

/// Samples in the parts of the only run, by its run.json; a part whose footer says otherwise would not have been
/// summarised.
pub(super) fn stored(store: &Path) -> Result<u64> {
    let runs = store.join("runs");
    let entries = std::fs::read_dir(&runs).with_context(|| format!("listing {}", runs.display()))?;
    let run = entries.flatten().next().with_context(|| format!("{} holds no run", runs.display()))?;
    let record = parse(&run.path().join("run.json"))?;
    let parts = record["parts"].as_array().context("run.json has no parts")?;
    parts.iter().map(|part| part["samples"].as_u64().context("a part without number of samples")).sum()
}

/// Operations of the benchmark phase in the result.
fn summarised(json: &Path) -> Result<u64> {
    let result = parse(json)?;
    let stages = result["stages"].as_array().context("the result has no stages")?;
    let benchmark = stages.iter().filter(|stage| stage["phase"] == "benchmark");
    benchmark.map(|stage| stage["operations"].as_u64().context("a stage without operations")).sum()
}

fn parse(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parsing {}", path.display()))
}
