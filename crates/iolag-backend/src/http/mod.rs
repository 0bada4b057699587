//! Web servers: objects by HTTP, and by WebDAV also collections of them.
//!
//! A plain web server has objects with names, which are read and looked at; it lists nothing, so that what is made there could not be found
//! again: a working place needs WebDAV. That place is the collection `NAME-TOKEN`, with a marker in it. It has the token in its name because
//! DELETE of a collection removes whatever is in it (RFC 4918, 9.6.1): no other run's collection can have that name. What is in it is removed
//! one by one all the same, and what iolag does not make stays with the collection around it.

mod answer;
mod connection;
mod listing;
mod payload;
mod place;
mod session;
mod speaker;
mod url;
mod xml;

pub(crate) use url::{Speech, WebUrl};
#[cfg(feature = "s3")]
pub(crate) use {
    answer::Answer,
    connection::Connection,
    payload::Payload,
    speaker::{Speaker, complaint, keep},
    xml::visit,
};

use std::sync::{Arc, OnceLock};

use hyper::header::HeaderValue;
use iolag_model::{Connections, FailureCode, Operation, PlaceMaker};
use iolag_net::{Login, Protection, Variables, Way, login_of};

use crate::servers::{Expected, create_place, has_place, refuse_odd, removal_of, reopen_place, wait_for};
use crate::{
    AsyncOpening, AsyncSession, Backend, BackendError, Blocking, Capabilities, Datasets, Description,
    Descriptors, FullDataset, Greeting, Inventory, Leftover, MissingDelete, ObjectNames, Place, PlaceProof,
    Queue, Semantics, Session, SessionOpening, SessionOptions,
};
use session::{Paths, WebSession};
#[cfg(not(feature = "s3"))]
use {answer::Answer, connection::Connection, payload::Payload, speaker::Speaker};

const OPERATIONS_OF_NAMES: &[Operation] = &[Operation::Read, Operation::Stat];
const OPERATIONS: &[Operation] = &[
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::Delete,
    Operation::Rename,
    Operation::List,
    Operation::MakeDirectory,
    Operation::RemoveDirectory,
];

const SEMANTICS: &str = "stat is HEAD; read is GET; create is PUT; delete is DELETE; rename is MOVE; list is PROPFIND with depth 1 of a dataset's \
                         collection, of which only the types are asked for; mkdir is MKCOL; rmdir is DELETE of a collection, with what is in it; one request \
                         each, by a connection that is kept unless --session fresh, and none is sent twice or elsewhere";

/// Of a server of which only objects with a name are asked for.
const SEMANTICS_OF_NAMES: &str =
    "stat is HEAD; read is GET; one request each, and none is sent twice or elsewhere";

/// A connection is taken by the server's queue, which is finite.
const OPENINGS_AT_ONCE: u32 = 64;

/// A web server as a target.
#[derive(Debug)]
pub(crate) struct WebBackend {
    url: WebUrl,
    name: String,
    variables: Variables,
    expected: Expected,
    /// How the server is reached, once the files that say so have been read.
    access: OnceLock<Result<Access, String>>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
struct Access {
    way: Way,
    authority: HeaderValue,
    authorization: Option<HeaderValue>,
    /// Why a file that may say who we are was not read, where the URL does not ask for it: told if the server asks.
    unread: Option<String>,
}

impl WebBackend {
    /// The server, with a working collection whose name begins with `name`. Nothing is touched, no file either.
    pub(crate) fn new(url: WebUrl, name: &str, variables: Variables) -> Result<Self, BackendError> {
        refuse_odd(name)?;
        Ok(Self {
            url,
            name: name.to_owned(),
            variables,
            expected: Expected::default(),
            access: OnceLock::new(),
        })
    }

    pub(crate) const fn semantics(speech: Speech) -> Semantics {
        let lists = matches!(speech, Speech::WebDav);
        Semantics {
            missing_delete: MissingDelete::NotFound,
            datasets: if lists { Datasets::Made } else { Datasets::Implied },
            full_dataset: if lists { FullDataset::RemovedWithContent } else { FullDataset::NotRemovable },
            place: PlaceProof::Marker,
            descriptors: Descriptors::Shared,
            opening: SessionOpening::Asynchronous { at_once: OPENINGS_AT_ONCE },
            objects: ObjectNames::AlsoNamed,
            queue: Queue::None,
        }
    }

    /// The path of the target itself, with what is asked of it.
    fn object_path(&self) -> String {
        let path = if self.url.path.is_empty() { "/" } else { &self.url.path };
        match &self.url.query {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        }
    }

    fn shown(&self) -> String {
        crate::redact(self.url.text())
    }

    fn refused(&self, said: String, code: FailureCode) -> BackendError {
        BackendError::Server { target: self.shown(), said, code }
    }

    fn access(&self) -> Result<&Access, BackendError> {
        let found = self.access.get_or_init(|| self.find_access());
        found.as_ref().map_err(|said| self.refused(said.clone(), FailureCode::PROTOCOL))
    }

    fn find_access(&self) -> Result<Access, String> {
        let url = &self.url;
        let way = match url.is_protected {
            false => Way::plain(&url.host, url.port),
            true => {
                let config = Protection::Full(url.ca_file.clone()).client_config("--ca-file FILE")?;
                Way::protected(&url.host, url.port, Arc::new(config))?
            }
        };
        let authority =
            HeaderValue::from_str(&url.authority()).map_err(|_| "its name cannot be sent".to_owned())?;
        let found = || login_of(&url.host, url.user.as_deref(), &self.variables);
        let (login, unread) = match (&url.user, &url.password) {
            (Some(user), Some(password)) => {
                (Some(Login { user: user.clone(), password: password.clone() }), None)
            }
            (Some(_), None) => (found()?, None),
            (None, _) => found().map_or_else(|why| (None, Some(why)), |login| (login, None)),
        };
        Ok(Access { way, authority, authorization: login.as_ref().map(basic).transpose()?, unread })
    }

    fn speaker(&self, connections: Connections) -> Result<Speaker, BackendError> {
        let Access { way, authority, authorization, .. } = self.access()?.clone();
        Ok(Speaker::new(Connection::new(way, connections), authority, authorization))
    }

    async fn session(&self, options: &SessionOptions) -> Result<Box<dyn AsyncSession>, BackendError> {
        let mut speaker = self.speaker(options.connections)?;
        let place = match (self.expected.get(), &options.names) {
            (Some(token), _) => Some(self.place_path(token)),
            (None, Some(_)) => None,
            (None, None) => Some(self.find_place().await?),
        };
        if let Err(code) = speaker.connection.open().await {
            let said = speaker.connection.take_message().unwrap_or_else(|| code.to_string());
            return Err(self.refused(said, code));
        }
        let scheme = if self.url.is_protected { "https" } else { "http" };
        let origin = format!("{scheme}://{}", self.url.authority());
        let paths = Paths { target: self.url.path.clone(), whole: self.object_path(), place, origin };
        Ok(Box::new(WebSession::new(speaker, paths, options)?))
    }
}

/// RFC 7617.
fn basic(login: &Login) -> Result<HeaderValue, String> {
    use base64::Engine as _;
    let words = format!("{}:{}", login.user, login.password.reveal());
    let encoded = base64::engine::general_purpose::STANDARD.encode(words);
    let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).map_err(|error| error.to_string())?;
    value.set_sensitive(true);
    Ok(value)
}

impl Backend for WebBackend {
    fn describe(&self) -> Description {
        let semantics = match self.url.speech {
            Speech::Plain => SEMANTICS_OF_NAMES,
            Speech::WebDav => SEMANTICS,
        };
        Description { kind: self.url.kind, target: self.shown(), semantics }
    }

    fn capabilities(&self) -> Capabilities {
        let operations = match self.url.speech {
            Speech::Plain => OPERATIONS_OF_NAMES,
            Speech::WebDav => OPERATIONS,
        };
        Capabilities { operations: operations.to_vec(), semantics: Self::semantics(self.url.speech) }
    }

    fn expect_place(&self, place: &Place) {
        self.expected.set(place.token);
    }

    fn greet(&self) -> Result<Option<Greeting>, BackendError> {
        wait_for(self.greeting()).map(Some)
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        self.refuse_plain()?;
        create_place(self, maker)
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        self.refuse_plain()?;
        reopen_place(self)
    }

    fn has_place(&self) -> Result<bool, BackendError> {
        self.refuse_plain()?;
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
