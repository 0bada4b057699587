//! A server that a watch probes, and the working place in it, by which its probes know what is theirs.
//!
//! The place is made by the first probe and found by the next, like the directory of a task: its name and its token follow from what the watch is
//! called, so that nothing has to be remembered of it. What a task needs is one small object, and one more while it creates one.
//!
//! Limits: whoever may write there can imitate the token; what iolag does not make is never removed all the same.

use std::sync::Arc;

use iolag_backend::{
    Backend, BackendError, Datasets, Leftover, NameTable, ObjectKey, Place, Request, Session, SessionOptions,
    Target,
};
use iolag_model::{
    ClientId, FailureCode, Fingerprint, MonotonicClock, Operation, PlaceMaker, PlaceToken, RunId,
};

use super::server_task::ServerTask;

/// Bytes of an object: those of a small file.
const OBJECT_BYTES: u64 = 3901;
/// The object that is looked at and read.
const KEPT: ObjectKey = ObjectKey { rank: 0, dataset: 0, index: 0 };
/// The one that is created and deleted again.
const CREATED: ObjectKey = ObjectKey { rank: 0, dataset: 0, index: 1 };
/// What a place holds that is no run's.
const NO_RUN: &str = "00000000-000000-0000";

/// A server, and the working place of a watch in it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerPlace {
    target: Target,
    name: String,
    maker: PlaceMaker,
    objects: Objects,
}

/// Which objects are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Objects {
    /// Those of the working place.
    Own,
    /// The one that the URL names: nothing can be made there.
    Named,
}

impl ServerPlace {
    /// The place of the watch that has this name on this server. Touches nothing.
    ///
    /// # Errors
    /// If there can be none.
    pub fn new(target: Target, watch: &str) -> Result<Self, BackendError> {
        let half = |salt: &str| u128::from(Fingerprint::default().and(watch).and(salt).value());
        let token = PlaceToken(half("token") << 64 | half("place"));
        let run: RunId = NO_RUN.parse().expect("it has the form of one");
        let name = format!("iolag-watch-{:016x}", Fingerprint::of(watch));
        let backend = target.backend(&name, Arc::new(MonotonicClock))?;
        let objects = match backend.capabilities().missing(&[Operation::Create]) {
            None => Objects::Own,
            Some(_) => Objects::Named,
        };
        Ok(Self { target, name, maker: PlaceMaker { run, token }, objects })
    }

    /// The server.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// What can be asked there.
    pub const fn tasks(&self) -> &'static [ServerTask] {
        match self.objects {
            Objects::Own => &ServerTask::ALL,
            Objects::Named => ServerTask::ALL.split_at(2).0,
        }
    }

    /// Bytes of an object.
    pub const fn object_bytes(&self) -> u64 {
        OBJECT_BYTES
    }

    /// Removes the place with what probes made in it; returns what had to stay and why.
    ///
    /// # Errors
    /// If it is not this watch's, or the server does not let us.
    pub fn remove(&self) -> Result<Vec<Leftover>, BackendError> {
        match self.objects {
            Objects::Own => self.backend()?.remove_place(),
            Objects::Named => Ok(Vec::new()),
        }
    }

    /// The backend, which knows the place.
    pub(crate) fn backend(&self) -> Result<Box<dyn Backend>, BackendError> {
        let backend = self.target.backend(&self.name, Arc::new(MonotonicClock))?;
        if self.objects == Objects::Own {
            backend.expect_place(&Place {
                target: self.target.to_string(),
                name: self.name.clone(),
                identity: None,
                token: Some(self.maker.token),
                file_system: None,
                remark: None,
            });
        }
        Ok(backend)
    }

    /// A connection to the server.
    pub(crate) fn connect(&self, backend: &dyn Backend) -> Result<Box<dyn Session>, BackendError> {
        let mut options = SessionOptions::new(ClientId(0), 0, 0, OBJECT_BYTES);
        if self.objects == Objects::Named {
            let mut names = NameTable::default();
            // The URL itself.
            names.push("");
            options.names = Some(Arc::new(names));
        }
        backend.open_session(&options)
    }

    /// What this operation of a task asks for.
    pub(crate) const fn request(&self, operation: Operation) -> Request {
        match (self.objects, operation) {
            (Objects::Named, _) => Request::new(operation, ObjectKey::named(0), Request::TO_THE_END),
            (Objects::Own, Operation::Create | Operation::Delete) => {
                Request::new(operation, CREATED, OBJECT_BYTES)
            }
            (Objects::Own, _) => Request::new(operation, KEPT, OBJECT_BYTES),
        }
    }

    /// Makes sure that the object is there that tasks look at.
    pub(crate) fn furnish(&self, backend: &dyn Backend) -> Result<(), BackendError> {
        if self.objects == Objects::Named || self.is_furnished(backend) {
            return Ok(());
        }
        match backend.reopen_place() {
            Ok(_) => {}
            Err(BackendError::NoWorkingSet { .. }) => drop(backend.create_place(&self.maker)?),
            Err(error) => return Err(error),
        }
        let mut session = self.connect(backend)?;
        if backend.capabilities().semantics.datasets == Datasets::Made {
            // Where it is there already that is an error, and none of the task's.
            let _ = ask(session.as_mut(), &self.request(Operation::MakeDirectory));
        }
        let kept = Request::new(Operation::Create, KEPT, OBJECT_BYTES);
        match ask(session.as_mut(), &kept) {
            FailureCode::NONE => Ok(()),
            code => Err(BackendError::Server {
                target: self.target.to_string(),
                said: session.message().unwrap_or_else(|| code.to_string()),
                code,
            }),
        }
    }

    /// Whatever goes wrong here goes wrong again, and is told, where the place is made.
    fn is_furnished(&self, backend: &dyn Backend) -> bool {
        let stat = self.request(Operation::Stat);
        self.connect(backend).is_ok_and(|mut session| ask(session.as_mut(), &stat) == FailureCode::NONE)
    }
}

fn ask(session: &mut dyn Session, request: &Request) -> FailureCode {
    session.prepare(request);
    session.execute(request).code
}
