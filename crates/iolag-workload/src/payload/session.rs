//! The payload as an operation of a session.

use iolag_backend::{Completion, Mark, Request, Session};
use iolag_model::{FailureCode, Operation};

use super::serving::PayloadAsker;

/// What a session knows of the payload of its copy.
#[derive(Debug)]
pub(crate) struct Payload {
    asker: PayloadAsker,
    processor: Option<Mark>,
    said: Option<String>,
}

impl Payload {
    pub(crate) const fn new(asker: PayloadAsker) -> Self {
        Self { asker, processor: None, said: None }
    }

    /// Has it run.
    pub(crate) fn execute(&mut self) -> Completion {
        let end = self.asker.ask();
        self.processor = end.processor.map(|duration| Mark {
            operation: Operation::PayloadProcessorTime,
            start: end.start,
            duration,
        });
        self.said = end.said;
        match end.code {
            FailureCode::NONE => Completion::ok(0),
            code => Completion::failed(code),
        }
    }

    /// What it took of the processors, once it was run.
    pub(crate) const fn marks(&self) -> &[Mark] {
        self.processor.as_slice()
    }

    /// How it failed, once.
    pub(crate) const fn message(&mut self) -> Option<String> {
        self.said.take()
    }
}

/// A session whose last request is the payload of the copy.
pub struct PayloadSession {
    inner: Box<dyn Session>,
    payload: Payload,
}

impl PayloadSession {
    /// Around the one that sets the copy up.
    pub const fn new(inner: Box<dyn Session>, asker: PayloadAsker) -> Self {
        Self { inner, payload: Payload::new(asker) }
    }
}

impl Session for PayloadSession {
    fn prepare(&mut self, request: &Request) {
        if request.operation != Operation::Payload {
            self.inner.prepare(request);
        }
    }

    #[inline]
    fn execute(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::Payload => self.payload.execute(),
            _ => self.inner.execute(request),
        }
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        match request.operation {
            Operation::Payload => completion,
            _ => self.inner.inspect(request, completion),
        }
    }

    fn message(&mut self) -> Option<String> {
        self.payload.message().or_else(|| self.inner.message())
    }

    fn marks(&self) -> &[Mark] {
        match self.payload.marks() {
            [] => self.inner.marks(),
            marks => marks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::program::PayloadProgram;
    use crate::payload::serving::PayloadServer;
    use iolag_backend::ObjectKey;
    use std::fs::File;
    use std::os::fd::AsFd;

    /// Answers whatever is asked.
    struct Fine;

    impl Session for Fine {
        fn prepare(&mut self, request: &Request) {
            assert_ne!(request.operation, Operation::Payload);
        }

        fn execute(&mut self, _request: &Request) -> Completion {
            Completion::ok(7)
        }
    }

    #[test]
    fn the_payload_is_run_and_says_what_it_took_and_all_else_goes_to_the_session_within() {
        let root = File::open("/").unwrap();
        let (server, asker) = PayloadServer::new(PayloadProgram::new("exit 4", root.as_fd()).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| server.serve(|| false));
            let mut session = PayloadSession::new(Box::new(Fine), asker);
            let mut ask = |operation| {
                let request = Request::new(operation, ObjectKey::default(), 0);
                session.prepare(&request);
                let completion = session.execute(&request);
                (session.inspect(&request, completion), session.marks().len(), session.message())
            };
            assert_eq!(ask(Operation::CallStat), (Completion::ok(7), 0, None));
            let said = Some("the payload failed: exit status: 4".to_owned());
            assert_eq!(ask(Operation::Payload), (Completion::failed(FailureCode::EXIT), 1, said));
            // It is run once.
            assert_eq!(ask(Operation::Payload), (Completion::failed(FailureCode::ABANDONED), 0, None));
        });
    }

    #[test]
    fn who_is_never_asked_ends_when_nobody_can_ask() {
        let root = File::open("/").unwrap();
        let (server, asker) = PayloadServer::new(PayloadProgram::new("sleep 60", root.as_fd()).unwrap());
        drop(asker);
        server.serve(|| false);
    }
}
