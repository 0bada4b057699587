//! The measurer of `iolag check`: the directories of one mounted file system, one client each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use iolag_backend::{Backend, BackendError, PosixBackend, Session, SessionOptions};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{
    CheckSpec, ClientId, Clock as _, Coordinator as _, Durability, ErrorClass, FailureCode, MonotonicClock,
    RunSpec, StageRecord, Verification,
};
use iolag_workload::{
    CheckClient, CheckPlace, CheckTasks, ClientLoop, Compiler, DriveOptions, IfNotOpen, Job, TaskOptions,
    TaskSession, find_compiler, run_threads,
};

use super::calibration::calibrate;
use super::messages::{FromMeasurer, MeasurerEnd, tell};

/// One directory of a check.
#[derive(Debug, Clone)]
pub struct CheckedDirectory {
    /// Its number among the run's targets.
    pub target: u16,
    /// Its client.
    pub client: u32,
    /// Its path, absolute.
    pub path: String,
}

/// What this measurer has to do.
#[derive(Debug, Clone)]
pub struct CheckAssignment {
    /// Its directories.
    pub directories: Vec<CheckedDirectory>,
    /// Directories of all measurers together: they take turns.
    pub all_directories: u32,
    /// Name of the working directories.
    pub working_name: String,
    /// The run's spec.
    pub spec: RunSpec,
    /// The check's part of it.
    pub check: CheckSpec,
    /// The stages.
    pub stages: Arc<[StageRecord]>,
}

/// The process.
pub fn measure(assignment: &CheckAssignment, exchange: &Exchange, mut outbox: Outbox) -> i32 {
    let compiler = find_compiler(&std::env::vars_os().collect::<Vec<_>>());
    let mut places = Vec::new();
    for directory in &assignment.directories {
        match make_place(assignment, directory, &mut outbox) {
            Ok(backend) => places.push((directory, backend)),
            Err(error) => {
                let sentence = error.to_string();
                tell(&mut outbox, &FromMeasurer::Failed { target: directory.target, sentence });
                // The others must not wait for it.
                exchange.coordinator().give_up(directory.client, MonotonicClock.now());
            }
        }
    }
    for (directory, _) in &places {
        exchange.prefault(directory.client);
    }
    if let Ok(calibration) = calibrate() {
        tell(&mut outbox, &FromMeasurer::Calibrated(calibration));
    }
    let remark = match &compiler {
        Some(compiler) => format!("The compile task uses {} ({:?}).", compiler.name(), compiler.language),
        None => {
            "No C or Fortran compiler was found, so nothing is compiled; put one on PATH to measure that too."
                .to_owned()
        }
    };
    tell(&mut outbox, &FromMeasurer::Remark(remark));
    places.iter().for_each(|(directory, _)| exchange.wait_until_noted(directory.client));
    let jobs = places.iter().map(|(directory, backend)| {
        job(assignment, exchange, directory, backend.as_ref(), compiler.as_ref())
    });
    let ends = run_threads(jobs.collect(), &exchange.coordinator(), &MonotonicClock);
    for ((directory, _), end) in places.iter().zip(ends) {
        if let Err(error) = end {
            tell(
                &mut outbox,
                &FromMeasurer::Failed { target: directory.target, sentence: error.to_string() },
            );
        }
    }
    tell(&mut outbox, &FromMeasurer::Ended(remove_places(places)));
    0
}

fn make_place(
    assignment: &CheckAssignment,
    directory: &CheckedDirectory,
    outbox: &mut Outbox,
) -> Result<Box<dyn Backend>, BackendError> {
    let backend = PosixBackend::new(PathBuf::from(&directory.path), &assignment.working_name)?;
    let place = backend.create_place()?;
    tell(
        outbox,
        &FromMeasurer::Placed {
            target: directory.target,
            path: directory.path.clone(),
            name: place.name,
            identity: place.identity,
        },
    );
    Ok(Box::new(backend))
}

fn job<'a>(
    assignment: &'a CheckAssignment,
    exchange: &Exchange,
    directory: &'a CheckedDirectory,
    backend: &'a dyn Backend,
    compiler: Option<&'a Compiler>,
) -> Job<
    iolag_keeper::SharedRecorder,
    CheckClient,
    impl FnOnce() -> Result<Box<dyn Session>, BackendError> + Send + 'a,
> {
    let spec = &assignment.spec;
    let place = CheckPlace { directory: directory.client, directories: assignment.all_directories };
    let tasks = if compiler.is_some() { CheckTasks::All } else { CheckTasks::WithoutCompiler };
    let client = CheckClient::new(&assignment.check, place, tasks, Arc::clone(&assignment.stages), spec.seed);
    let drive = DriveOptions {
        client: ClientId(directory.client),
        rank: directory.client,
        deadline: spec.deadline_ns,
    };
    let options = SessionOptions {
        client: ClientId(directory.client),
        rank: 0,
        seed: spec.seed,
        bytes_max: assignment.check.object_bytes.max(assignment.check.block_bytes),
        durability: Durability::Default,
        verification: Verification::Length,
    };
    let task_options = TaskOptions {
        listed_files: assignment.check.listed_files,
        created_files: assignment.check.created_files,
        list_program: "/bin/ls".into(),
        compiler: compiler.cloned(),
    };
    let open = move || {
        let inner = backend.open_session(&options)?;
        let working = Path::new(&directory.path).join(&assignment.working_name);
        let session =
            TaskSession::open(inner, &working, &task_options).map_err(|error| BackendError::Failed {
                action: "set up the tasks in",
                path: error.to_string(),
                class: ErrorClass::Other,
                code: FailureCode::EXIT,
            })?;
        Ok(Box::new(session) as Box<dyn Session>)
    };
    Job {
        client: ClientLoop::new(client, exchange.recorder(directory.client), drive),
        open,
        if_not_open: IfNotOpen::GoOn,
    }
}

fn remove_places(places: Vec<(&CheckedDirectory, Box<dyn Backend>)>) -> MeasurerEnd {
    let mut end = MeasurerEnd { removed: true, ..MeasurerEnd::default() };
    for (directory, backend) in places {
        match backend.remove_place() {
            Ok(leftovers) => end
                .leftovers
                .extend(leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason))),
            Err(error) => end.leftovers.push(format!("{}: {error}", directory.path)),
        }
    }
    end
}
