//! The measurer of `iolag check`: the directories of one mounted file system, or one server; one thread and one client each.
//!
//! A directory is set up, measured and removed without regard to the others: whoever is slow in one of these keeps nobody waiting.

use std::sync::Arc;

use iolag_analysis::Summaries;
use iolag_backend::{Backend, BackendError, PosixBackend, Session, SessionOptions, Target};
use iolag_keeper::{Exchange, Outbox};
use iolag_model::{
    CheckSpec, ClientId, Clock, Coordinator as _, MonotonicClock, MonotonicTime, Nanoseconds, Operation,
    PlaceMaker, Role, RunRecord, RunSpec,
};
use iolag_workload::{
    CheckAbilities, CheckClient, CheckShare, CheckTasks, CheckTurns, ClientLoop, Compiler, DriveOptions,
    IfNotOpen, Job, LISTED_DIRECTORY, ROUNDS_MAX, TaskLimits, TaskOptions, TaskSession, find_compiler,
    place_removal, run_threads,
};

use crate::calibration::calibrate;
use crate::messages::{FromMeasurer, MeasurerEnd, SetUpOutcome, make_place, tell, tell_placed};
use crate::placed::Placed;

/// Rounds of the control: enough for a median of the tasks.
const CONTROL_ROUNDS: u32 = 10;
/// How the sentence begins that names the compiler.
const COMPILER: &str = "The compile task uses ";

/// One directory of a check, or one server.
#[derive(Debug, Clone)]
pub struct CheckedTarget {
    /// Its number among the run's targets.
    pub number: u16,
    /// Its client.
    pub client: u32,
    /// Where it is; a directory by its absolute path.
    pub target: Target,
    /// When it may begin something.
    pub turns: CheckTurns,
    /// What it is for: with a control the others are compared; a few rounds are enough, and it may be missing.
    pub role: Role,
}

/// What this measurer has to do.
#[derive(Debug, Clone)]
pub struct CheckAssignment {
    /// Its targets.
    pub targets: Vec<CheckedTarget>,
    /// Name of the working places.
    pub working_name: String,
    /// Who makes them.
    pub maker: PlaceMaker,
    /// The run's spec.
    pub spec: RunSpec,
    /// The check's part of it.
    pub check: CheckSpec,
    /// When everything is to be removed again.
    pub end: MonotonicTime,
}

/// The process.
pub fn measure(assignment: &CheckAssignment, exchange: &Exchange, outbox: Outbox) -> i32 {
    let is_directory = |checked: &&CheckedTarget| checked.target.directory().is_some();
    let compiles = assignment.targets.iter().any(|checked| is_directory(&checked));
    let compiler = if compiles { find_compiler(&std::env::vars_os().collect::<Vec<_>>()) } else { None };
    if let Ok(calibration) = calibrate() {
        tell(&outbox, &FromMeasurer::Calibrated(calibration));
    }
    let remark = match &compiler {
        Some(compiler) => format!("{COMPILER}{} ({:?}).", compiler.name(), compiler.language),
        None => {
            "No C or Fortran compiler was found, so nothing is compiled; put one on PATH to measure that too."
                .to_owned()
        }
    };
    // Of a control alone nobody wants to know.
    if assignment.targets.iter().filter(is_directory).any(|checked| checked.role == Role::Load) {
        tell(&outbox, &FromMeasurer::Remark(remark));
    }
    let room = MeasuringRoom { assignment, exchange, compiler: compiler.as_ref(), outbox };
    let leftovers = std::thread::scope(|scope| {
        let threads: Vec<_> =
            assignment.targets.iter().map(|checked| scope.spawn(|| room.measure(checked))).collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Vec<_>>()
    });
    let end = MeasurerEnd { removed: true, leftovers: leftovers.concat(), ..MeasurerEnd::default() };
    room.tell(&FromMeasurer::Ended(end));
    0
}

/// Leaves the compiler out of the remarks if no directory had time to compile. Returns whether anything was changed.
pub fn forget_unused_compiler(record: &mut RunRecord, summaries: &Summaries) -> bool {
    let Some(check) = record.spec.workload.check() else { return false };
    let control = check.control;
    let keys = || summaries.summaries.iter().map(|summary| summary.key);
    if keys()
        .any(|key| key.operation == Operation::TaskCompile && (key.target.is_none() || key.target != control))
    {
        return false;
    }
    let before = record.remarks.len();
    record.remarks.retain(|remark| !remark.starts_with(COMPILER));
    record.remarks.len() < before
}

/// A working place in which is measured.
enum Workplace {
    Directory(PosixBackend),
    Server(Box<dyn Backend>),
}

impl Workplace {
    fn backend(&self) -> &dyn Backend {
        match self {
            Self::Directory(backend) => backend,
            Self::Server(backend) => backend.as_ref(),
        }
    }
}

/// What the threads of all targets share.
struct MeasuringRoom<'a> {
    assignment: &'a CheckAssignment,
    exchange: &'a Exchange,
    compiler: Option<&'a Compiler>,
    outbox: Outbox,
}

impl MeasuringRoom<'_> {
    fn tell(&self, message: &FromMeasurer) {
        tell(&self.outbox, message);
    }

    fn failed(&self, checked: &CheckedTarget, error: &dyn std::fmt::Display) {
        self.tell(&match checked.role {
            Role::Load => FromMeasurer::Failed { target: checked.number, sentence: error.to_string() },
            Role::Bystander | Role::Control => {
                FromMeasurer::Remark(format!("Nothing was compared with the memory: {error}."))
            }
        });
    }

    /// Sets a target up, measures and removes what was made; says what is left.
    fn measure(&self, checked: &CheckedTarget) -> Vec<String> {
        let start = MonotonicClock.now();
        if self.is_over(checked, Nanoseconds::ZERO) {
            self.cut_short(checked, start);
            return Vec::new();
        }
        let left = match self.make_place(checked) {
            Ok(place) => self.measure_in(checked, &place, start),
            Err(error) => {
                self.failed(checked, &error);
                self.exchange.coordinator().give_up(checked.client, MonotonicClock.now());
                Vec::new()
            }
        };
        self.tell(&FromMeasurer::Removed { target: checked.number });
        left
    }

    /// Measures in a place that setting up has made since `start`, and removes it. Each step may have taken the time of the next.
    fn measure_in(&self, checked: &CheckedTarget, place: &Workplace, start: MonotonicTime) -> Vec<String> {
        let place_cost = MonotonicClock.now().since(start);
        let removal = place_removal(place_cost);
        if !self.is_over(checked, removal) {
            self.exchange.prefault(checked.client);
            self.exchange.wait_until_noted(checked.client);
        }
        if self.is_over(checked, removal) {
            self.cut_short(checked, start);
        } else {
            let job = self.job(checked, place, (start, place_cost));
            let descriptors = checked.target.semantics().descriptors;
            let ends = run_threads(vec![job], descriptors, &self.exchange.coordinator(), &MonotonicClock);
            for error in ends.into_iter().filter_map(Result::err) {
                self.failed(checked, &error);
            }
        }
        match place.backend().remove_place() {
            Ok(leftovers) => {
                leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect()
            }
            Err(error) => vec![format!("{}: {error}", checked.target)],
        }
    }

    /// Whether nothing more is to be begun here than removing, which takes `removal`.
    fn is_over(&self, checked: &CheckedTarget, removal: Nanoseconds) -> bool {
        MonotonicClock.now().after(removal) >= self.assignment.end
            || self.exchange.coordinator().is_stopped(checked.client)
    }

    fn cut_short(&self, checked: &CheckedTarget, start: MonotonicTime) {
        self.set_up(checked, start, SetUpOutcome::CutShort);
        self.exchange.coordinator().give_up(checked.client, MonotonicClock.now());
    }

    fn set_up(&self, checked: &CheckedTarget, start: MonotonicTime, outcome: SetUpOutcome) {
        let took = MonotonicClock.now().since(start);
        self.tell(&FromMeasurer::SetUp { target: checked.number, took, outcome });
    }

    fn make_place(&self, checked: &CheckedTarget) -> Result<Workplace, BackendError> {
        let CheckAssignment { working_name, maker, .. } = self.assignment;
        let path = checked.target.to_string();
        if checked.target.directory().is_some() {
            let made = make_place(checked.number, (&path, working_name), maker, &self.outbox);
            return made.map(Workplace::Directory);
        }
        let backend = checked.target.backend(working_name, Arc::new(MonotonicClock))?;
        self.tell(&FromMeasurer::Placing(Placed {
            target: checked.number,
            path,
            name: working_name.clone(),
            identity: None,
            token: Some(maker.token),
            file_system: None,
        }));
        tell_placed(&self.outbox, checked.number, backend.create_place(maker)?);
        Ok(Workplace::Server(backend))
    }

    fn job<'b>(
        &'b self,
        checked: &'b CheckedTarget,
        place: &'b Workplace,
        (start, place_cost): (MonotonicTime, Nanoseconds),
    ) -> Job<
        iolag_keeper::SharedRecorder,
        CheckClient,
        impl FnOnce() -> Result<Box<dyn Session>, BackendError> + Send + 'b,
    > {
        let CheckAssignment { spec, check, end, .. } = self.assignment;
        let share = CheckShare {
            directory: checked.client,
            turns: checked.turns,
            end: *end,
            deadline: spec.deadline_ns,
            place_cost,
            rounds: match checked.role {
                Role::Load => ROUNDS_MAX,
                Role::Bystander | Role::Control => CONTROL_ROUNDS,
            },
        };
        let client = CheckClient::new(check, share, self.abilities(place), spec.seed);
        let drive = DriveOptions {
            client: ClientId(checked.client),
            rank: checked.client,
            deadlines: spec.deadlines_of(checked.role),
        };
        Job {
            client: ClientLoop::new(client, self.exchange.recorder(checked.client), drive),
            open: move || {
                let session = self.open_session(checked, place)?;
                self.set_up(checked, start, SetUpOutcome::Ready);
                Ok(session)
            },
            if_not_open: IfNotOpen::GoOn,
        }
    }

    fn abilities(&self, place: &Workplace) -> CheckAbilities {
        let tasks = match (place, self.compiler) {
            (Workplace::Server(_), _) => CheckTasks::None,
            (Workplace::Directory(_), Some(_)) => CheckTasks::All,
            (Workplace::Directory(_), None) => CheckTasks::WithoutCompiler,
        };
        let operations = place.backend().capabilities().operations.into_iter().collect();
        CheckAbilities { tasks, operations }
    }

    fn open_session(
        &self,
        checked: &CheckedTarget,
        place: &Workplace,
    ) -> Result<Box<dyn Session>, BackendError> {
        let CheckAssignment { spec, check, .. } = self.assignment;
        let options = SessionOptions::new(
            ClientId(checked.client),
            0,
            spec.seed,
            check.object_bytes.max(check.block_bytes),
        );
        // A server that does not answer keeps its thread waiting, as a directory does: the keeper tells how long.
        let inner = place.backend().open_session(&options)?;
        let Workplace::Directory(directory) = place else { return Ok(inner) };
        let task_options = TaskOptions {
            listed: LISTED_DIRECTORY.to_owned(),
            created_files: check.created_files,
            list_program: "/bin/ls".into(),
            compiler: self.compiler.cloned(),
        };
        let (coordinator, client) = (self.exchange.coordinator(), checked.client);
        let limits = TaskLimits::new(Arc::new(MonotonicClock), move || coordinator.is_stopped(client));
        Ok(Box::new(TaskSession::new(inner, directory.open_place()?, task_options, limits)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::{Engine, Grouping};
    use iolag_model::{SampleColumns, TargetIndex, WorkloadSpec};
    use std::num::NonZeroU32;

    #[test]
    fn the_compiler_is_named_only_where_something_was_compiled() {
        const RECORD: &str =
            include_str!("../../../iolag/tests/written_by_0_1_0/store/runs/20261122-022729-4066/run.json");
        let told = |target: i32, operation: Operation| {
            let mut record: RunRecord = serde_json::from_str(RECORD).unwrap();
            let WorkloadSpec::Check(check) = &mut record.spec.workload else { panic!("it is a check") };
            check.control = Some(TargetIndex(1));
            record.remarks = vec!["Nothing else.".to_owned(), format!("{COMPILER}/usr/bin/cc (C).")];
            let columns = SampleColumns {
                client: &[0],
                stage: &[0],
                target: &[target],
                operation_code: &[operation as i32],
                outcome_code: &[0],
                failure_code: &[0],
                start_ns: &[1],
                duration_ns: &[5],
                bytes: &[0],
                ..SampleColumns::default()
            };
            let grouping = Grouping { targets: NonZeroU32::new(2), ..Grouping::default() };
            let mut engine = Engine::for_samples(1, 1 << 20, grouping);
            engine.batch(columns);
            let is_changed = forget_unused_compiler(&mut record, &engine.finish());
            assert_eq!(is_changed, record.remarks.len() == 1);
            record.remarks.len()
        };
        assert_eq!(told(0, Operation::TaskCompile), 2);
        assert_eq!(told(0, Operation::TaskList), 1);
        assert_eq!(told(1, Operation::TaskCompile), 1, "the control has no column");
    }
}
