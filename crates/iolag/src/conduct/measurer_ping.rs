//! The measurer of `iolag ping`: one directory, one client, which may hang anywhere.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};

use iolag_backend::{Backend, BackendError, PosixBackend, Session, SessionOptions};
use iolag_keeper::{Adopted, Exchange, Outbox, SharedWords};
use iolag_model::{
    ClientId, Clock, Durability, MonotonicClock, MonotonicTime, Nanoseconds, Operation, PingProbe, PingSpec,
    PlaceMaker, RunSpec, Verification,
};
use iolag_workload::{
    ClientLoop, Contact, DriveOptions, IfNotOpen, Job, Part, PingClient, PingSchedule, ProbeSession,
    TaskSpec, run_process,
};

use super::calibration::calibrate;
use super::messages::{FromMeasurer, MeasurerEnd, tell, tell_placed};
use super::ping_programs::ProgramSession;
use super::watched::Placed;

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

/// What the measurer says of what is in flight; the keeper reads it at any moment.
#[derive(Debug, Clone)]
pub struct PingFlight(SharedWords);

impl PingFlight {
    /// Nothing in flight.
    ///
    /// # Errors
    /// If the kernel has no memory.
    pub fn new() -> Result<Self, iolag_keeper::KeeperError> {
        SharedWords::new(5).map(Self)
    }

    /// This operation begins now.
    pub fn begins(&self, operation: Operation) {
        self.0.store(3, MonotonicClock.now().0);
        self.0.store(0, operation as u64);
    }

    /// When that was.
    pub fn since(&self) -> MonotonicTime {
        MonotonicTime(self.0.load(3))
    }

    /// The operation that began last.
    pub fn operation(&self) -> Option<Operation> {
        u8::try_from(self.0.load(0)).ok().and_then(Operation::from_code)
    }

    /// This process executes the probe; 0 if the measurer does so itself.
    pub fn executes(&self, process: u32) {
        self.0.store(1, u64::from(process));
    }

    /// Who executes the probe, if that is not the measurer.
    pub fn process(&self) -> Option<u32> {
        u32::try_from(self.0.load(1)).ok().filter(|process| *process != 0)
    }
}

impl PingFlight {
    /// The first contact has been waited for since then.
    pub fn contacts(&self, since: MonotonicTime) {
        self.0.store(2, since.0);
    }

    /// Since when the first contact has been waited for, once that is known.
    pub fn contact(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.load(2))).filter(|since| since.0 != 0)
    }

    /// The first contact has been answered, though the client has not told so yet.
    pub fn ends_contact(&self, now: MonotonicTime) {
        self.0.store(4, now.0);
    }

    /// When that was.
    pub fn contact_end(&self) -> Option<MonotonicTime> {
        Some(MonotonicTime(self.0.load(4))).filter(|end| end.0 != 0)
    }
}

/// When probes are due.
pub fn schedule(ping: &PingSpec, deadline: Nanoseconds) -> PingSchedule {
    PingSchedule { every: ping.every_ns, count: ping.count, deadline }
}

/// The process.
pub fn measure(assignment: &PingAssignment, exchange: &Exchange, mut outbox: Outbox) -> i32 {
    let since = assignment.contact.unwrap_or_else(|| MonotonicClock.now());
    assignment.flight.contacts(since);
    let contact = Contact::begun(since);
    let failed = |outbox: &mut Outbox, sentence: String| {
        tell(outbox, &FromMeasurer::Failed { target: TARGET, sentence });
    };
    await_scout(assignment);
    let backend = match make_place(assignment, &mut outbox) {
        Ok(backend) => backend,
        Err(error) => {
            failed(&mut outbox, error.to_string());
            return 0;
        }
    };
    contact.answered(MonotonicClock.now(), assignment.spec.deadline_ns);
    exchange.prefault(CLIENT);
    if let Ok(calibration) = calibrate() {
        tell(&mut outbox, &FromMeasurer::Calibrated(calibration));
    }
    exchange.wait_until_noted(CLIENT);
    let (sender, parts) = mpsc::channel();
    let client =
        PingClient::new(schedule(&assignment.ping, assignment.spec.deadline_ns), contact.clone(), parts);
    let drive =
        DriveOptions { client: ClientId(CLIENT), rank: CLIENT, deadline: assignment.spec.deadline_ns };
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
        failed(&mut outbox, error.to_string());
    }
    tell(&mut outbox, &FromMeasurer::Ended(remove_place(assignment, &backend)));
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

fn make_place(assignment: &PingAssignment, outbox: &mut Outbox) -> Result<PosixBackend, BackendError> {
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
    let options = SessionOptions {
        client: ClientId(CLIENT),
        rank: 0,
        seed: assignment.spec.seed,
        bytes_max: object_bytes,
        durability: Durability::Default,
        verification: Verification::Length,
    };
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
