//! The client as a state machine.

use iolag_backend::{Completion, Request};
use iolag_model::{Meeting, MonotonicTime, StageIndex};

/// One simulated user or job: yields operations, knows neither clocks nor threads nor files.
///
/// The driver calls [`Client::next`]; after [`Step::Execute`] it calls [`Client::completed`] exactly once before the next
/// `next`; after [`Step::Begin`] and [`Step::Agree`] it calls [`Client::met`] exactly once, unless the run was stopped.
pub trait Client: Send {
    /// What to do next, `now` being the end of the last operation.
    fn next(&mut self, now: MonotonicTime) -> Step;

    /// What became of the request that `next` yielded.
    fn completed(&mut self, request: &Request, done: &Done);

    /// All clients have met: the stage begins, or these are the values that they brought.
    fn met(&mut self, _meeting: &Meeting, _now: MonotonicTime) {}
}

impl<K: Client + ?Sized> Client for Box<K> {
    fn next(&mut self, now: MonotonicTime) -> Step {
        (**self).next(now)
    }

    fn completed(&mut self, request: &Request, done: &Done) {
        (**self).completed(request, done);
    }

    fn met(&mut self, meeting: &Meeting, now: MonotonicTime) {
        (**self).met(meeting, now);
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
    /// Wait for the other clients and learn their values, within the stage.
    Agree {
        /// What this client tells the others.
        value: u64,
    },
    /// The stage is over for this client.
    End,
    /// Nothing is left to do.
    Finished,
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
