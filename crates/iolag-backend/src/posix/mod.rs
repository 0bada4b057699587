//! A directory of any mounted file system.
//!
//! Invariants: everything happens below one working directory, which iolag made with mode 0700 or found empty, and in which a file that
//! it made showed that the directory is its own (see `iolag_directory` and `token`); a session names objects relative to one descriptor of it, which it opened itself, since its thread may have a
//! descriptor table of its own; no symbolic link inside the target is followed.
//!
//! Limits: that no dataset is a symbolic link is seen when a session opens; afterwards it rests on the mode 0700, since
//! unlinkat(2) cannot refuse links on the way and an additional check would be part of what is measured.

mod caches;
mod calls;
mod copying;
mod directory;
mod names;
mod place;
mod removal;
mod ring;
mod session;
mod stream;
mod token;
mod tree;

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use iolag_model::{Operation, PlaceMaker, RunId};

use crate::{
    Backend, BackendError, Capabilities, Description, InTree, Inventory, LaneSession, Leftover, OtherPlace,
    Place, Semantics, Session, SessionOptions,
};
use place::{Expected, Whereabouts, WorkingDirectory};
use ring::RingSession;
use tree::{Onlooker, TreeSession};

pub use caches::{CacheLook, DropMethod, PlaceCaches};
pub use names::token_name;

pub use ring::ring_refusal;
pub use session::PosixSession;
pub use tree::Tree;

/// The name of the working directory, unless the caller chooses another.
pub const WORKING_NAME: &str = "iolag-work";

/// Every operation on objects, calls and streams.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::Delete,
    Operation::Write,
    Operation::Rename,
    Operation::List,
    Operation::WriteDurably,
    Operation::MakeDirectory,
    Operation::RemoveDirectory,
    Operation::CallStat,
    Operation::CallOpen,
    Operation::CallRead,
    Operation::CallClose,
    Operation::CallUnlink,
    Operation::CallCreate,
    Operation::CallWrite,
    Operation::CallCloseWritten,
    Operation::CallFsync,
    Operation::CallRename,
    Operation::CallReaddir,
    Operation::CallMkdir,
    Operation::CallRmdir,
    Operation::StreamWrite,
    Operation::StreamFsync,
    Operation::StreamRead,
    Operation::StreamCreate,
    Operation::StreamOpen,
    Operation::StreamReopen,
    Operation::StreamAllocate,
    Operation::StreamClose,
    Operation::StreamCloseWritten,
    Operation::StreamRewrite,
    Operation::StreamRandomRead,
    Operation::StreamRandomWrite,
    Operation::StreamCopy,
    Operation::StreamCompare,
];

/// Of a session in a tree that is there already.
const OPERATIONS_OF_TREES: &[Operation] = &[Operation::TreeList, Operation::TreeStat, Operation::TreeRead];

const SEMANTICS: &str = "stat is statx by name; read is openat, read, close; create is openat with O_CREAT and O_TRUNC, write, \
                         [fsync], close; delete is unlinkat; write is openat, write, close; write+fsync has an fsync before \
                         close; list is openat, getdents64 to the end, close; a stream's blocks are pread and pwrite, copied ones both, or copy_file_range; \
                         of a tree, list is openat2, getdents64 to the end, close, stat is statx by name, read is openat2, statx, read to the \
                         end, close, each with that of its directory where the last name was in another";

/// A directory as a target.
#[derive(Debug)]
pub struct PosixBackend {
    working: WorkingDirectory,
    /// Which directory the working directory is, once known: no other one is touched from then on.
    expected: Mutex<Expected>,
    /// Where the working directory was made or found by this process.
    found: Mutex<Option<Whereabouts>>,
}

impl PosixBackend {
    /// The directory `target`, with a working directory called `working_name` in it. Touches neither; a relative path is
    /// taken from the current directory as it is now.
    ///
    /// # Errors
    /// If `target` is empty, or `working_name` is not a plain file name.
    pub fn new(target: PathBuf, working_name: &str) -> Result<Self, BackendError> {
        Ok(Self {
            working: WorkingDirectory::new(&target, working_name)?,
            expected: Mutex::default(),
            found: Mutex::new(None),
        })
    }

    /// The working directory that was made or found, opened for the calling thread.
    ///
    /// # Errors
    /// If it cannot be opened, or is another one.
    pub fn open_place(&self) -> Result<OwnedFd, BackendError> {
        self.working.open(self.expected())
    }

    /// The directory itself, opened for reading by the calling thread.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open_target(&self) -> Result<OwnedFd, BackendError> {
        let target = self.working.open_target()?;
        directory::open(target.as_fd(), c".")
            .map_err(|errno| place::failed("open the directory", self.working.target(), errno))
    }

    /// The run whose working directory it is, if it says so.
    pub fn owner(&self) -> Option<RunId> {
        let directory = self.working.open_in(&self.working.open_target().ok()?).ok()?;
        let owner = self.working.contents(directory.as_fd()).ok()?.owner()?;
        token::run_of(directory.as_fd(), owner)
    }

    fn open_for_session(&self) -> Result<OwnedFd, BackendError> {
        let directory = self.open_place()?;
        self.working.refuse_linked_datasets(directory.as_fd())?;
        Ok(directory)
    }

    fn expected(&self) -> Expected {
        *self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, (place, found): (Place, Whereabouts)) -> Place {
        self.expect_place(&place);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        place
    }

    fn expect(&self, expected: Expected) {
        *self.expected.lock().unwrap_or_else(PoisonError::into_inner) = expected;
    }
}

impl OtherPlace for PosixBackend {
    fn open_directory(&self) -> Result<OwnedFd, BackendError> {
        self.open_place()
    }
}

impl Backend for PosixBackend {
    fn describe(&self) -> Description {
        Description {
            kind: "posix",
            target: self.working.target().display().to_string(),
            semantics: SEMANTICS,
        }
    }

    fn capabilities(&self) -> Capabilities {
        let operations = [OPERATIONS, OPERATIONS_OF_TREES].concat();
        Capabilities { operations, semantics: Semantics::OF_DIRECTORIES }
    }

    fn expect_place(&self, place: &Place) {
        self.expect(Expected { identity: place.identity, token: place.token });
    }

    fn create_place(&self, maker: &PlaceMaker) -> Result<Place, BackendError> {
        Ok(self.keep(self.working.create(maker)?))
    }

    fn reopen_place(&self) -> Result<Place, BackendError> {
        Ok(self.keep(self.working.reopen(self.expected())?))
    }

    fn open_session(&self, options: &SessionOptions) -> Result<Box<dyn Session>, BackendError> {
        let target = self.working.target();
        Ok(match &options.tree {
            Some(InTree::Reads(tree)) => Box::new(TreeSession::open(target, Arc::clone(tree), options)?),
            Some(InTree::LooksOn) => Box::new(Onlooker::open(target, options)?),
            None => Box::new(PosixSession::new(self.open_for_session()?, options)?),
        })
    }

    fn open_lanes(
        &self,
        options: &SessionOptions,
        lanes: u32,
    ) -> Option<Result<Box<dyn LaneSession>, BackendError>> {
        let opened = self.open_for_session().and_then(|place| RingSession::new(place, options, lanes));
        Some(opened.map(|session| Box::new(session) as Box<dyn LaneSession>))
    }

    fn inventory(&self, rank: u32, dataset: u32) -> Result<Inventory, BackendError> {
        self.working.inventory(self.expected(), rank, dataset)
    }

    fn refuse_moved(&self) -> Result<(), BackendError> {
        match &*self.found.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(found) => self.working.refuse_moved(found),
            None => Ok(()),
        }
    }

    fn remove_place(&self) -> Result<Vec<Leftover>, BackendError> {
        self.refuse_moved()?;
        let leftovers = removal::remove(&self.working, self.expected())?;
        if leftovers.is_empty() {
            self.expect(Expected::default());
        }
        Ok(leftovers)
    }
}

#[cfg(test)]
mod tests;
