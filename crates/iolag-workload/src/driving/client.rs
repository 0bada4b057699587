//! The client as a state machine.

use std::num::NonZeroU64;

use iolag_backend::{Completion, Request};
use iolag_model::{AttemptId, ClientId, Meeting, MonotonicTime, Nanoseconds, Operation, Sample, StageIndex};

/// One simulated user or job: yields operations, knows neither clocks nor threads nor files.
///
/// The driver calls [`Client::next`]; after [`Step::Execute`] it calls [`Client::completed`] exactly once before the next
/// `next`; after [`Step::Begin`] and [`Step::Agree`] it calls [`Client::met`] exactly once, unless the run was stopped.
///
/// A client with several requests in flight ([`crate::drive_lanes`]) is asked for its next step while they are, and `completed` names
/// the one that ended, in the order in which they do; every other step finds none in flight.
pub trait Client: Send {
    /// What to do next, `now` being the end of the last operation.
    fn next(&mut self, now: MonotonicTime) -> Step;

    /// What became of the request that `next` yielded.
    fn completed(&mut self, request: &Request, done: &Done);

    /// Whether this request, which failed, is what `next` will yield again: then it is recorded as retried, and what came of it is
    /// the attempt after it. Asked before `completed`, and only of failures: what timed out, or was cut off, is that.
    fn asks_again(&self, _request: &Request, _done: &Done) -> bool {
        false
    }

    /// What the target or a program said of the request that has failed just now.
    fn explained(&mut self, _said: &str) {}

    /// All clients have met: the stage begins, or these are the values that they brought.
    fn met(&mut self, _meeting: &Meeting, _now: MonotonicTime) {}

    /// The first request since they met is about to start: they have waited for each other.
    fn starts(&mut self) {}

    /// From when on its stage is counted.
    fn stage_counts_from(&self) -> CountsFrom {
        CountsFrom::FirstOperation
    }

    /// What is still to be recorded when the client is stopped; asked until there is nothing.
    fn last_note(&mut self) -> Option<Note> {
        None
    }
}

/// From when on a client's stage is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountsFrom {
    /// From the start of its first operation.
    FirstOperation,
    /// From so long after the moment at which all begin, whether it had a processor then or not.
    Meeting(Nanoseconds),
}

impl<K: Client + ?Sized> Client for Box<K> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        (**self).next(now)
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        (**self).completed(request, done);
    }

    fn asks_again(&self, request: &Request, done: &Done) -> bool {
        (**self).asks_again(request, done)
    }

    fn explained(&mut self, said: &str) {
        (**self).explained(said);
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        (**self).met(meeting, now);
    }

    fn starts(&mut self) {
        (**self).starts();
    }

    fn stage_counts_from(&self) -> CountsFrom {
        (**self).stage_counts_from()
    }

    fn last_note(&mut self) -> Option<Note> {
        (**self).last_note()
    }
}

/// What a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Execute this, as soon as possible or not before the intended moment.
    Execute {
        /// What to ask.
        request: Request,
        /// When it should start; `None` is at once.
        intended: Option<MonotonicTime>,
    },
    /// Wait for the other clients, then begin this stage. The value is shown to them.
    Begin {
        /// The stage that the following samples belong to.
        stage: StageIndex,
        /// What this client tells the others.
        value: u64,
    },
    /// What follows belongs to this stage, which this client enters without waiting for anybody: it is no work that is to be done.
    Enter {
        /// The stage that the following samples belong to.
        stage: StageIndex,
    },
    /// Wait for the other clients and learn their values, within the stage.
    Agree {
        /// What this client tells the others.
        value: u64,
    },
    /// Do nothing until this moment, then ask again: for a client that decides only then.
    Pause {
        /// Until when.
        until: MonotonicTime,
    },
    /// Record something that is no execution of a request: one that was due and was not made, or a part of one.
    Note(Note),
    /// The stage is over for this client.
    End,
    /// The stage is ended for this client before it was done, because it took so long: it timed out.
    TimeOut {
        /// How long it may take.
        limit: Nanoseconds,
    },
    /// Nothing is left to do.
    Finished,
}

/// Something to be recorded that the loop did not execute itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What; the loop gives it its attempt and its stage.
    pub sample: Sample,
    /// The number of the attempt, for one that the keeper may have to record in the client's place; without, the next.
    pub number: Option<NonZeroU64>,
    /// Which probe stood in the way, counted from 1.
    pub blocker: Option<NonZeroU64>,
}

impl Note {
    /// What the processors did in a stage that began then, for all clients of the process that are done.
    pub fn processor_time(begin: MonotonicTime, taken: Nanoseconds) -> Self {
        // The loop gives it its attempt.
        let attempt = AttemptId::new(ClientId(0), 0);
        let sample = Sample::new(attempt, Operation::ProcessorTime, begin, begin, taken);
        Self { sample, number: None, blocker: None }
    }
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// What came back.
    pub completion: Completion,
    /// When it started.
    pub start: MonotonicTime,
    /// When it ended.
    pub end: MonotonicTime,
}
