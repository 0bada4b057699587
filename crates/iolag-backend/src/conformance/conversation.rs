//! Asking a session of either form, one request after the other.

use iolag_model::{ClientId, ErrorClass, Operation, Verification};

use super::maker::maker;
use crate::{AsyncSession, Backend, Completion, ObjectKey, Place, Request, Session, SessionOptions};

/// The longest object of the suite.
pub(super) const BYTES_MAX: u64 = 1 << 20;

/// What is tested.
pub(super) struct Subject<'a> {
    pub(super) make: &'a dyn Fn() -> Box<dyn Backend>,
    pub(super) plant: Option<&'a dyn Fn(&Place) -> usize>,
}

/// Which form of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Blocking,
    Asynchronous,
}

impl Subject<'_> {
    /// A backend with its working place made, in a target of its own.
    pub(super) fn backend(&self) -> Box<dyn Backend> {
        let backend = (self.make)();
        backend.create_place(&maker()).expect("a place can be made in a target with nothing in it");
        backend
    }

    /// Whether the backend has this form.
    pub(super) fn has(&self, form: Form) -> bool {
        form == Form::Blocking || self.backend().open_async_session(&options()).is_some()
    }
}

/// Options of a session that compares content.
pub(super) fn options() -> SessionOptions {
    SessionOptions { verification: Verification::Content, ..SessionOptions::new(ClientId(0), 0, 7, 4096) }
}

/// Object `index` of dataset 0 of rank 0.
pub(super) fn object(index: u64) -> ObjectKey {
    ObjectKey { rank: 0, dataset: 0, index }
}

/// A session of either form.
pub(super) enum Conversation {
    Blocking(Box<dyn Session>),
    Asynchronous(Box<dyn AsyncSession>, tokio::runtime::Runtime),
}

impl Conversation {
    /// Opens a session.
    pub(super) fn open(backend: &dyn Backend, form: Form, options: &SessionOptions) -> Self {
        match form {
            Form::Blocking => Self::Blocking(
                backend.open_session(options).expect("a session opens in a place that was made"),
            ),
            Form::Asynchronous => {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime needs a descriptor or two");
                let opening = backend
                    .open_async_session(options)
                    .expect("a backend that has an asynchronous form has it always");
                let session = runtime
                    .block_on(opening)
                    .expect("an asynchronous session opens in a place that was made");
                Self::Asynchronous(session, runtime)
            }
        }
    }

    /// A session with dataset 0 of rank 0 made.
    pub(super) fn with_dataset(backend: &dyn Backend, form: Form) -> Self {
        let mut session = Self::open(backend, form, &options());
        session.must(Request::new(Operation::MakeDirectory, object(0), 0));
        session
    }

    /// Prepares, executes and inspects.
    pub(super) fn ask(&mut self, request: Request) -> Completion {
        match self {
            Self::Blocking(session) => {
                session.prepare(&request);
                let completion = session.execute(&request);
                session.inspect(&request, completion)
            }
            Self::Asynchronous(session, runtime) => {
                session.prepare(&request);
                let completion = runtime.block_on(session.execute(&request));
                session.inspect(&request, completion)
            }
        }
    }

    /// Asks for something that must succeed; returns the bytes.
    #[track_caller]
    pub(super) fn must(&mut self, request: Request) -> u64 {
        let completion = self.ask(request);
        assert!(completion.is_ok(), "{request:?} must succeed, the answer was {}", completion.code);
        completion.bytes
    }

    /// Asks for something that must fail in this way.
    #[track_caller]
    pub(super) fn must_fail(&mut self, request: Request, class: ErrorClass) {
        let completion = self.ask(request);
        assert_eq!(completion.code.class(), class, "{request:?}, the answer was {}", completion.code);
    }
}
