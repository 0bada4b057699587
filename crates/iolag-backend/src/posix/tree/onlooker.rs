//! Who looks at a tree while others read it: at one file, and at the names at its top.

use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use iolag_model::Operation;
use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::{Errno, read};

use super::session::TreeSession;
use super::shared::Tree;
use crate::posix::calls::completion_of;
use crate::posix::directory::{LISTING_BYTES, read_entries, retry};
use crate::{BackendError, Completion, Request, Session, SessionOptions};

/// In how many directories a file is looked for.
const LOOKED_DIRECTORIES_MAX: u32 = 100;
/// The attributes of how many names a listing asks for.
const LISTED_MAX: u64 = 1000;
/// What is read of a file at most.
const READ_BYTES: usize = 4096;

/// It asks `stat` and `read` of the first regular file that is found in the tree, and lists the names at its top with their attributes, as `ls -l`
/// does, up to 1000.
#[derive(Debug)]
pub(in crate::posix) struct Onlooker {
    session: TreeSession,
    /// The number of the file, if one was found.
    file: Option<u64>,
    listing: Vec<MaybeUninit<u8>>,
    buffer: Vec<u8>,
}

impl Onlooker {
    /// At the tree in this directory. What is to be looked at is found now.
    pub(in crate::posix) fn open(target: &Path, options: &SessionOptions) -> Result<Self, BackendError> {
        let tree = Arc::new(Tree::default());
        let mut session = TreeSession::open(target, Arc::clone(&tree), options)?;
        for _ in 0..LOOKED_DIRECTORIES_MAX {
            if !tree.is_to_be_walked() || tree.walk().found.files > 0 {
                break;
            }
            // What cannot be read is passed by.
            let _ = session.execute(&Request::new(Operation::TreeList, crate::ObjectKey::default(), 0));
        }
        tree.end_walk();
        let file = (0..tree.names()).find(|number| tree.is_file(*number));
        Ok(Self {
            session,
            file,
            listing: vec![MaybeUninit::new(0xff); LISTING_BYTES],
            buffer: vec![0xff; READ_BYTES],
        })
    }

    fn read(&mut self) -> Result<u64, Errno> {
        let opened = self.session.open_file(self.file.ok_or(Errno::NOENT)?)?;
        let bytes = retry(|| read(&opened, &mut *self.buffer))?;
        Ok(bytes as u64)
    }

    fn list(&mut self) -> Result<u64, Errno> {
        let top = self.session.open_top()?;
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
        let mut names = 0;
        let all = read_entries(top.as_fd(), &mut self.listing, |name, _| {
            names += 1;
            if names > LISTED_MAX {
                return Ok(None::<()>);
            }
            match retry(|| statx(top.as_fd(), name, flags, StatxFlags::BASIC_STATS)) {
                // Somebody removed it meanwhile.
                Ok(_) | Err(Errno::NOENT) => Ok(None),
                Err(errno) => Err(errno),
            }
        });
        all.map(|_| names)
    }
}

impl Session for Onlooker {
    fn prepare(&mut self, _request: &Request) {}

    fn execute(&mut self, request: &Request) -> Completion {
        let counted = |result: Result<u64, Errno>| match result {
            Ok(count) => Completion::ok(count),
            Err(errno) => Completion::failed(errno.into()),
        };
        match (request.operation, self.file) {
            (Operation::Stat, Some(file)) => completion_of(self.session.stat(file)),
            (Operation::Stat, None) => Completion::failed(Errno::NOENT.into()),
            (Operation::Read, _) => counted(self.read()),
            (Operation::ListWithAttributes, _) => counted(self.list()),
            _ => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }
}
