//! The measurer of `iolag ping`: one target, one client, which may hang anywhere.

use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use iolag_backend::{Backend, BackendError, NameTable, PosixBackend, Session, SessionOptions, Target};
use iolag_keeper::{Adopted, Exchange, Outbox};
use iolag_model::{
    ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, PingProbe, PingSpec, PlaceMaker, Role,
    RunSpec,
};
use iolag_workload::{
    ClientLoop, Contact, DriveOptions, IfNotOpen, Job, Part, PingClient, PingSchedule, ProbeSession,
    ProbedObject, TaskSpec, run_process, workload,
};

use crate::calibration::calibrate;
use crate::messages::{FromMeasurer, MeasurerEnd, tell, tell_placed};
use crate::ping::flight::PingFlight;
use crate::ping::programs::ProgramSession;
use crate::placed::Placed;

/// The one client, and the one target.
const CLIENT: u32 = 0;
const TARGET: u16 = 0;

/// What this measurer has to do.
#[derive(Debug, Clone)]
pub struct PingAssignment {
    /// The target, a directory absolute.
    pub target: Target,
    /// Name of the working place.
    pub working_name: String,
    /// Who makes it.
    pub maker: PlaceMaker,
    /// The run's spec.
    pub spec: RunSpec,
    /// The ping's part of it.
    pub ping: PingSpec,
    /// The task, if a probe is one.
    pub task: Option<TaskSpec>,
    /// Since when the target has been asked for the first time, if that has not been answered yet.
    pub contact: Option<MonotonicTime>,
    /// What is in flight, for the keeper.
    pub flight: PingFlight,
    /// Who went there first and has not come back, by number and start: nobody else goes there before.
    pub ahead: Option<(u32, u64)>,
}

impl PingAssignment {
    const fn makes_place(&self) -> bool {
        !matches!(self.ping.probe, PingProbe::Object)
    }
}

/// Where probes work: tasks only in a directory.
enum Ground {
    Directory(PosixBackend),
    Server(Box<dyn Backend>),
}

impl Ground {
    fn of(target: &Target, working_name: &str) -> Result<Self, BackendError> {
        match target.directory() {
            Some(path) => PosixBackend::new(path.to_owned(), working_name).map(Self::Directory),
            None => target.backend(working_name, Arc::new(MonotonicClock)).map(Self::Server),
        }
    }

    fn backend(&self) -> &dyn Backend {
        match self {
            Self::Directory(backend) => backend,
            Self::Server(backend) => backend.as_ref(),
        }
    }
}

/// When probes are due.
pub fn schedule(ping: &PingSpec, deadline: Nanoseconds) -> PingSchedule {
    PingSchedule { every: ping.every_ns, count: ping.count, deadline }
}

/// The process.
pub fn measure(assignment: &PingAssignment, exchange: &Exchange, outbox: Outbox) -> i32 {
    let since = assignment.contact.unwrap_or_else(|| MonotonicClock.now());
    assignment.flight.contacts(since);
    let contact = Contact::begun(since);
    let failed = |outbox: &Outbox, sentence: String| {
        tell(outbox, &FromMeasurer::Failed { target: TARGET, sentence });
    };
    await_scout(assignment);
    let ground = match make_place(assignment, &outbox) {
        Ok(ground) => ground,
        Err(error) => {
            failed(&outbox, error.to_string());
            return 0;
        }
    };
    contact.answered(MonotonicClock.now(), assignment.spec.deadline_ns);
    exchange.prefault(CLIENT);
    if let Ok(calibration) = calibrate() {
        tell(&outbox, &FromMeasurer::Calibrated(calibration));
    }
    if assignment.makes_place() {
        exchange.wait_until_noted(CLIENT);
    }
    let (sender, parts) = mpsc::channel();
    let client =
        PingClient::new(schedule(&assignment.ping, assignment.spec.deadline_ns), contact.clone(), parts);
    let drive = DriveOptions {
        client: ClientId(CLIENT),
        rank: CLIENT,
        deadlines: assignment.spec.deadlines_of(Role::Load),
    };
    let job = Job {
        client: ClientLoop::new(client, exchange.recorder(CLIENT), drive),
        open: || {
            contact.goes_on(MonotonicClock.now());
            assignment.flight.contacts(contact.start());
            let session = open(assignment, exchange, &ground, sender)?;
            assignment.flight.ends_contact(MonotonicClock.now());
            Ok(session)
        },
        if_not_open: IfNotOpen::StopAll,
    };
    // On this process's only thread: programs are forked from it.
    if let Err(error) = run_process(job, &exchange.coordinator(), &MonotonicClock) {
        failed(&outbox, error.to_string());
    }
    tell(&outbox, &FromMeasurer::Ended(remove_place(assignment, ground.backend())));
    0
}

/// Two that hang are worse than one.
fn await_scout(assignment: &PingAssignment) {
    const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);
    let Some((process, start_ticks)) = assignment.ahead else { return };
    if let Some(mut scout) = Adopted::open(process, start_ticks) {
        while !scout.has_ended() {
            MonotonicClock.sleep_until(MonotonicClock.now().after(LOOK));
        }
    }
    assignment.flight.executes(0);
}

fn make_place(assignment: &PingAssignment, outbox: &Outbox) -> Result<Ground, BackendError> {
    let ground = Ground::of(&assignment.target, &assignment.working_name)?;
    if !assignment.makes_place() {
        return Ok(ground);
    }
    tell(
        outbox,
        &FromMeasurer::Placing(Placed {
            target: TARGET,
            path: assignment.target.to_string(),
            name: assignment.working_name.clone(),
            identity: None,
            token: Some(assignment.maker.token),
            file_system: None,
        }),
    );
    tell_placed(outbox, TARGET, ground.backend().create_place(&assignment.maker)?);
    Ok(ground)
}

fn open(
    assignment: &PingAssignment,
    exchange: &Exchange,
    ground: &Ground,
    parts: Sender<Part>,
) -> Result<Box<dyn Session>, BackendError> {
    let object = match (&assignment.ping.probe, &assignment.task, ground) {
        (PingProbe::Task { .. }, Some(task), Ground::Directory(backend)) => {
            let deadline = assignment.spec.deadline_ns;
            let (flight, exchange) = (assignment.flight.clone(), exchange.clone());
            let place = backend.open_place()?;
            let session = ProgramSession::open(&place, task, deadline, parts, flight, exchange)?;
            return Ok(Box::new(session));
        }
        (PingProbe::Operations { object_bytes }, ..) => {
            let datasets = ground.backend().capabilities().semantics.datasets;
            ProbedObject::Made { bytes: *object_bytes, datasets }
        }
        (PingProbe::Object, ..) => ProbedObject::Named,
        (PingProbe::Task { name }, ..) => {
            let (target, reason) = (name.clone(), "it is no task that this iolag knows".to_owned());
            return Err(BackendError::Target { target, reason });
        }
    };
    let bytes_max = workload(&assignment.spec.workload).object_bytes();
    let mut options = SessionOptions::new(ClientId(CLIENT), 0, assignment.spec.seed, bytes_max);
    options.names = matches!(object, ProbedObject::Named).then(|| Arc::new(the_url_itself()));
    let inner = ground.backend().open_session(&options)?;
    let flight = assignment.flight.clone();
    let begins = move |operation| flight.begins(operation);
    Ok(Box::new(ProbeSession::open(inner, MonotonicClock, object, parts, begins)?))
}

/// The object whose name is empty.
fn the_url_itself() -> NameTable {
    let mut names = NameTable::default();
    names.push("");
    names
}

fn remove_place(assignment: &PingAssignment, backend: &dyn Backend) -> MeasurerEnd {
    let removed = match assignment.makes_place() {
        true => backend.remove_place(),
        false => Ok(Vec::new()),
    };
    let leftovers = match removed {
        Ok(leftovers) => {
            leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect()
        }
        Err(error) if assignment.target.is_server() => {
            let PingAssignment { target, working_name, maker, .. } = assignment;
            let place = format!("{}/{working_name}", target.to_string().trim_end_matches('/'));
            vec![format!(
                "{place} may still be there: {error}; remove it later with: iolag cleanup {}",
                maker.run
            )]
        }
        Err(error) => vec![format!("{}: {error}", assignment.target)],
    };
    MeasurerEnd { removed: true, leftovers, ..MeasurerEnd::default() }
}
