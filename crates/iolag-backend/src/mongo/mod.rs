//! MongoDB: an object is a document, with its content in it as binary data.
//!
//! The working place is a few collections of the database: `NAME` is the marker, a document with the token and the run's id, `NAME.objects` has
//! the objects of all datasets; with `#collections=dataset` each dataset has its own, `NAME.RANK_DATASET`. A collection is there as soon as
//! something is put into it: datasets are implied either way.
//!
//! Limits: the driver keeps connections in a pool of its own, which the clients of a worker share, and connects when it likes: coming to the
//! server is no mark, only how long the first answer took once there was a connection. A document has at most 16 MB.

mod access;
mod driver;
mod failure;
mod place;
mod session;
mod url;

pub(crate) use url::MongoUrl;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use iolag_model::{Connections, Operation, PlaceMaker};
use iolag_net::Variables;
use mongodb::options::ClientOptions;
use tokio::runtime::{Handle, Id};

use crate::content::Buffers;
use crate::servers::{Expected, create_place, has_place, refuse_odd, removal_of, reopen_place, wait_for};
use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Blocking, Capabilities, Datasets, Description,
    Descriptors, FullDataset, Greeting, Inventory, Leftover, MissingDelete, ObjectNames, Place, PlaceProof,
    Queue, Semantics, Session, SessionOpening, SessionOptions,
};
use driver::Driver;
use failure::Failed;
use session::{Drivers, MongoSession, Names};

const OPERATIONS: &[Operation] =
    &[Operation::Create, Operation::Read, Operation::Stat, Operation::Delete, Operation::List];

const SEMANTICS: &str = "stat is find of a document's length, read is find of the document, create is replaceOne with upsert, delete is deleteOne, each of one document by \
                         its _id; list is find of the _ids of a dataset, a request for each batch; there is no mkdir. The official driver, one for all clients of a \
                         thread: it connects by itself, looks for a server that is gone for 5 s unless the URL says otherwise (serverSelectionTimeoutMS), and retries \
                         nothing; with --session fresh a driver for each request, with its look at the servers. A write is as durable as the write concern of the \
                         server or the URL says";

/// A database as a target.
pub(crate) struct MongoBackend {
    url: MongoUrl,
    name: String,
    variables: Variables,
    expected: Expected,
    options: OnceLock<Result<Arc<ClientOptions>, Failed>>,
    /// The driver of each worker, as long as it has clients: its tasks are those of the worker's runtime.
    drivers: Mutex<HashMap<Id, Weak<Driver>>>,
}

impl MongoBackend {
    pub(crate) const SEMANTICS: Semantics = Semantics {
        missing_delete: MissingDelete::NotFound,
        datasets: Datasets::Implied,
        full_dataset: FullDataset::NotRemovable,
        place: PlaceProof::Marker,
        descriptors: Descriptors::Shared,
        opening: SessionOpening::Asynchronous { at_once: access::CONNECTING_MAX },
        objects: ObjectNames::Numbered,
        queue: Queue::None,
    };

    /// The database, with a working place of this name. Nothing is touched, no file either.
    pub(crate) fn new(url: MongoUrl, name: &str, variables: Variables) -> Result<Self, BackendError> {
        refuse_odd(name)?;
        Ok(Self {
            url,
            name: name.to_owned(),
            variables,
            expected: Expected::default(),
            options: OnceLock::new(),
            drivers: Mutex::default(),
        })
    }

    fn shown(&self) -> String {
        crate::redact(self.url.text())
    }

    /// With what to do.
    fn refused(&self, Failed { code, said }: Failed) -> BackendError {
        let advice = match code.errno() {
            Some(libc::EACCES) => {
                "; check user and password (USER:PASSWORD@ in front of the host, or a URL with both and the same hosts in MONGODB_URI), where the user is known \
                 (?authSource=admin), and what it may do"
            }
            _ => "",
        };
        BackendError::Server { target: self.shown(), said: format!("{said}{advice}"), code }
    }

    async fn options(&self) -> Result<Arc<ClientOptions>, BackendError> {
        let known = match self.options.get() {
            Some(known) => known,
            None => {
                let found = access::options_of(&self.url, &self.variables).await.map(Arc::new);
                self.options.get_or_init(|| found)
            }
        };
        known.clone().map_err(|failed| self.refused(failed))
    }

    /// The driver of this runtime.
    fn driver_of_worker(&self, options: &ClientOptions) -> Result<Arc<Driver>, Failed> {
        let runtime = Handle::current().id();
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = drivers.get(&runtime).and_then(Weak::upgrade) {
            return Ok(driver);
        }
        let driver = Arc::new(Driver::new(options.clone())?);
        drivers.retain(|_, known| known.strong_count() > 0);
        drivers.insert(runtime, Arc::downgrade(&driver));
        Ok(driver)
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn AsyncSession>, BackendError> {
        let refused = |failed| self.refused(failed);
        session::refuse_too_long(options.bytes_max).map_err(refused)?;
        if self.expected.get().is_none() {
            self.find_place().await?;
        }
        let of_driver = self.options().await?;
        let drivers = match options.connections {
            Connections::Fresh => Drivers::Fresh(of_driver),
            Connections::Reused => Drivers::Kept(self.driver_of_worker(&of_driver).map_err(refused)?),
        };
        let names = Names {
            database: self.url.database.clone(),
            name: self.name.clone(),
            collections: self.url.collections,
        };
        let buffers = Buffers::new(options)?;
        let opened = MongoSession::open(drivers, names, buffers, options.tags.clone()).await;
        Ok(Box::new(opened.map_err(refused)?))
    }
}

/// Without secrets.
impl fmt::Debug for MongoBackend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MongoBackend")
            .field("url", &self.url)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Backend for MongoBackend {
    fn describe(&self) -> Description {
        Description { kind: "mongodb", target: self.shown(), semantics: SEMANTICS }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { operations: OPERATIONS.to_vec(), semantics: Self::SEMANTICS }
    }

    fn expect_place(&self, place: &Place) {
        self.expected.set(place.token);
    }

    fn greet(&self) -> Result<Option<Greeting>, BackendError> {
        wait_for(self.greeting()).map(Some)
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        create_place(self, maker)
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        reopen_place(self)
    }

    fn has_place(&self) -> Result<bool, BackendError> {
        has_place(self)
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        Ok(Box::new(Blocking::open(Box::pin(self.session(options)))?))
    }

    fn open_async_session<'a>(&'a self, options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        Some(Box::pin(self.session(options)))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        wait_for(self.count(rank, dataset))
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        let Some(token) = removal_of(self)? else { return Ok(Vec::new()) };
        let left = wait_for(self.remove(token))?;
        if left.is_empty() {
            self.expected.set(None);
        }
        Ok(left)
    }
}
