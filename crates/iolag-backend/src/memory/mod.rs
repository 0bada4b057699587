//! A store in the memory of this process: for demonstrations, and for tests that want no file system.
//!
//! It answers as a directory does: an object needs its dataset, creating over an object replaces it, what is missing is
//! ENOENT, a dataset with objects in it is not removed. A rename moves the object.
//!
//! Limits: the store belongs to one [`MemoryBackend`] in one process. Clients that are processes of their own each get
//! their own copy of it and see nothing of each other. The store itself allocates inside the operations.

mod lanes;
mod session;
mod store;

use std::sync::Arc;

use iolag_model::PlaceMaker;

use crate::posix::OPERATIONS;
use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Capabilities, Description, Descriptors, Inventory,
    LaneSession, Leftover, Place, PlaceProof, Queue, Semantics, Session, SessionOpening, SessionOptions,
};
use lanes::MemoryLanes;
use session::MemorySession;
use store::{DatasetKey, Store};

/// A store in memory, shared by all sessions of this backend.
#[derive(Debug)]
pub struct MemoryBackend {
    store: Arc<Store>,
    working_name: String,
}

impl MemoryBackend {
    /// Those of a directory that nobody else can reach.
    pub(crate) const SEMANTICS: Semantics = Semantics {
        place: PlaceProof::Process,
        descriptors: Descriptors::Shared,
        opening: SessionOpening::Asynchronous { at_once: u32::MAX },
        queue: Queue::Process,
        ..Semantics::OF_DIRECTORIES
    };

    /// An empty store.
    pub fn new(working_name: &str) -> Self {
        Self { store: Arc::default(), working_name: working_name.to_owned() }
    }

    fn place(&self) -> Place {
        Place {
            target: "memory:".to_owned(),
            name: self.working_name.clone(),
            identity: None,
            token: None,
            file_system: None,
            remark: None,
        }
    }

    fn session(&self, options: &SessionOptions) -> Result<MemorySession, BackendError> {
        if self.store.has_place() {
            MemorySession::new(Arc::clone(&self.store), options)
        } else {
            Err(BackendError::NoWorkingSet { path: "memory:".to_owned() })
        }
    }
}

impl Backend for MemoryBackend {
    fn describe(&self) -> Description {
        Description {
            kind: "memory",
            target: "memory:".to_owned(),
            semantics: "every operation is a copy within the memory of this process, under a lock of the dataset's shard",
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { operations: OPERATIONS.to_vec(), semantics: Self::SEMANTICS }
    }

    fn create_place(&self, _: &PlaceMaker) -> Result<Place, BackendError> {
        if self.store.create_place() {
            Ok(self.place())
        } else {
            Err(BackendError::NotEmpty { path: "memory:".to_owned() })
        }
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        if self.store.has_place() && !self.store.is_empty() {
            Ok(self.place())
        } else {
            Err(BackendError::NoWorkingSet { path: "memory:".to_owned() })
        }
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        Ok(Box::new(self.session(options)?))
    }

    fn open_async_session<'a>(&'a self, options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        Some(Box::pin(async { Ok(Box::new(self.session(options)?) as Box<dyn AsyncSession>) }))
    }

    fn open_lanes(
        &self,
        options: &SessionOptions,
        lanes: u32,
    ) -> Option<Result<Box<dyn LaneSession>, BackendError>> {
        let sessions: Result<Vec<_>, _> = (0..lanes).map(|_| self.session(options)).collect();
        Some(sessions.map(|sessions| Box::new(MemoryLanes::new(sessions)) as Box<dyn LaneSession>))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        match self.store.count(DatasetKey { rank, dataset }) {
            Ok(objects) => Ok(Inventory { objects, foreign: 0 }),
            Err(code) => Err(BackendError::Failed {
                action: "list the dataset",
                path: format!("memory:{rank}_{dataset}"),
                class: code.class(),
                code,
            }),
        }
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.store.remove_place();
        Ok(Vec::new())
    }
}
