//! The tasks on a server: one request each, by a connection of its own, as a short program has it.
//!
//! Names and credentials are looked up, and the place is made or found, before the task begins; what is timed is to connect, to agree on TLS and
//! to log in (`connect`), and the request with its answer (`request`).

use std::os::fd::BorrowedFd;

use iolag_backend::{Backend, BackendError, Session};
use iolag_model::FailureCode;

use crate::tasks::{PartEnding, PartRecorder, ProbeTask, ServerPlace, ServerTask, TaskError};

const WHOLE: usize = 0;
const CONNECT: usize = 1;
const REQUEST: usize = 2;

/// A task on the server of a watch.
pub(crate) struct ServerProbe {
    place: ServerPlace,
    task: ServerTask,
    /// Once it is known how the server is reached.
    backend: Option<Box<dyn Backend>>,
}

impl ServerProbe {
    pub(crate) fn new(place: &ServerPlace, task: ServerTask) -> Self {
        Self { place: place.clone(), task, backend: None }
    }

    fn connect(&self, recorder: &mut dyn PartRecorder) -> Result<Box<dyn Session>, PartEnding> {
        let Some(backend) = &self.backend else { return Err(failed(FailureCode::PROTOCOL)) };
        self.place.connect(backend.as_ref()).map_err(|error| {
            recorder.said(&error.to_string());
            failed(code_of(&error))
        })
    }

    /// The requests of the task, up to the first that fails.
    fn ask(&self, session: &mut dyn Session, recorder: &mut dyn PartRecorder) -> PartEnding {
        for (part, operation) in (REQUEST..).zip(self.task.operations()) {
            let request = self.place.request(*operation);
            session.prepare(&request);
            recorder.begin(part);
            let completion = session.execute(&request);
            let ending = failed(completion.code);
            recorder.end(part, ending);
            if !completion.is_ok() {
                recorder.said(&session.message().unwrap_or_else(|| completion.code.to_string()));
                return ending;
            }
        }
        PartEnding::default()
    }
}

impl ProbeTask for ServerProbe {
    fn parts(&self) -> &[&'static str] {
        self.task.part_names()
    }

    fn prepare(&mut self, _place: BorrowedFd<'_>, _recorder: &mut dyn PartRecorder) -> Result<(), TaskError> {
        let told = |error: BackendError| TaskError { failure: code_of(&error), message: error.to_string() };
        let backend = self.place.backend().map_err(told)?;
        self.place.furnish(backend.as_ref()).map_err(told)?;
        self.backend = Some(backend);
        Ok(())
    }

    fn perform(&mut self, _place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) {
        recorder.begin(WHOLE);
        recorder.begin(CONNECT);
        let connected = self.connect(recorder);
        recorder.end(CONNECT, connected.as_ref().err().copied().unwrap_or_default());
        let ending = match connected {
            Ok(mut session) => self.ask(session.as_mut(), recorder),
            Err(ending) => ending,
        };
        recorder.end(WHOLE, ending);
    }
}

fn failed(failure: FailureCode) -> PartEnding {
    PartEnding { failure, ..PartEnding::default() }
}

fn code_of(error: &BackendError) -> FailureCode {
    match error {
        BackendError::Server { code, .. } | BackendError::Failed { code, .. } => *code,
        _ => FailureCode::PROTOCOL,
    }
}
