//! Probes that are tasks: each is a process of its own, which is ended at the deadline.
//!
//! A whole probe lasts from before the fork until everything that the task has started is gone. Its part is the task alone, from
//! its begin to its end as the process itself stamped them: what starting and ending a process costs is the difference.

use std::any::Any;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::Sender;

use iolag_backend::{BackendError, Completion, Mark, Request, Session};
use iolag_keeper::Exchange;
use iolag_model::{Clock, Coordinator as _, FailureCode, MonotonicClock, Nanoseconds, Operation};
use iolag_watch::Stamps;
use iolag_workload::{Part, TaskSpec};
use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

use crate::ping::flight::PingFlight;
use crate::programs::{start_program, wait_for_end};

/// The directory of the task in the working directory; clean-up removes all that is below such names.
const TASK: &str = "check-task";
/// Between asking a program to end and ending it.
const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);

/// Executes [`Operation::Probe`] as a task in a process of its own.
pub struct ProgramSession {
    directory: OwnedFd,
    task: TaskSpec,
    deadline: Nanoseconds,
    parts: Sender<Part>,
    flight: PingFlight,
    exchange: Exchange,
    stamps: Option<Stamps>,
    message: Option<String>,
}

impl ProgramSession {
    /// Makes and opens the directory of the task in the working directory `place`.
    ///
    /// # Errors
    /// If that is not possible.
    pub fn open(
        place: &OwnedFd,
        task: &TaskSpec,
        deadline: Nanoseconds,
        parts: Sender<Part>,
        flight: PingFlight,
        exchange: Exchange,
    ) -> Result<Self, BackendError> {
        let failed = |action| {
            move |errno: Errno| {
                let code = FailureCode::from(errno);
                BackendError::Failed { action, path: TASK.to_owned(), class: code.class(), code }
            }
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        mkdirat(place, TASK, Mode::RWXU).map_err(failed("make the directory of the task,"))?;
        let directory =
            openat(place, TASK, flags, Mode::empty()).map_err(failed("open the directory of the task,"))?;
        let task = task.clone();
        Ok(Self { directory, task, deadline, parts, flight, exchange, stamps: None, message: None })
    }

    fn probe(&mut self, number: u64) -> Completion {
        let Some(stamps) = &self.stamps else { return self.failed("there is no memory for its stamps") };
        let end = MonotonicClock.now().after(self.deadline);
        let started = start_program(self.directory.as_fd(), &self.task, number, stamps);
        let mut process = match started {
            Ok(process) => process,
            Err(error) => return self.failed(&error.to_string()),
        };
        self.flight.executes(process.id());
        let is_stopped = || self.exchange.coordinator().is_stopped(0);
        let cut = wait_for_end(&mut process, stamps, end, GRACE, is_stopped);
        self.flight.executes(0);
        match cut {
            Some(code) => Completion::failed(code),
            None => ended(stamps),
        }
    }

    fn failed(&mut self, why: &str) -> Completion {
        self.message = Some(format!("the probe could not be started: {why}"));
        Completion::failed(FailureCode::from_errno(libc::EAGAIN))
    }
}

/// What a probe that ended by itself has said.
fn ended(stamps: &Stamps) -> Completion {
    match (stamps.preparation_failure(), stamps.part(0).end) {
        (Some(failure), _) => Completion::failed(failure.failure),
        (None, Some((_, ending))) if ending.failure == FailureCode::NONE => Completion::ok(0),
        (None, Some((_, ending))) => Completion::failed(ending.failure),
        (None, None) => Completion::failed(FailureCode::ABANDONED),
    }
}

#[deny(clippy::missing_trait_methods)]
impl Session for ProgramSession {
    fn prepare(&mut self, _request: &Request) {
        self.message = None;
        self.flight.begins(Operation::Probe);
        self.stamps = Stamps::new().ok();
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::Probe => self.probe(request.key.index),
            _ => Completion::failed(FailureCode::from_errno(libc::ENOTSUP)),
        }
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&mut self, _request: &Request, completion: Completion) -> Completion {
        let Some(stamps) = self.stamps.take() else { return completion };
        self.message = self.message.take().or_else(|| Some(stamps.preparation_failure()?.sentence));
        let task = stamps.part(0);
        if let (Some(operation), Some(start), Some((end, _))) = (self.task.operation(), task.begin, task.end)
            && completion.is_ok()
        {
            // Nobody listens any more only if the client is gone, and then nobody asks.
            let _ = self.parts.send(Part { operation, start, end, completion });
        }
        completion
    }

    fn message(&mut self) -> Option<String> {
        self.message.take()
    }

    /// What a probe consists of is told part by part.
    fn marks(&self) -> &[Mark] {
        &[]
    }

    /// The probes would be passed by.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}
