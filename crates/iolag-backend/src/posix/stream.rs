//! The file of a stream: open from the preparation of its first block until something else is prepared.
//!
//! Opening and closing are outside the timing, in `prepare`: a block's duration is that of one pwrite(2) or pread(2). An
//! open that failed is reported by the block that needed it.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use iolag_model::{FailureCode, Operation};
use rustix::fs::{OFlags, fsync, openat};
use rustix::io::{Errno, pread, pwrite};

use super::calls::{OBJECT_MODE, completion_of};
use crate::{Completion, ObjectKey, Request};

/// What is open.
#[derive(Debug, Default)]
pub(super) enum StreamFile {
    /// Nothing.
    #[default]
    Closed,
    /// The stream's file.
    Open { file: OwnedFd, key: ObjectKey, direction: Direction },
    /// It could not be opened.
    Failed(FailureCode),
}

/// What a stream's file is open for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Reading,
    Writing,
}

impl StreamFile {
    /// Opens what the request needs, unless it is open. Block 0 always opens anew: a stream that is written begins empty.
    pub(super) fn prepare(&mut self, directory: &OwnedFd, name: &CStr, request: &Request) {
        let direction = match request.operation {
            Operation::StreamRead => Direction::Reading,
            _ => Direction::Writing,
        };
        let begins = request.offset == 0 && request.operation != Operation::StreamFsync;
        if !begins && self.is_open_for(request.key, direction) {
            return;
        }
        *self = Self::Closed;
        let flags = OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | match (direction, begins) {
                (Direction::Reading, _) => OFlags::RDONLY,
                (Direction::Writing, true) => OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC,
                (Direction::Writing, false) => OFlags::WRONLY,
            };
        *self = match openat(directory, name, flags, OBJECT_MODE) {
            Ok(file) => Self::Open { file, key: request.key, direction },
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
        match self {
            Self::Open { file, .. } => completion_of(fsync(file)),
            Self::Failed(code) => Completion::failed(*code),
            Self::Closed => Completion::failed(Errno::BADF.into()),
        }
    }

    fn transfer(
        &self,
        request: &Request,
        mut call: impl FnMut(&OwnedFd, u64) -> Result<usize, Errno>,
    ) -> Completion {
        let file = match self {
            Self::Open { file, .. } => file,
            Self::Failed(code) => return Completion::failed(*code),
            Self::Closed => return Completion::failed(Errno::BADF.into()),
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

    fn is_open_for(&self, wanted: ObjectKey, direction: Direction) -> bool {
        matches!(self, Self::Open { key, direction: open, .. } if *key == wanted && *open == direction)
    }
}
