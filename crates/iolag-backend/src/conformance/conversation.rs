//! Asking a session of either form, one request after the other.

use std::fmt::Debug;

use iolag_model::{
    ClientId, Clock, ErrorClass, FailureOrigin, MonotonicClock, MonotonicTime, Operation, Verification,
};

use tokio::runtime::{Builder, Runtime};

use super::maker::maker;
use crate::{
    AsyncSession, Backend, BackendError, Completion, Datasets, LaneSession, Mark, ObjectKey, Place, Queue,
    Request, Semantics, Session, SessionOpening, SessionOptions, ring_refusal,
};

/// The longest object of the suite.
pub(super) const BYTES_MAX: u64 = 1 << 20;

/// What somebody else has put into a working place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planted {
    /// So many things beside the datasets.
    pub beside: u64,
    /// So many into dataset `0_0`; none where a dataset can have nothing but objects in it.
    pub in_dataset: u64,
}

/// What is tested.
pub(super) struct Subject<'a> {
    pub(super) make: &'a dyn Fn() -> Box<dyn Backend>,
    pub(super) plant: Option<&'a dyn Fn(&Place) -> Planted>,
}

/// Which form of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Blocking,
    Asynchronous,
    Lanes,
}

/// Lanes of a session of the suite.
const LANES: u32 = 3;

impl Subject<'_> {
    /// A backend with its working place made, in a target of its own.
    pub(super) fn backend(&self) -> Box<dyn Backend> {
        let backend = (self.make)();
        backend.create_place(&maker()).expect("a place can be made in a target with nothing in it");
        backend
    }

    /// What the backend declares.
    pub(super) fn semantics(&self) -> Semantics {
        (self.make)().capabilities().semantics
    }

    /// The forms that its sessions have.
    pub(super) fn forms(&self) -> Vec<Form> {
        let semantics = self.semantics();
        let mut forms = vec![Form::Blocking];
        if let SessionOpening::Asynchronous { .. } = semantics.opening {
            forms.push(Form::Asynchronous);
        }
        match semantics.queue {
            Queue::None => {}
            Queue::Kernel if ring_refusal().is_some() => {}
            Queue::Kernel | Queue::Process => forms.push(Form::Lanes),
        }
        forms
    }
}

/// Whether the backend declares all of these.
pub(super) fn declares(backend: &dyn Backend, operations: &[Operation]) -> bool {
    backend.capabilities().missing(operations).is_none()
}

/// Options of a session that compares content.
pub(super) fn options() -> SessionOptions {
    SessionOptions { verification: Verification::Content, ..SessionOptions::new(ClientId(0), 0, 7, 4096) }
}

/// Object `index` of dataset 0 of rank 0.
pub(super) fn object(index: u64) -> ObjectKey {
    ObjectKey { rank: 0, dataset: 0, index }
}

/// `operation` on object `index` of dataset 0 of rank 0.
pub(super) fn request(operation: Operation, index: u64, bytes: u64) -> Request {
    Request::new(operation, object(index), bytes)
}

/// Where the asynchronous form lives.
pub(super) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime needs a descriptor or two")
}

/// A session of either form.
pub(super) enum Conversation {
    Blocking(Box<dyn Session>),
    Asynchronous(Box<dyn AsyncSession>, Runtime),
    /// Asked in one lane after the other.
    Lanes {
        session: Box<dyn LaneSession>,
        next: u32,
    },
}

impl Conversation {
    /// Opens a session in a place that was made.
    pub(super) fn open(backend: &dyn Backend, form: Form, options: &SessionOptions) -> Self {
        Self::try_open(backend, form, options).expect("a session opens in a place that was made")
    }

    /// Opens a session, if the backend lets it.
    pub(super) fn try_open(
        backend: &dyn Backend,
        form: Form,
        options: &SessionOptions,
    ) -> Result<Self, BackendError> {
        Ok(match form {
            Form::Blocking => Self::Blocking(backend.open_session(options)?),
            Form::Lanes => {
                let opened = backend.open_lanes(options, LANES);
                let session = opened.expect("a backend that declares a queue has it always")?;
                Self::Lanes { session, next: 0 }
            }
            Form::Asynchronous => {
                let runtime = runtime();
                let opening = backend
                    .open_async_session(options)
                    .expect("a backend that declares an asynchronous form has it always");
                let session = runtime.block_on(opening)?;
                Self::Asynchronous(session, runtime)
            }
        })
    }

    /// A session with dataset 0 of rank 0 made.
    pub(super) fn with_dataset(backend: &dyn Backend, form: Form) -> Self {
        let mut session = Self::open(backend, form, &options());
        session.make_dataset(backend, object(0));
        session
    }

    /// A session with something in dataset 0 of rank 0: an object, or the dataset itself where that is something.
    pub(super) fn with_working_set(backend: &dyn Backend, form: Form) -> Self {
        let mut session = Self::with_dataset(backend, form);
        if backend.capabilities().semantics.datasets == Datasets::Implied {
            session.must(request(Operation::Create, 0, 1));
        }
        session
    }

    /// Makes this object's dataset, where datasets are made.
    pub(super) fn make_dataset(&mut self, backend: &dyn Backend, key: ObjectKey) {
        if backend.capabilities().semantics.datasets == Datasets::Made {
            self.must(Request::new(Operation::MakeDirectory, key, 0));
        }
    }

    /// Prepares, executes and inspects.
    pub(super) fn ask(&mut self, request: Request) -> Completion {
        self.ask_timed(request).0
    }

    /// The same, and from when to when it was executed.
    pub(super) fn ask_timed(&mut self, request: Request) -> (Completion, [MonotonicTime; 2]) {
        let now = || MonotonicClock.now();
        match self {
            Self::Blocking(session) => {
                session.prepare(&request);
                let (begin, completion, end) = (now(), session.execute(&request), now());
                (session.inspect(&request, completion), [begin, end])
            }
            Self::Lanes { session, next } => {
                let lane = std::mem::replace(next, (*next + 1) % LANES);
                session.prepare(lane, &request);
                let begin = now();
                session.submit(lane, &request);
                let ended = session.await_any(MonotonicTime(u64::MAX));
                let (ended, completion) = ended.expect("what was submitted ends");
                let end = now();
                assert_eq!(ended, lane, "only lane {lane} was asked");
                (session.inspect(lane, &request, completion), [begin, end])
            }
            Self::Asynchronous(session, runtime) => {
                session.prepare(&request);
                let execution = session.execute(&request);
                let (begin, completion, end) = (now(), runtime.block_on(execution), now());
                (session.inspect(&request, completion), [begin, end])
            }
        }
    }

    /// The parts of the last request, or of the opening.
    pub(super) fn marks(&self) -> &[Mark] {
        match self {
            Self::Blocking(session) => session.marks(),
            Self::Asynchronous(session, _) => session.marks(),
            Self::Lanes { .. } => &[],
        }
    }

    /// Asks for something that must succeed; returns the bytes.
    #[track_caller]
    pub(super) fn must(&mut self, request: Request) -> u64 {
        let completion = self.ask(request);
        assert!(completion.is_ok(), "{request:?} must succeed, the answer was {}", completion.code);
        completion.bytes
    }

    /// Asks for an object in a dataset that is not there. A server may have no better word for it than that it failed: nginx answers 500.
    #[track_caller]
    pub(super) fn must_miss_dataset(&mut self, request: Request) {
        let code = self.ask(request).code;
        let is_told = match code.origin() {
            FailureOrigin::Http(_) => matches!(code.class(), ErrorClass::NotFound | ErrorClass::Server),
            _ => code.class() == ErrorClass::NotFound,
        };
        assert!(is_told, "{request:?} without its dataset was answered by {code}");
    }

    /// Asks for something of which the answer depends on what is declared.
    #[track_caller]
    pub(super) fn must_as(
        &mut self,
        declared: impl Debug,
        request: Request,
        wanted: Result<u64, ErrorClass>,
    ) {
        let completion = self.ask(request);
        let answer = if completion.is_ok() { Ok(completion.bytes) } else { Err(completion.code.class()) };
        assert_eq!(
            answer, wanted,
            "{declared:?} is declared, {request:?} was answered by {}",
            completion.code
        );
    }

    /// Asks for something that must fail in this way.
    #[track_caller]
    pub(super) fn must_fail(&mut self, request: Request, class: ErrorClass) {
        let completion = self.ask(request);
        assert_eq!(completion.code.class(), class, "{request:?}, the answer was {}", completion.code);
    }
}
