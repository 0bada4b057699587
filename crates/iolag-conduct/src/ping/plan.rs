//! What a ping is to do, decided before anything is touched.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use iolag_backend::{Target, WORKING_NAME};
use iolag_model::{MonotonicClock, Nanoseconds, Operation, PingProbe, PingSpec};
use iolag_workload::{TaskSpec, Workload};

use crate::contact::scout::absolute;
use crate::failure::Failure;

/// Bytes of the file that is read, and of the one that is created: those of a small file, as in a check.
const OBJECT_BYTES: u64 = 3901;

/// What is chosen.
#[derive(Debug, Clone)]
pub struct PingOptions {
    /// Where to measure.
    pub target: Target,
    /// From one probe to the next.
    pub every: Nanoseconds,
    /// How many; without, until it is told to end.
    pub count: Option<u64>,
    /// After this long a probe is lost.
    pub deadline: Nanoseconds,
    /// The name of a task to execute instead of single operations.
    pub task: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// What the user attaches.
    pub labels: Vec<(String, String)>,
}

/// A ping that is decided as far as it can be before its target was looked at.
#[derive(Debug, Clone)]
pub struct PlannedPing {
    /// Its target; a directory is absolute.
    pub target: Target,
    /// What is done, and how often.
    pub spec: PingSpec,
    /// After this long a probe is lost.
    pub deadline: Nanoseconds,
    /// The task that a probe is, if it is one.
    pub task: Option<TaskSpec>,
    /// Seed of everything random.
    pub seed: u64,
    /// What the user attached.
    pub labels: Vec<(String, String)>,
}

/// Plans a ping; `variable` reads the environment.
///
/// # Errors
/// If there is no such task, or the probes cannot be made so.
pub fn plan_ping(
    options: PingOptions,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<PlannedPing, Failure> {
    let directory = options.target.directory().map(absolute);
    let task = match (&options.task, &directory) {
        (None, _) => None,
        (Some(name), Some(_)) => Some(task_of(name, variable)?),
        (Some(name), None) => {
            let sentence = format!(
                "the task {name} works in a directory, and {} is none: without --task single requests are timed",
                options.target
            );
            return Err(Failure::usage(sentence));
        }
    };
    let spec = PingSpec {
        probe: match options.task {
            Some(name) => PingProbe::Task { name },
            None => operations_on(&options.target)?,
        },
        every_ns: options.every,
        count: options.count,
    };
    spec.validate(1).map_err(Failure::usage)?;
    let target = directory.map_or(options.target, Target::from);
    let PingOptions { deadline, seed, labels, .. } = options;
    Ok(PlannedPing { target, spec, deadline, task, seed, labels })
}

/// What is asked where probes are no tasks: where nothing can be made, what is there.
fn operations_on(target: &Target) -> Result<PingProbe, Failure> {
    let backend = target.backend(WORKING_NAME, Arc::new(MonotonicClock)).map_err(Failure::usage)?;
    Ok(match backend.capabilities().missing(&[Operation::Create]) {
        None => PingProbe::Operations { object_bytes: OBJECT_BYTES },
        Some(_) => PingProbe::Object,
    })
}

fn task_of(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Result<TaskSpec, Failure> {
    let shell = variable("SHELL").map_or_else(|| "/bin/sh".into(), PathBuf::from);
    match TaskSpec::from_name(name) {
        Some(spec) => Ok(spec.with_shell(&shell)),
        None => Err(Failure::usage(format!(
            "there is no task {name:?}: expected one of {}; without --task single operations are timed",
            TaskSpec::builtin_names().join(", ")
        ))),
    }
}
