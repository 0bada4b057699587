//! Stores with the protocol of Amazon's S3: objects with keys in a bucket, and nothing else.
//!
//! The working place is a common beginning of keys, `PREFIX/NAME/`, with a marker in it that is named after the token. Datasets are
//! beginnings, too: nothing is made for them. Requests are signed before the clock is read.

mod access;
mod asker;
mod desk;
mod multipart;
mod session;
mod signing;
mod url;

pub(crate) use url::S3Url;

use std::sync::OnceLock;

use iolag_model::{ErrorClass, FailureCode, Operation, PlaceMaker};
use iolag_net::Variables;

use crate::servers::{Expected, create_place, has_place, refuse_odd, removal_of, reopen_place, wait_for};
use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Blocking, Capabilities, Datasets, Description,
    Descriptors, FullDataset, Greeting, Inventory, Leftover, MissingDelete, ObjectNames, Place, PlaceProof,
    Queue, Semantics, Session, SessionOpening, SessionOptions,
};
use access::Access;
use session::S3Session;

const OPERATIONS: &[Operation] =
    &[Operation::Create, Operation::Read, Operation::Stat, Operation::Delete, Operation::List];

const SEMANTICS: &str = "stat is HEAD; read is GET; create is PUT, above 64 MiB a multipart upload in parts of 64 MiB; delete is DELETE, which succeeds \
                         also where there is nothing; list is ListObjectsV2 of a dataset's beginning, a request for each 1000 keys; there is no mkdir, \
                         datasets are beginnings of keys; requests are signed before the clock is read (what is sent is not in the signature), but for those \
                         that follow from an answer; by a connection that is kept unless --session fresh, and none is sent twice";

/// A connection is taken by the server's queue, which is finite.
const OPENINGS_AT_ONCE: u32 = 64;

/// A bucket as a target.
#[derive(Debug)]
pub(crate) struct S3Backend {
    url: S3Url,
    name: String,
    variables: Variables,
    expected: Expected,
    access: OnceLock<Result<Access, String>>,
}

impl S3Backend {
    pub(crate) const SEMANTICS: Semantics = Semantics {
        missing_delete: MissingDelete::Succeeds,
        datasets: Datasets::Implied,
        full_dataset: FullDataset::NotRemovable,
        place: PlaceProof::Marker,
        descriptors: Descriptors::Shared,
        opening: SessionOpening::Asynchronous { at_once: OPENINGS_AT_ONCE },
        objects: ObjectNames::AlsoNamed,
        queue: Queue::None,
    };

    /// The bucket, with a working place of this name. Nothing is touched, no file either.
    pub(crate) fn new(url: S3Url, name: &str, variables: Variables) -> Result<Self, BackendError> {
        refuse_odd(name)?;
        Ok(Self {
            url,
            name: name.to_owned(),
            variables,
            expected: Expected::default(),
            access: OnceLock::new(),
        })
    }

    fn shown(&self) -> String {
        crate::redact(self.url.text())
    }

    fn refused(&self, said: String, code: FailureCode) -> BackendError {
        BackendError::Server { target: self.shown(), said, code }
    }

    /// Whose name it is that is not known is not said by the URL.
    fn with_advice(&self, said: String, code: FailureCode) -> String {
        let is_usual = self.access().is_ok_and(|access| access.is_usual);
        match code.class() {
            ErrorClass::NameResolution if is_usual => {
                format!(
                    "{said}; for another server than Amazon's set AWS_ENDPOINT_URL, or write #endpoint=URL"
                )
            }
            _ => said,
        }
    }

    fn access(&self) -> Result<&Access, BackendError> {
        let found = self.access.get_or_init(|| Access::find(&self.url, &self.variables));
        found.as_ref().map_err(|said| self.refused(said.clone(), FailureCode::PROTOCOL))
    }

    /// What all keys of the working place begin with.
    fn beginning(&self) -> String {
        match self.url.prefix.as_str() {
            "" => format!("{}/", self.name),
            prefix => format!("{prefix}/{}/", self.name),
        }
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn AsyncSession>, BackendError> {
        let access = self.access()?;
        if self.expected.get().is_none() && options.names.is_none() {
            self.find_place().await?;
        }
        let mut speaker = access.speaker(options.connections);
        if let Err(code) = speaker.connection.open().await {
            let said = speaker.connection.take_message().unwrap_or_else(|| code.to_string());
            return Err(self.refused(said, code));
        }
        Ok(Box::new(S3Session::new(
            speaker,
            access.signer.clone(),
            self.beginning(),
            self.url.prefix.clone(),
            options,
        )?))
    }
}

impl Backend for S3Backend {
    fn describe(&self) -> Description {
        Description { kind: "s3", target: self.shown(), semantics: SEMANTICS }
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
