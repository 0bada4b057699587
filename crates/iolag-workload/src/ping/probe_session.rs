//! A session that executes a whole probe as one operation: stat of a file, open and read of it, create of another; of an object that has
//! a name of its own only stat and read.
//!
//! The probe lasts from before its first operation to after its last. The first one is made ready before; between them stand the
//! preparation of a name, of the second a buffer as well, and three readings of the clock: docs/ping.md says what that takes. Removing the created file is not part of it; the
//! client asks for that afterwards. No program is started.

use std::any::Any;
use std::sync::mpsc::Sender;

use iolag_backend::{BackendError, Completion, Datasets, Mark, ObjectKey, Request, Session};
use iolag_model::{AttemptId, Clock, ErrorClass, FailureCode, MonotonicTime, Operation, Outcome, Sample};

/// What a probe consists of, in this order. The first that fails ends it.
pub const PROBED: [Operation; 3] = [Operation::Stat, Operation::Read, Operation::Create];
/// The same where nothing is made.
pub(crate) const PROBED_BY_NAME: &[Operation] = PROBED.split_at(2).0;

/// What probes ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbedObject {
    /// Objects of so many bytes, the first of which is made when the session opens.
    Made {
        /// How long they are.
        bytes: u64,
        /// Whether a dataset is made for them.
        datasets: Datasets,
    },
    /// One that is there, with the first name of the session's.
    Named,
}

impl ProbedObject {
    const fn kept(self) -> ObjectKey {
        match self {
            Self::Made { .. } => KEPT,
            Self::Named => ObjectKey::named(0),
        }
    }

    const fn bytes(self) -> u64 {
        match self {
            Self::Made { bytes, .. } => bytes,
            Self::Named => Request::TO_THE_END,
        }
    }

    const fn operations(self) -> &'static [Operation] {
        match self {
            Self::Made { .. } => &PROBED,
            Self::Named => PROBED_BY_NAME,
        }
    }

    /// What has to be there before the first probe.
    const fn preparations(self) -> &'static [(Operation, &'static str)] {
        const DATASET: (Operation, &str) = (Operation::MakeDirectory, "make the directory for");
        const OBJECT: (Operation, &str) = (Operation::Create, "make");
        match self {
            Self::Made { datasets: Datasets::Made, .. } => &[DATASET, OBJECT],
            Self::Made { datasets: Datasets::Implied, .. } => &[OBJECT],
            Self::Named => &[],
        }
    }
}

/// One operation of a probe that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Which.
    pub operation: Operation,
    /// When it started.
    pub start: MonotonicTime,
    /// When it ended.
    pub end: MonotonicTime,
    /// What came back.
    pub completion: Completion,
}

impl Part {
    /// As a sample of a probe that was due at `due`. A deadline is a whole probe's: no part is late by itself.
    pub(crate) fn sample(&self, due: MonotonicTime) -> Sample {
        let outcome = if self.completion.is_ok() { Outcome::Ok } else { Outcome::Error };
        Sample::new(AttemptId(0), self.operation, due, self.start, self.end.since(self.start))
            .with_outcome(outcome, self.completion.code)
            .with_bytes(self.completion.bytes)
    }
}

/// Executes [`Operation::Probe`]; everything else is the inner session's.
pub struct ProbeSession<C, W> {
    inner: Box<dyn Session>,
    clock: C,
    object: ProbedObject,
    parts: Sender<Part>,
    /// Told which operation begins, in time for who watches a hang.
    begins: W,
    /// Parts of the last probe, sent after its end.
    done: [Option<Part>; PROBED.len()],
    /// Whether the last create failed: then there may be a file to remove, or none.
    has_failed_to_create: bool,
}

/// The object that is looked at and read.
const KEPT: ObjectKey = ObjectKey { rank: 0, dataset: 0, index: 0 };

impl<C: Clock, W: FnMut(Operation) + Send> ProbeSession<C, W> {
    /// Makes what probes look at, if it is to be made, untimed, with a session in an empty working place.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(
        mut inner: Box<dyn Session>,
        clock: C,
        object: ProbedObject,
        parts: Sender<Part>,
        begins: W,
    ) -> Result<Self, BackendError> {
        for (operation, action) in object.preparations().iter().copied() {
            let request = Request::new(operation, object.kept(), object.bytes());
            inner.prepare(&request);
            let code = inner.execute(&request).code;
            if code != FailureCode::NONE {
                let path = "the file that is to be probed".to_owned();
                return Err(BackendError::Failed { action, path, class: code.class(), code });
            }
        }
        Ok(Self {
            inner,
            clock,
            object,
            parts,
            begins,
            done: [None; PROBED.len()],
            has_failed_to_create: false,
        })
    }

    fn probe(&mut self, created: ObjectKey) -> Completion {
        let mut bytes = 0;
        for (operation, done) in self.object.operations().iter().copied().zip(&mut self.done) {
            let key = if operation == Operation::Create { created } else { self.object.kept() };
            let request = Request::new(operation, key, self.object.bytes());
            // The first one is made ready before the probe begins.
            if operation != PROBED[0] {
                self.inner.prepare(&request);
            }
            (self.begins)(operation);
            let start = self.clock.now();
            let completion = self.inner.execute(&request);
            let end = self.clock.now();
            *done = Some(Part { operation, start, end, completion });
            self.has_failed_to_create = operation == Operation::Create && !completion.is_ok();
            bytes += completion.bytes;
            if !completion.is_ok() {
                return completion;
            }
        }
        Completion::ok(bytes)
    }
}

#[deny(clippy::missing_trait_methods)]
impl<C: Clock, W: FnMut(Operation) + Send> Session for ProbeSession<C, W> {
    fn prepare(&mut self, request: &Request) {
        self.done = [None; PROBED.len()];
        if request.operation == Operation::Probe {
            self.inner.prepare(&Request::new(PROBED[0], self.object.kept(), self.object.bytes()));
        } else {
            self.inner.prepare(request);
            (self.begins)(request.operation);
        }
    }

    fn execute(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::Probe => self.probe(request.key),
            _ => self.inner.execute(request),
        }
    }

    fn inspects(&self) -> bool {
        true
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        if request.operation != Operation::Probe {
            let is_nothing_there = completion.code.class() == ErrorClass::NotFound;
            if request.operation == Operation::Delete && self.has_failed_to_create && is_nothing_there {
                // The target did nothing wrong.
                return Completion::ok(0);
            }
            return self.inner.inspect(request, completion);
        }
        for part in self.done.iter_mut().filter_map(Option::take) {
            // Nobody listens any more only if the client is gone, and then nobody asks.
            let _ = self.parts.send(part);
        }
        completion
    }

    fn message(&mut self) -> Option<String> {
        self.inner.message()
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
