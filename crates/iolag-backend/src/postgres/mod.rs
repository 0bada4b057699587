//! PostgreSQL: an object is a row, with its content in it.
//!
//! The working place is a few tables in the schema in which the user makes tables: `NAME` is the marker, a row with the token and the run's id, and
//! `NAME objects` has the objects of all datasets; with `#tables=dataset` each dataset is a table of its own, `NAME RANK_DATASET`.

mod link;
mod place;
mod session;
mod statements;
mod url;

pub(crate) use url::{PostgresUrl, Tables};

use std::sync::{Arc, OnceLock};

use iolag_model::{FailureCode, Operation, PlaceMaker};
use iolag_net::postgres::{Address, PasswordSources};

use crate::servers::{Expected, create_place, has_place, refuse_odd, removal_of, reopen_place, wait_for};
use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Blocking, Capabilities, Datasets, Description,
    Descriptors, FullDataset, Greeting, Inventory, Leftover, MissingDelete, ObjectNames, Place, PlaceProof,
    Queue, Semantics, Session, SessionOpening, SessionOptions,
};
use link::Failed;
use session::PostgresSession;
use statements::Statements;

const OPERATIONS: &[Operation] =
    &[Operation::Create, Operation::Read, Operation::Stat, Operation::Delete, Operation::List];
const OPERATIONS_OF_TABLES: &[Operation] = &[Operation::MakeDirectory, Operation::RemoveDirectory];

const SEMANTICS: &str = "stat is SELECT octet_length(content), read is SELECT content, create is INSERT … ON CONFLICT DO UPDATE, delete is DELETE, each of one row by \
                         its primary key and in a transaction of its own; list is SELECT index of all rows of a dataset; one round trip each. All datasets \
                         are in one table, and the statements are prepared and planned when a client connects; with #tables=dataset mkdir is CREATE TABLE, rmdir \
                         is DROP TABLE, and each statement is parsed and planned with its execution. A commit is as durable as the server is set up for";

/// A server makes a process for each, and has a limit of them, often 100.
const OPENINGS_AT_ONCE: u32 = 16;

/// A database as a target.
#[derive(Debug)]
pub(crate) struct PostgresBackend {
    url: PostgresUrl,
    name: String,
    passwords: PasswordSources,
    expected: Expected,
    address: OnceLock<Result<Arc<Address>, String>>,
    /// What was noticed about the server.
    remark: OnceLock<String>,
}

impl PostgresBackend {
    pub(crate) const fn semantics(tables: Tables) -> Semantics {
        let (datasets, full_dataset) = match tables {
            Tables::One => (Datasets::Implied, FullDataset::NotRemovable),
            Tables::Dataset => (Datasets::Made, FullDataset::RemovedWithContent),
        };
        Semantics {
            missing_delete: MissingDelete::NotFound,
            datasets,
            full_dataset,
            place: PlaceProof::Marker,
            descriptors: Descriptors::Shared,
            opening: SessionOpening::Asynchronous { at_once: OPENINGS_AT_ONCE },
            objects: ObjectNames::Numbered,
            queue: Queue::None,
        }
    }

    /// The database, with a working place of this name. Nothing is touched, no file either.
    pub(crate) fn new(
        url: PostgresUrl,
        name: &str,
        passwords: PasswordSources,
    ) -> Result<Self, BackendError> {
        refuse_odd(name)?;
        Ok(Self {
            url,
            name: name.to_owned(),
            passwords,
            expected: Expected::default(),
            address: OnceLock::new(),
            remark: OnceLock::new(),
        })
    }

    fn shown(&self) -> String {
        crate::redact(self.url.text())
    }

    fn refused(&self, Failed { code, said }: Failed) -> BackendError {
        BackendError::Server { target: self.shown(), said, code }
    }

    fn statements(&self) -> Statements {
        Statements::new(&self.name, self.url.tables)
    }

    fn address(&self) -> Result<Arc<Address>, BackendError> {
        let find =
            || Address::parse(&self.url.address, &self.passwords).map(Arc::new).map_err(|error| error.what);
        match self.address.get_or_init(find) {
            Ok(address) => Ok(Arc::clone(address)),
            Err(said) => Err(self.refused(Failed { code: FailureCode::PROTOCOL, said: said.clone() })),
        }
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn AsyncSession>, BackendError> {
        if self.expected.get().is_none() {
            self.find_place().await?;
        }
        let opened = PostgresSession::open(self.address()?, self.statements(), options).await;
        Ok(Box::new(opened.map_err(|failed| self.refused(failed))?))
    }
}

impl Backend for PostgresBackend {
    fn describe(&self) -> Description {
        Description { kind: "postgres", target: self.shown(), semantics: SEMANTICS }
    }

    fn capabilities(&self) -> Capabilities {
        let of_tables = match self.url.tables {
            Tables::One => &[],
            Tables::Dataset => OPERATIONS_OF_TABLES,
        };
        Capabilities {
            operations: [OPERATIONS, of_tables].concat(),
            semantics: Self::semantics(self.url.tables),
        }
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
