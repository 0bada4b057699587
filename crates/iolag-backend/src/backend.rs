//! The contract between iolag and a kind of target.

mod error;

pub use error::BackendError;

use std::any::Any;
use std::fmt::Debug;
use std::future::Future;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use iolag_model::{
    ClientId, Connections, CopyWith, Durability, FailureCode, MonotonicTime, Operation, PlaceIdentity,
    PlaceMaker, PlaceToken, StreamIo, TagKind, Verification,
};

use crate::{Blocks, Completion, Mark, NameTable, Request, Semantics, TagTable, Tree};

/// A kind of target, at one place. Cheap to make: nothing is touched before [`Backend::create_place`] or
/// [`Backend::open_session`].
pub trait Backend: Send + Sync {
    /// What it is and where.
    fn describe(&self) -> Description;

    /// Which operations it can execute; checked before a run starts.
    fn capabilities(&self) -> Capabilities;

    /// Tells which place an earlier process made, as its manifest recorded it: from now on the backend refuses to touch
    /// any other under the same name. Does nothing on targets whose places have no identity but their name.
    fn expect_place(&self, _place: &Place) {}

    /// Greets a server: comes there, says who we are and waits for the first answer. Makes nothing. To be called in a process that may
    /// hang. `None` where the target is no server.
    ///
    /// # Errors
    /// If the server is not reached, or does not let us in.
    fn greet(&self) -> Result<Option<Greeting>, BackendError> {
        Ok(None)
    }

    /// Makes the working place (a directory, prefix or table) in the target, and leaves the maker's token in it before anything else.
    ///
    /// # Errors
    /// If the target does not exist, is not a directory, is not writable or full, or if the place exists already: a place
    /// with anything in it but this token is never taken over silently.
    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError>;

    /// Finds a working place that an earlier run made, for a later phase.
    ///
    /// # Errors
    /// If there is none.
    fn reopen_place(&self) -> Result<Place, BackendError>;

    /// Whether there is anything of the place, be it only that it is marked as somebody's.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn has_place(&self) -> Result<bool, BackendError> {
        match self.reopen_place() {
            Err(BackendError::NoWorkingSet { .. }) => Ok(false),
            found => found.map(|_| true),
        }
    }

    /// Opens one client's session. Called by the thread or process that will use it.
    ///
    /// # Errors
    /// If the place cannot be reached.
    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError>;

    /// Opens one client's session in its asynchronous form, if the backend has one. Nothing happens before the future is first
    /// polled; dropping it cancels the opening.
    fn open_async_session<'a>(&'a self, _options: &'a SessionOptions) -> Option<AsyncOpening<'a>> {
        None
    }

    /// Opens one client's session that has up to so many requests in flight at once, one in each lane, if the backend declares a
    /// [`Queue`](crate::Queue). Called by the thread that will use it.
    fn open_lanes(
        &self,
        _options: &SessionOptions,
        _lanes: u32,
    ) -> Option<Result<Box<dyn LaneSession>, BackendError>> {
        None
    }

    /// Counts the objects of a dataset, untimed: what is really there.
    ///
    /// # Errors
    /// If it cannot be listed.
    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError>;

    /// Refuses a working place that this process made or found, and that somebody has moved since. Asks nothing of a target on which
    /// nothing was moved.
    ///
    /// # Errors
    /// [`BackendError::Moved`].
    fn refuse_moved(&self) -> Result<(), BackendError> {
        Ok(())
    }

    /// Removes the working place and everything in it that iolag could have made, and nothing else. Returns what is left and
    /// why.
    ///
    /// # Errors
    /// If the place was moved, or cannot be reached at all.
    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError>;
}

/// One client's connection to a target, used by one thread.
pub trait Session: Send {
    /// Makes what the request needs and is not the request: names, buffers. Before the clock is read.
    fn prepare(&mut self, request: &Request);

    /// Executes the prepared request, and nothing else. Between the two readings of the clock.
    fn execute(&mut self, request: &Request) -> Completion;

    /// Looks at what came back, for example compares content. After the clock was read.
    fn inspect(&mut self, _request: &Request, completion: Completion) -> Completion {
        completion
    }

    /// Whether [`Session::inspect`] has anything to do; asked once, when the session opens. A driver may leave the call out.
    fn inspects(&self) -> bool {
        true
    }

    /// A text about the last failed request, where the failure code does not say enough (a program's error output).
    fn message(&mut self) -> Option<String> {
        None
    }

    /// The parts of the last request, or of the opening: at most [`MARKS_MAX`](crate::MARKS_MAX), in a place that the session
    /// made when it opened. After the clock was read.
    fn marks(&self) -> &[Mark] {
        &[]
    }

    /// The session itself, if its operations are so short that a driver should know its type and compile its loop for it.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// A session that is being opened.
pub type AsyncOpening<'a> =
    Pin<Box<dyn Future<Output = Result<Box<dyn AsyncSession>, BackendError>> + Send + 'a>>;

/// A request under way.
pub type AsyncExecution<'a> = Pin<Box<dyn Future<Output = Completion> + Send + 'a>>;

/// One client's connection, for backends that can wait for thousands of clients at once. The same contract as
/// [`Session`].
pub trait AsyncSession: Send {
    /// As [`Session::prepare`].
    fn prepare(&mut self, request: &Request);

    /// The prepared request, of which nothing happens before it is first polled: it is made before the clock is read. Dropping
    /// it cancels the request; the session is then dropped, too, and asked nothing but its marks and its message before.
    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a>;

    /// As [`Session::inspect`].
    fn inspect(&mut self, _request: &Request, completion: Completion) -> Completion {
        completion
    }

    /// As [`Session::message`].
    fn message(&mut self) -> Option<String> {
        None
    }

    /// As [`Session::marks`].
    fn marks(&self) -> &[Mark] {
        &[]
    }

    /// Whether it can be asked again; looked at after a failure. Of one whose connection is gone the client gets another.
    fn is_usable(&self) -> bool {
        true
    }
}

/// One client's connection that has several requests in flight, one in each lane, used by one thread.
pub trait LaneSession: Send {
    /// As [`Session::prepare`]. Until the request is submitted no other is prepared.
    fn prepare(&mut self, lane: u32, request: &Request);

    /// Hands the prepared request over and does not wait for its end. After the clock was read.
    fn submit(&mut self, lane: u32, request: &Request);

    /// Waits until a request has ended, not longer than until this moment: in which lane, and what came back.
    fn await_any(&mut self, until: MonotonicTime) -> Option<(u32, Completion)>;

    /// As [`Session::inspect`].
    fn inspect(&mut self, _lane: u32, _request: &Request, completion: Completion) -> Completion {
        completion
    }

    /// As [`Session::message`].
    fn message(&mut self, _lane: u32) -> Option<String> {
        None
    }
}

/// Who makes caches cold or warm, and looks what is in them: as a rule another process, since that may hang.
pub trait CacheMaker: Debug + Send + Sync {
    /// Does what this operation is, which is one of those of caches, and waits for its end, or until it has taken too long.
    fn make(&self, operation: Operation) -> Completion;
}

/// Who starts the program that copies files.
pub trait CopyProgram: Debug + Send + Sync {
    /// Copies the whole of a file to another one, which is open for writing and empty; a program that has not ended at this moment is ended.
    ///
    /// # Errors
    /// What became of the program.
    fn copy(
        &self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        until: MonotonicTime,
    ) -> Result<(), ProgramFailure>;
}

/// What became of a program that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFailure {
    /// Why.
    pub code: FailureCode,
    /// What it said.
    pub said: Option<String>,
}

impl From<rustix::io::Errno> for ProgramFailure {
    /// It did not come to a program.
    fn from(errno: rustix::io::Errno) -> Self {
        Self { code: errno.into(), said: None }
    }
}

/// The working place of another target, in which copies are made.
pub trait OtherPlace: Debug + Send + Sync {
    /// Opens it for the calling thread.
    ///
    /// # Errors
    /// If it cannot be opened, or is another one.
    fn open_directory(&self) -> Result<OwnedFd, BackendError>;
}

/// How the file of a stream is copied.
#[derive(Debug, Clone)]
pub struct Copying {
    /// Who does it.
    pub with: CopyWith,
    /// Who starts the program, where one does it.
    pub program: Option<Arc<dyn CopyProgram>>,
    /// Where copies are made, if not in the working place of the file.
    pub to: Option<Arc<dyn OtherPlace>>,
    /// Why the kernel does not copy between these places, once it has said so.
    pub refused: Arc<OnceLock<FailureCode>>,
}

impl Copying {
    /// Copies beside the file.
    pub fn new(with: CopyWith) -> Self {
        Self { with, program: None, to: None, refused: Arc::default() }
    }
}

/// What a session does in a tree that is only read.
#[derive(Debug, Clone)]
pub enum InTree {
    /// It is one of those that read it.
    Reads(Arc<Tree>),
    /// It looks at a file and at the names at the top, while others read: `stat`, `read` and `list+stat`, of whatever key.
    LooksOn,
}

/// What a session needs to know.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Whose session it is.
    pub client: ClientId,
    /// The client's rank among the clients of this target.
    pub rank: u32,
    /// Seed of everything random, the same for all clients of a run, and for all runs of a campaign.
    pub seed: u64,
    /// Which repetition it is, from 0: what is random and no content is another in each.
    pub repetition: u32,
    /// The longest object or block in bytes: buffers are made for it when the session opens.
    pub bytes_max: u64,
    /// Whether created objects are made durable.
    pub durability: Durability,
    /// Whether content is compared.
    pub verification: Verification,
    /// How the file of a stream is opened that is opened by a request of its own.
    pub stream_io: StreamIo,
    /// How many percent of what is written are zeros, in each 4 KiB.
    pub compressible_percent: u32,
    /// How the file of a stream is copied, where that is asked for.
    pub copying: Option<Copying>,
    /// Who makes caches cold or warm, where that is asked for.
    pub caches: Option<Arc<dyn CacheMaker>>,
    /// What it does in a tree that is only read, for a session that works in no place of its own: it needs none.
    pub tree: Option<InTree>,
    /// Whether connections to a server are kept.
    pub connections: Connections,
    /// Names of objects that have one.
    pub names: Option<Arc<NameTable>>,
    /// Buffers of the worker, for sessions that need none of their own.
    pub blocks: Option<Blocks>,
    /// Who gives tags, where samples are to say where.
    pub tags: Option<Arc<TagTable>>,
}

impl SessionOptions {
    /// Only lengths are compared, nothing is made durable, and objects have numbers.
    pub const fn new(client: ClientId, rank: u32, seed: u64, bytes_max: u64) -> Self {
        Self {
            client,
            rank,
            seed,
            repetition: 0,
            bytes_max,
            durability: Durability::Default,
            verification: Verification::Length,
            stream_io: StreamIo::Buffered,
            compressible_percent: 0,
            copying: None,
            caches: None,
            tree: None,
            connections: Connections::Reused,
            names: None,
            blocks: None,
            tags: None,
        }
    }

    /// The tag of this name, for the completions of the session; 0 where nobody wants to know.
    pub fn tag(&self, kind: TagKind, name: &str) -> u16 {
        self.tags.as_ref().map_or(0, |tags| tags.tag(kind, name))
    }
}

/// What a backend is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Kind: posix, memory, delayed, faulty.
    pub kind: &'static str,
    /// The target as the user may see it, secrets removed.
    pub target: String,
    /// What each operation means on this kind of target, for `iolag show`.
    pub semantics: &'static str,
}

/// Which operations a backend can execute, and what they mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capabilities {
    /// The operations, in any order.
    pub operations: Vec<Operation>,
    /// What differs between kinds of targets.
    pub semantics: Semantics,
}

impl Capabilities {
    /// The first of `needed` that is missing.
    pub fn missing(&self, needed: &[Operation]) -> Option<Operation> {
        needed.iter().copied().find(|operation| !self.operations.contains(operation))
    }
}

/// A working place in a target, as the manifest records it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Absolute path or URL of the target.
    pub target: String,
    /// Name of the working place in it.
    pub name: String,
    /// Which directory it is, where it is one.
    pub identity: Option<PlaceIdentity>,
    /// What was left in it: clean-up removes only a place in which it is.
    pub token: Option<PlaceToken>,
    /// The number of its file system, where that has one (statvfs(3)).
    pub file_system: Option<u64>,
    /// What to know about it, as a sentence.
    pub remark: Option<String>,
}

/// What a server said at the first contact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    /// Its software, as it calls itself.
    pub software: Option<String>,
    /// Who answered.
    pub address: Option<String>,
    /// The version of TLS, if the connection is protected by it.
    pub protection: Option<&'static str>,
    /// The parts of coming to the first answer.
    pub parts: Vec<Mark>,
    /// What variables and files said of the target, by the names of its settings: with them it is the same for whoever has other ones.
    pub settings: Vec<(&'static str, String)>,
    /// What to know about it, as a sentence.
    pub remark: Option<String>,
}

/// What is in a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inventory {
    /// Objects with names of iolag's form.
    pub objects: u64,
    /// Anything else.
    pub foreign: u64,
}

/// Something that clean-up could not or must not remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Path or key.
    pub path: String,
    /// Why it is still there.
    pub reason: String,
}
