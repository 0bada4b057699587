//! The file of a stream.
//!
//! Opening and closing it may be asked for, as operations of their own. Where they are not, the file is open from the preparation of
//! its first block until something else is prepared, outside the timing, and an open that failed is reported by the block that needed it.
//! A block's duration is that of one pwrite(2) or pread(2), or of as many as the kernel makes of it.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use iolag_model::{BlockDirection, FailureCode, Operation, StreamIo};
use rustix::fs::{FallocateFlags, OFlags, fallocate, fsync, openat};
use rustix::io::{Errno, pread, pwrite};

use super::calls::{OBJECT_MODE, close, completion_of};
use crate::{Completion, ObjectKey, Request};

/// What is open.
#[derive(Debug, Default)]
pub(super) enum StreamFile {
    /// Nothing.
    #[default]
    Closed,
    /// The stream's file.
    Open { file: OwnedFd, key: ObjectKey, direction: BlockDirection, opening: Opening },
    /// It could not be opened.
    Failed(FailureCode),
}

/// Who opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// A request of its own did, and another closes it.
    Asked,
    /// The preparation of a block.
    Prepared,
}

/// What openat(2) is given for a file that is opened by a request of its own.
fn flags(operation: Operation, io: StreamIo) -> Option<(BlockDirection, OFlags)> {
    let (direction, flags) = match operation {
        Operation::StreamCreate => (BlockDirection::Written, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC),
        Operation::StreamReopen => (BlockDirection::Written, OFlags::WRONLY),
        Operation::StreamOpen => (BlockDirection::Read, OFlags::RDONLY),
        _ => return None,
    };
    let io = match io {
        StreamIo::Buffered => OFlags::empty(),
        StreamIo::Direct => OFlags::DIRECT,
        StreamIo::Dsync => OFlags::DSYNC,
    };
    Some((direction, flags | io | OFlags::CLOEXEC | OFlags::NOFOLLOW))
}

impl StreamFile {
    /// Whether it was opened by a request of its own.
    pub(super) const fn is_asked_for(&self) -> bool {
        matches!(self, Self::Open { opening: Opening::Asked, .. })
    }

    /// Opens the file of a request that is to open it.
    pub(super) fn open(
        &mut self,
        directory: &OwnedFd,
        name: &CStr,
        request: &Request,
        io: StreamIo,
    ) -> Completion {
        let Some((direction, flags)) = flags(request.operation, io) else {
            return Completion::failed(Errno::INVAL.into());
        };
        match openat(directory, name, flags, OBJECT_MODE) {
            Ok(file) => {
                *self = Self::Open { file, key: request.key, direction, opening: Opening::Asked };
                Completion::ok(0)
            }
            Err(errno) => Completion::failed(errno.into()),
        }
    }

    /// Takes room for so many bytes. The file does not get longer: its length says what was written.
    pub(super) fn allocate(&self, bytes: u64) -> Completion {
        self.on_file(|file| fallocate(file, FallocateFlags::KEEP_SIZE, 0, bytes))
    }

    /// Closes it, and says what the system says to that.
    pub(super) fn end(&mut self) -> Completion {
        match std::mem::take(self) {
            Self::Open { file, .. } => completion_of(close(file)),
            Self::Failed(code) => Completion::failed(code),
            Self::Closed => Completion::failed(Errno::BADF.into()),
        }
    }

    /// Opens what the request needs, unless it is open. Block 0 always opens anew what no request opened: a stream that is written
    /// begins empty.
    pub(super) fn prepare(&mut self, directory: &OwnedFd, name: &CStr, request: &Request) {
        // What makes it durable has to do with a file that is written.
        let direction = request.operation.block_direction().unwrap_or(BlockDirection::Written);
        if self.is_asked_for() {
            return;
        }
        let begins = request.offset == 0 && request.operation != Operation::StreamFsync;
        if !begins && self.is_open_for(request.key, direction) {
            return;
        }
        *self = Self::Closed;
        let flags = OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | match (direction, begins) {
                (BlockDirection::Read, _) => OFlags::RDONLY,
                (BlockDirection::Written, true) => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
                (BlockDirection::Written, false) => OFlags::WRONLY,
            };
        *self = match openat(directory, name, flags, OBJECT_MODE) {
            Ok(file) => Self::Open { file, key: request.key, direction, opening: Opening::Prepared },
            Err(errno) => Self::Failed(errno.into()),
        };
    }

    /// Closes what is open.
    pub(super) fn close(&mut self) {
        *self = Self::Closed;
    }

    /// Writes one block at its offset.
    pub(super) fn write(&self, buffer: &[u8], request: &Request) -> Completion {
        self.transfer(request, |file, done| {
            let place = (done % buffer.len() as u64) as usize;
            let length = (buffer.len() - place).min((request.bytes - done) as usize);
            pwrite(file, &buffer[place..place + length], request.offset + done)
        })
    }

    /// Reads one block at its offset.
    pub(super) fn read(&self, buffer: &mut [u8], request: &Request) -> Completion {
        self.transfer(request, |file, done| {
            let place = (done % buffer.len() as u64) as usize;
            let length = (buffer.len() - place).min((request.bytes - done) as usize);
            pread(file, &mut buffer[place..place + length], request.offset + done)
        })
    }

    /// Makes the stream durable.
    pub(super) fn fsync(&self) -> Completion {
        self.on_file(|file| fsync(file))
    }

    /// The file, if it is open; else what those who need it are answered.
    pub(super) fn file(&self) -> Result<&OwnedFd, FailureCode> {
        match self {
            Self::Open { file, .. } => Ok(file),
            Self::Failed(code) => Err(*code),
            Self::Closed => Err(Errno::BADF.into()),
        }
    }

    fn on_file(&self, call: impl FnOnce(&OwnedFd) -> Result<(), Errno>) -> Completion {
        match self.file() {
            Ok(file) => completion_of(call(file)),
            Err(code) => Completion::failed(code),
        }
    }

    fn transfer(
        &self,
        request: &Request,
        mut call: impl FnMut(&OwnedFd, u64) -> Result<usize, Errno>,
    ) -> Completion {
        let file = match self.file() {
            Ok(file) => file,
            Err(code) => return Completion::failed(code),
        };
        let mut done = 0;
        while done < request.bytes {
            match call(file, done) {
                Ok(0) => return Completion::at_the_end(done, request.bytes),
                Ok(bytes) => done += bytes as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Completion::partly(done, errno.into()),
            }
        }
        Completion::ok(done)
    }

    fn is_open_for(&self, wanted: ObjectKey, direction: BlockDirection) -> bool {
        matches!(self, Self::Open { key, direction: open, .. } if *key == wanted && *open == direction)
    }
}
