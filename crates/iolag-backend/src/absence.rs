//! Look-ups that are to find nothing: a program that looks for its modules in ten directories is told nine times that they are not there,
//! and that is no failure.

use iolag_model::{ErrorClass, FailureCode, Operation};

use crate::{Completion, Mark, Request, Session};

/// A session in which stat and open of what is [`Request::ABSENT`] succeed if it is not there, and fail if it is.
pub fn expecting_absence(inner: Box<dyn Session>) -> Box<dyn Session> {
    Box::new(ExpectingAbsence(inner))
}

/// The same of a session whose type is known, so that both are compiled into one.
pub fn expecting_absence_in<S: Session + 'static>(inner: S) -> Box<dyn Session> {
    Box::new(ExpectingAbsence(Box::new(inner)))
}

struct ExpectingAbsence<S: ?Sized>(Box<S>);

impl<S: Session + ?Sized> Session for ExpectingAbsence<S> {
    fn prepare(&mut self, request: &Request) {
        self.0.prepare(request);
    }

    #[inline]
    fn execute(&mut self, request: &Request) -> Completion {
        self.0.execute(request)
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        let looks = matches!(request.operation, Operation::CallStat | Operation::CallOpen);
        if !looks || request.bytes != Request::ABSENT {
            return self.0.inspect(request, completion);
        }
        match completion.code {
            FailureCode::NONE => Completion { code: FailureCode::from_errno(libc::EEXIST), ..completion },
            code if code.class() == ErrorClass::NotFound => {
                Completion { code: FailureCode::NONE, ..completion }
            }
            _ => completion,
        }
    }

    fn message(&mut self) -> Option<String> {
        self.0.message()
    }

    fn marks(&self) -> &[Mark] {
        self.0.marks()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{ObjectKey, SessionOptions, Target, WORKING_NAME};
    use iolag_model::{ClientId, MonotonicClock};

    #[test]
    fn what_is_not_to_be_there_is_found_absent_and_only_that() {
        let target = Target::parse("memory:").unwrap();
        let backend = target.backend(WORKING_NAME, Arc::new(MonotonicClock)).unwrap();
        backend.create_place(&crate::conformance::maker()).unwrap();
        let session = backend.open_session(&SessionOptions::new(ClientId(0), 0, 1, 10)).unwrap();
        let mut session = expecting_absence(session);
        let mut ask = |operation, index, bytes| {
            let request = Request::new(operation, ObjectKey { index, ..ObjectKey::default() }, bytes);
            session.prepare(&request);
            let completion = session.execute(&request);
            session.inspect(&request, completion).code
        };
        assert_eq!(ask(Operation::MakeDirectory, 0, 0), FailureCode::NONE);
        assert_eq!(ask(Operation::Create, 0, 10), FailureCode::NONE);
        for operation in [Operation::CallStat, Operation::CallOpen] {
            assert_eq!(ask(operation, 0, 0), FailureCode::NONE);
            assert_eq!(ask(operation, 1, Request::ABSENT), FailureCode::NONE);
            assert_eq!(
                ask(operation, 1, 0).class(),
                ErrorClass::NotFound,
                "that it is absent is not expected"
            );
            assert_eq!(ask(operation, 0, Request::ABSENT).class(), ErrorClass::Exists);
        }
    }
}
