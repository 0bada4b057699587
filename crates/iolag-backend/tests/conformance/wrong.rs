//! Backends that are wrong on purpose: a rule notices, and its sentence says what was declared.

use std::fs::File;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use iolag_backend::conformance::conformance;
use iolag_backend::{
    AsyncExecution, AsyncOpening, AsyncSession, Backend, BackendError, Capabilities, Completion, Datasets,
    Description, Descriptors, FullDataset, Inventory, Leftover, Mark, Place, PosixBackend, Queue, Request,
    Semantics, Session, SessionOptions, WORKING_NAME,
};
use iolag_model::{Clock, ErrorClass, MonotonicClock, Nanoseconds, Operation, PlaceMaker};

use crate::{fresh_directory, from_text, toy};

/// In which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It deletes what is missing.
    Deletes,
    /// It declares that datasets are implied, and needs them.
    NeedsDatasets,
    /// It removes a place whoever has made it.
    RemovesForAnybody,
    /// Its sessions use what the process has opened.
    UsesTheProcess,
    /// It asks before it is polled.
    AsksUnpolled,
    /// Its sessions forget no mark, in the asynchronous form.
    KeepsMarks,
    /// Its sessions mark what goes on after the request, in the blocking form.
    MarksTooMuch,
    /// Its sessions mark what is no part of a request.
    MarksReads,
}

/// Another backend, with a fault.
struct Wrong {
    fault: Fault,
    inner: Box<dyn Backend>,
    opened: Arc<File>,
}

impl Wrong {
    fn session<S: ?Sized>(&self, inner: Box<S>) -> Box<WrongSession<S>> {
        let (opened, marks) = (Arc::clone(&self.opened), Vec::new());
        Box::new(WrongSession { fault: self.fault, opened, marks, inner })
    }
}

impl Backend for Wrong {
    fn describe(&self) -> Description {
        self.inner.describe()
    }

    fn capabilities(&self) -> Capabilities {
        let Capabilities { mut operations, semantics } = self.inner.capabilities();
        let semantics = match self.fault {
            Fault::NeedsDatasets => {
                let of_datasets = [Operation::MakeDirectory, Operation::RemoveDirectory];
                operations.retain(|operation| !of_datasets.contains(operation));
                let (datasets, full_dataset) = (Datasets::Implied, FullDataset::NotRemovable);
                Semantics { datasets, full_dataset, ..semantics }
            }
            Fault::UsesTheProcess => Semantics { descriptors: Descriptors::Private, ..semantics },
            _ => semantics,
        };
        Capabilities { operations, semantics: Semantics { queue: Queue::None, ..semantics } }
    }

    fn expect_place(&self, place: &Place) {
        if self.fault != Fault::RemovesForAnybody {
            self.inner.expect_place(place);
        }
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        self.inner.create_place(maker)
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        self.inner.reopen_place()
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        Ok(self.session(self.inner.open_session(options)?))
    }

    fn open_async_session<'a>(&'a self, options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        let inner = self.inner.open_async_session(options)?;
        Some(Box::pin(async { Ok(self.session(inner.await?) as Box<dyn AsyncSession>) }))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        self.inner.inventory(rank, dataset)
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.inner.remove_place()
    }
}

struct WrongSession<S: ?Sized> {
    fault: Fault,
    opened: Arc<File>,
    marks: Vec<Mark>,
    inner: Box<S>,
}

impl<S: ?Sized> WrongSession<S> {
    fn mark(&mut self, operation: Operation, milliseconds: u64) {
        let duration = Nanoseconds::from_milliseconds(milliseconds);
        self.marks.push(Mark { operation, start: MonotonicClock.now(), duration });
    }
}

impl Session for WrongSession<dyn Session> {
    fn prepare(&mut self, request: &Request) {
        self.inner.prepare(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        self.marks.clear();
        match self.fault {
            Fault::MarksTooMuch => self.mark(Operation::CallFirstByte, 60_000),
            Fault::MarksReads => self.mark(Operation::CallRead, 0),
            _ => {}
        }
        let completion = match self.opened.metadata() {
            Err(_) if self.fault == Fault::UsesTheProcess => {
                return Completion::failed(iolag_model::FailureCode::PROTOCOL);
            }
            _ => self.inner.execute(request),
        };
        match completion.code.class() {
            ErrorClass::NotFound
                if self.fault == Fault::Deletes && request.operation == Operation::Delete =>
            {
                Completion::ok(0)
            }
            _ => completion,
        }
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

impl AsyncSession for WrongSession<dyn AsyncSession> {
    fn prepare(&mut self, request: &Request) {
        self.inner.prepare(request);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        if self.fault == Fault::KeepsMarks {
            return Box::pin(async move {
                self.mark(Operation::CallFirstByte, 0);
                self.inner.execute(request).await
            });
        }
        let mut execution = self.inner.execute(request);
        if self.fault == Fault::AsksUnpolled
            && let Poll::Ready(completion) = execution.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            return Box::pin(ready(completion));
        }
        execution
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.inner.inspect(request, completion)
    }

    fn marks(&self) -> &[Mark] {
        &self.marks
    }
}

/// Which rule notices the fault: what it says.
fn noticed(fault: Fault, inner: impl Fn() -> Box<dyn Backend>) -> String {
    let opened = Arc::new(File::open("/dev/null").unwrap());
    let wrong =
        || -> Box<dyn Backend> { Box::new(Wrong { fault, inner: inner(), opened: Arc::clone(&opened) }) };
    let broken = catch_unwind(AssertUnwindSafe(|| conformance(wrong)));
    *broken.expect_err("no rule notices the fault").downcast::<String>().unwrap()
}

fn in_memory() -> Box<dyn Backend> {
    from_text("memory:")
}

#[track_caller]
fn says(sentence: &str, parts: &[&str]) {
    for part in parts {
        assert!(sentence.contains(part), "{part:?} is not in: {sentence}");
    }
}

#[test]
fn who_deletes_what_is_missing_must_declare_it() {
    says(&noticed(Fault::Deletes, in_memory), &["NotFound is declared", "operation: Delete"]);
}

#[test]
fn who_needs_datasets_must_not_call_them_implied() {
    says(&noticed(Fault::NeedsDatasets, in_memory), &["Implied is declared", "operation: List"]);
}

#[test]
fn who_removes_the_place_of_another_run_is_found_out() {
    let root = tempfile::tempdir().unwrap();
    let directory = || -> Box<dyn Backend> {
        Box::new(PosixBackend::new(fresh_directory(root.path()), WORKING_NAME).unwrap())
    };
    says(&noticed(Fault::RemovesForAnybody, directory), &["Identity is declared", "clean-up for Some"]);
}

#[test]
fn who_removes_a_place_without_the_marker_of_its_run_is_found_out() {
    says(&noticed(Fault::RemovesForAnybody, toy), &["Marker is declared", "clean-up for Some"]);
}

#[test]
fn who_uses_what_the_process_has_opened_must_declare_it() {
    says(&noticed(Fault::UsesTheProcess, in_memory), &["MakeDirectory", "must succeed"]);
}

#[test]
fn who_asks_before_it_is_polled_is_found_out() {
    says(&noticed(Fault::AsksUnpolled, in_memory), &["operation: Create", "was never polled"]);
}

#[test]
fn who_marks_what_lies_without_its_request_is_found_out() {
    says(
        &noticed(Fault::KeepsMarks, in_memory),
        &["read and the parts before it have begun", "CallFirstByte"],
    );
    says(&noticed(Fault::MarksTooMuch, in_memory), &["has ended when create has", "CallFirstByte"]);
}

#[test]
fn who_marks_what_is_no_part_of_a_request_is_found_out() {
    says(&noticed(Fault::MarksReads, in_memory), &["call.read is no part of a request", "create"]);
}
