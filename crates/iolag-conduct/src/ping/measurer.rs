//! The measurer of `iolag ping`: one directory, one client, which may hang anywhere.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};

use iolag_backend::{Backend, BackendError, PosixBackend, Session, SessionOptions};
use iolag_keeper::{Adopted, Exchange, Outbox};
use iolag_model::{
    ClientId, Clock, MonotonicClock, MonotonicTime, Nanoseconds, PingProbe, PingSpec, PlaceMaker, Role,
    RunSpec,
};
use iolag_workload::{
    ClientLoop, Contact, DriveOptions, IfNotOpen, Job, Part, PingClient, PingSchedule, ProbeSession,
    TaskSpec, run_process,
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
    /// The directory, absolute.
    pub path: String,
    /// Name of the working directory.
    pub working_name: String,
    /// Who makes it.
    pub maker: PlaceMaker,
    /// The run's spec.
    pub spec: RunSpec,
    /// The ping's part of it.
    pub ping: PingSpec,
    /// The task, if a probe is one.
    pub task: Option<TaskSpec>,
    /// Since when the directory has been asked for the first time, if that has not been answered yet.
    pub contact: Option<MonotonicTime>,
    /// What is in flight, for the keeper.
    pub flight: PingFlight,
    /// Who went there first and has not come back, by number and start: nobody else goes there before.
    pub ahead: Option<(u32, u64)>,
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
    let backend = match make_place(assignment, &outbox) {
        Ok(backend) => backend,
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
    exchange.wait_until_noted(CLIENT);
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
            let session = open(assignment, exchange, &backend, sender)?;
            assignment.flight.ends_contact(MonotonicClock.now());
            Ok(session)
        },
        if_not_open: IfNotOpen::StopAll,
    };
    // On this process's only thread: programs are forked from it.
    if let Err(error) = run_process(job, &exchange.coordinator(), &MonotonicClock) {
        failed(&outbox, error.to_string());
    }
    tell(&outbox, &FromMeasurer::Ended(remove_place(assignment, &backend)));
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

fn make_place(assignment: &PingAssignment, outbox: &Outbox) -> Result<PosixBackend, BackendError> {
    let backend = PosixBackend::new(PathBuf::from(&assignment.path), &assignment.working_name)?;
    tell(
        outbox,
        &FromMeasurer::Placing(Placed {
            target: TARGET,
            path: assignment.path.clone(),
            name: assignment.working_name.clone(),
            identity: None,
            token: Some(assignment.maker.token),
            file_system: None,
        }),
    );
    tell_placed(outbox, TARGET, backend.create_place(&assignment.maker)?);
    Ok(backend)
}

fn open(
    assignment: &PingAssignment,
    exchange: &Exchange,
    backend: &PosixBackend,
    parts: Sender<Part>,
) -> Result<Box<dyn Session>, BackendError> {
    let object_bytes = match (&assignment.ping.probe, &assignment.task) {
        (PingProbe::Task { .. }, Some(task)) => {
            let deadline = assignment.spec.deadline_ns;
            let (flight, exchange) = (assignment.flight.clone(), exchange.clone());
            let place = backend.open_place()?;
            let session = ProgramSession::open(&place, task, deadline, parts, flight, exchange)?;
            return Ok(Box::new(session));
        }
        (PingProbe::Operations { object_bytes }, _) => *object_bytes,
        (PingProbe::Task { name }, None) => {
            let (target, reason) = (name.clone(), "it is no task that this iolag knows".to_owned());
            return Err(BackendError::Target { target, reason });
        }
    };
    let options = SessionOptions::new(ClientId(CLIENT), 0, assignment.spec.seed, object_bytes);
    let inner = backend.open_session(&options)?;
    let flight = assignment.flight.clone();
    let begins = move |operation| flight.begins(operation);
    Ok(Box::new(ProbeSession::open(inner, MonotonicClock, object_bytes, parts, begins)?))
}

fn remove_place(assignment: &PingAssignment, backend: &PosixBackend) -> MeasurerEnd {
    let leftovers = match backend.remove_place() {
        Ok(leftovers) => {
            leftovers.into_iter().map(|left| format!("{} is left: {}", left.path, left.reason)).collect()
        }
        Err(error) => vec![format!("{}: {error}", assignment.path)],
    };
    MeasurerEnd { removed: true, leftovers, ..MeasurerEnd::default() }
}
