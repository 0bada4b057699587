//! Running many clients: as threads, as a process; as tasks in [`super::workers`].

use std::thread;

use iolag_backend::{BackendError, Descriptors, LaneSession, PosixSession, Session};
use iolag_model::{Activity, Clock, Coordinator, FailureCode, Nanoseconds, Recorder};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::blocking::drive_blocking;
use super::client::Client;
use super::client_loop::{ClientLoop, DriveEnd};
use super::heartbeat::Driven;
use super::lanes::drive_lanes;

/// A thread's stack. The loop needs a few KiB and the tasks of a check some tens; with more, systems that prefer huge pages would
/// back each stack by one.
pub(crate) const STACK_BYTES: usize = 512 << 10;

/// A client that is ready to be driven, and how to open its session.
pub struct Job<R, K, O> {
    /// The client with its recorder.
    pub client: ClientLoop<R, K>,
    /// Opens the session; called by the thread, process or task that uses it, by a task also when it has lost its session.
    pub open: O,
    /// What becomes of the others if that fails.
    pub if_not_open: IfNotOpen,
}

/// The session of a client that is driven by a thread.
pub enum Opened {
    /// It asks one thing at a time.
    Session(Box<dyn Session>),
    /// It has up to so many requests in flight.
    Lanes {
        /// The session.
        session: Box<dyn LaneSession>,
        /// How many.
        lanes: u32,
    },
}

impl From<Box<dyn Session>> for Opened {
    fn from(session: Box<dyn Session>) -> Self {
        Self::Session(session)
    }
}

/// What becomes of the other clients when one cannot open its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfNotOpen {
    /// They stop: without all of them the result would not mean what it says.
    StopAll,
    /// They go on without it.
    GoOn,
}

/// Why a client was not driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Its session could not be opened.
    #[error(transparent)]
    Session(#[from] BackendError),
    /// Its session was still being opened at the deadline.
    #[error("no session was open after {deadline}")]
    NoAnswer {
        /// So long it was waited for.
        deadline: Nanoseconds,
    },
    /// There was no thread for it.
    #[error(
        "cannot start a thread for client {client}: {error}; use fewer clients, or raise the limit of processes (ulimit -u)"
    )]
    Thread {
        /// Whose.
        client: u32,
        /// What the system said.
        error: std::io::Error,
    },
}

/// Drives each client on a thread of its own and returns when all have ended.
///
/// Where a backend declares [`Descriptors::Private`], every thread has its own descriptor table and current directory, as real
/// processes have: threads that share them contend in the kernel where separate users would not. The table is unshared and emptied
/// before the session opens, so a session may only use descriptors that it opened itself.
///
/// A client whose session cannot be opened stops the others or is left out, as its job says; its error is in the result, in
/// the order of `jobs`.
pub fn run_threads<R, K, O, S>(
    jobs: Vec<Job<R, K, O>>,
    descriptors: Descriptors,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
) -> Vec<Result<DriveEnd, DriveError>>
where
    R: Recorder + Send,
    K: Client,
    O: FnOnce() -> Result<S, BackendError> + Send,
    S: Into<Opened>,
{
    let first = jobs.first().map_or(0, |job| job.client.options().rank);
    let driven = Driven::new(jobs.len());
    thread::scope(|scope| {
        let builder = || thread::Builder::new().stack_size(STACK_BYTES);
        // Where there is no thread for the heart, there is none for all clients either, which is said.
        let _ = builder().spawn_scoped(scope, || driven.beat(coordinator, clock, first));
        let threads: Vec<_> = jobs
            .into_iter()
            .map(|job| {
                let client = job.client.options().client.0;
                let driving = driven.one();
                let body = move || {
                    let _stops = StopsIfPanicking(coordinator);
                    if descriptors == Descriptors::Private {
                        take_own_descriptor_table();
                    }
                    drive(job, coordinator, clock, driving)
                };
                // The threads that have started would wait for this one at their first meeting.
                builder()
                    .spawn_scoped(scope, body)
                    .inspect_err(|_| coordinator.stop_all())
                    .map_err(|error| DriveError::Thread { client, error })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Who would wait for a client that panics stops.
pub(crate) struct StopsIfPanicking<'a, N: Coordinator>(pub(crate) &'a N);

impl<N: Coordinator> Drop for StopsIfPanicking<'_, N> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop_all();
        }
    }
}

/// Drives one client on the calling thread: the driver for a process that is one client.
///
/// # Errors
/// If the session cannot be opened.
pub fn run_process<R, K, O, S>(
    job: Job<R, K, O>,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
) -> Result<DriveEnd, DriveError>
where
    R: Recorder,
    K: Client,
    O: FnOnce() -> Result<S, BackendError>,
    S: Into<Opened>,
{
    drive(job, coordinator, clock, ())
}

/// Drives one client on the calling thread by a session whose type is known, so that both are compiled into one loop.
///
/// # Errors
/// If the session cannot be opened.
pub(crate) fn drive_known<R, K, S>(
    mut client: ClientLoop<R, K>,
    open: impl FnOnce() -> Result<S, BackendError>,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
) -> Result<DriveEnd, DriveError>
where
    R: Recorder,
    K: Client,
    S: Session,
{
    let start = clock.now();
    client.begin_opening(start, Activity::Working);
    let opened = open();
    client.end_opening(start, clock.now(), code_of(&opened));
    Ok(drive_blocking(client, &mut opened?, coordinator, clock))
}

/// As [`run_process`]; `driving` is dropped when the client has been driven, before what its session has open is closed.
fn drive<R, K, O, S, D>(
    mut job: Job<R, K, O>,
    coordinator: &impl Coordinator,
    clock: &impl Clock,
    driving: D,
) -> Result<DriveEnd, DriveError>
where
    R: Recorder,
    K: Client,
    O: FnOnce() -> Result<S, BackendError>,
    S: Into<Opened>,
{
    let start = clock.now();
    job.client.begin_opening(start, Activity::Working);
    let opened = (job.open)();
    job.client.end_opening(start, clock.now(), code_of(&opened));
    let opened = match opened {
        Ok(opened) => opened.into(),
        Err(error) => {
            return Err(do_without(&mut job.client, job.if_not_open, (coordinator, clock), error.into()));
        }
    };
    match opened {
        Opened::Session(mut session) => {
            job.client.record_marks(session.marks(), 0);
            let end = match session.as_any().and_then(|any| any.downcast_mut::<PosixSession>()) {
                Some(session) => drive_blocking(job.client, session, coordinator, clock),
                None => drive_blocking(job.client, session.as_mut(), coordinator, clock),
            };
            drop(driving);
            Ok(end)
        }
        Opened::Lanes { mut session, lanes } => {
            let end = drive_lanes(job.client, session.as_mut(), lanes, coordinator, clock);
            drop(driving);
            Ok(end)
        }
    }
}

pub(super) fn code_of<S>(opened: &Result<S, BackendError>) -> FailureCode {
    match opened {
        Ok(_) => FailureCode::NONE,
        Err(BackendError::Failed { code, .. } | BackendError::Server { code, .. }) => *code,
        Err(_) => FailureCode::PROTOCOL,
    }
}

/// The client is not driven, for this reason; what becomes of the others is as its job says.
pub(super) fn do_without<R: Recorder, K: Client>(
    client: &mut ClientLoop<R, K>,
    if_not_open: IfNotOpen,
    (coordinator, clock): (&impl Coordinator, &impl Clock),
    error: DriveError,
) -> DriveError {
    client.recorder.set_activity(Activity::Ended);
    match if_not_open {
        IfNotOpen::StopAll => coordinator.stop_all(),
        IfNotOpen::GoOn => coordinator.give_up(client.options().rank, clock.now()),
    }
    error
}

/// Whether this system lets threads have descriptor tables of their own; containers often refuse. Where it does not,
/// clients share one, and contend for it in the kernel as separate users would not.
pub fn can_unshare() -> bool {
    // SAFETY: the thread ends right after; it owns no descriptor.
    let unshare = || unsafe { unshare_unsafe(UnshareFlags::FILES | UnshareFlags::FS) }.is_ok();
    thread::Builder::new().spawn(unshare).is_ok_and(|thread| thread.join().unwrap_or(false))
}

fn take_own_descriptor_table() {
    // SAFETY: the thread has just started; it owns no descriptor and refers to none that it did not open itself (the contract
    // of `Descriptors::Private`), so no `OwnedFd` of another thread is invalidated by closing this thread's copies.
    let unshared = unsafe { unshare_unsafe(UnshareFlags::FILES | UnshareFlags::FS) };
    // Threads share their credentials, whose count of references every open and close changes: on two processors that is a
    // cache line going to and fro. Setting a flag to the value that it has makes the kernel copy them.
    // SAFETY: changes nothing but a flag of this thread that is not set.
    unsafe { libc::prctl(libc::PR_SET_KEEPCAPS, 0_u64, 0_u64, 0_u64, 0_u64) };
    if unshared.is_ok() {
        // Not closing them is harmless for correctness, so a kernel without close_range (before 5.9) is fine.
        // SAFETY: as above; the standard streams stay open.
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    }
}
