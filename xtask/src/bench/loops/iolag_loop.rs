//! iolag's metadata loop as it is: the built program with all its processes, on a tmpfs, recording every operation into a
//! store on another file system.
//!
//! What is timed is what `bare_loop` times: the benchmark phase alone, the pauses between its iterations left out. iolag's
//! own JSON says it: objects handled, and the time of the stage (from the first start to the last end over all clients),
//! iteration by iteration.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::bare_loop::Shape;
use crate::bench::setting::{Scratch, Setting};
use crate::built::Profile;
use crate::places::output;

/// A sample per operation, or per system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Operations,
    Calls,
}

impl Detail {
    const fn name(self) -> &'static str {
        match self {
            Self::Operations => "operations",
            Self::Calls => "calls",
        }
    }

    /// Samples of one object: stat, read, delete, create; or stat, open, read, close, unlink, open, write, close.
    const fn samples_per_object(self) -> u64 {
        match self {
            Self::Operations => 4,
            Self::Calls => 8,
        }
    }
}

/// The built program, and where its store is.
#[derive(Debug)]
pub struct IolagLoop {
    program: PathBuf,
    scratch: Scratch,
}

impl IolagLoop {
    /// Builds it in the form that users copy to a login node.
    pub fn build(setting: &Setting<'_>) -> Result<Self> {
        let profile = match setting.size.optimised() {
            Profile::Release => Profile::Dist,
            other => other,
        };
        Self::built(&setting.places.build("iolag", "iolag", profile)?, setting)
    }

    /// One that is built already.
    pub fn built(program: &Path, setting: &Setting<'_>) -> Result<Self> {
        Ok(Self { program: program.to_owned(), scratch: setting.scratch("loop")? })
    }

    /// How often the benchmark phase must be repeated to take as long as the shape wants, at this rate of one client.
    pub fn iterations(shape: Shape, rate_of_client: f64) -> u64 {
        let wanted = 1.1 * shape.seconds * rate_of_client;
        (wanted / shape.operations_per_iteration() as f64).ceil().max(1.0) as u64
    }

    /// Runs it once in `directory`; returns operations per second of the benchmark phase, over all clients. Whatever
    /// the detail, an object is four operations.
    ///
    /// # Errors
    /// If it fails, if an operation failed, or if one was not recorded.
    pub fn rate(
        &self,
        directory: &Path,
        shape: Shape,
        clients: u64,
        iterations: u64,
        detail: Detail,
    ) -> Result<f64> {
        let (store, json) = (self.scratch.path().join("store"), self.scratch.path().join("result.json"));
        let mut command = Command::new(&self.program);
        command.args(["bench", "metadata", "--quiet"]).arg(directory);
        command.args(["--working-name", &format!("iolag-bench-{}", std::process::id())]);
        command.arg("--store").arg(&store).arg("--json").arg(&json);
        command.args(["--clients", &clients.to_string(), "--iterations", &iterations.to_string()]);
        command.args(["--datasets", &shape.datasets.to_string()]);
        command.args(["--precreate", &shape.precreated.to_string()]);
        command.args(["--objects", &shape.objects.to_string()]);
        command.args(["--object-size", &shape.object_bytes.to_string(), "--detail", detail.name()]);
        // As the bare loops: every client in its own directories.
        command.args(["--offset", "0"]);
        output(&mut command)?;
        let text = std::fs::read_to_string(&json).with_context(|| format!("reading {}", json.display()))?;
        let result = serde_json::from_str(&text).with_context(|| format!("parsing {}", json.display()))?;
        std::fs::remove_dir_all(&store).with_context(|| format!("removing {}", store.display()))?;
        let objects = u64::from(shape.datasets) * u64::from(shape.objects) * clients;
        rate_in(&result, objects, iterations, detail)
    }
}

/// Operations per second over all iterations of the benchmark phase.
fn rate_in(result: &Value, objects_per_iteration: u64, iterations: u64, detail: Detail) -> Result<f64> {
    let stages = result["stages"].as_array().context("iolag's JSON has no stages")?;
    let (mut objects, mut time_ns, mut found) = (0, 0, 0);
    for stage in stages.iter().filter(|stage| stage["phase"] == "benchmark") {
        let number = |name: &str| stage[name].as_u64().with_context(|| format!("a stage has no {name}"));
        let recorded = number("operations")?;
        let expected = objects_per_iteration * detail.samples_per_object();
        ensure!(recorded == expected, "{recorded} operations were recorded in an iteration of {expected}");
        objects += number("objects")?;
        time_ns += number("phase_time_ns")?;
        found += 1;
    }
    ensure!(found == iterations, "{found} iterations were recorded of {iterations}");
    ensure!(objects == objects_per_iteration * iterations, "{objects} objects were handled");
    Ok(objects as f64 * 4.0 / (time_ns as f64 / 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_benchmark_phase_counts_and_nothing_may_be_missing() {
        let stage = |phase: &str, time_ns: u64| json!({ "phase": phase, "objects": 10, "operations": 40, "phase_time_ns": time_ns });
        let stages = [stage("precreate", 5), stage("benchmark", 1_000_000), stage("benchmark", 3_000_000)];
        let result = json!({ "stages": stages });
        assert_eq!(rate_in(&result, 10, 2, Detail::Operations).unwrap(), 80.0 / 0.004);
        assert!(rate_in(&result, 10, 3, Detail::Operations).is_err(), "an iteration is missing");
        assert!(rate_in(&result, 10, 2, Detail::Calls).is_err(), "samples are missing");
        assert!(rate_in(&result, 9, 2, Detail::Operations).is_err(), "too many operations");
    }
}
