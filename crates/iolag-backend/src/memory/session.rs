//! One client of the store in memory, in both forms.

use std::sync::Arc;

use iolag_model::{FailureCode, Operation};

use super::store::Store;
use crate::content::Buffers;
use crate::{
    AsyncExecution, AsyncSession, BackendError, Completion, ObjectKey, Request, Session, SessionOptions,
};

const NOT_SUPPORTED: FailureCode = FailureCode::from_errno(libc::EOPNOTSUPP);
const NOT_OPEN: FailureCode = FailureCode::from_errno(libc::EBADF);

/// A client.
#[derive(Debug)]
pub(super) struct MemorySession {
    store: Arc<Store>,
    buffers: Buffers,
    open: Option<ObjectKey>,
    /// The stream that a request of its own opened.
    stream: Option<ObjectKey>,
    /// The copy of a stream that a request of its own opened.
    copy: Option<ObjectKey>,
    size_bytes: u64,
}

impl MemorySession {
    /// A client of this store.
    pub(super) fn new(store: Arc<Store>, options: &SessionOptions) -> Result<Self, BackendError> {
        Ok(Self {
            store,
            buffers: Buffers::new(options)?,
            open: None,
            stream: None,
            copy: None,
            size_bytes: 0,
        })
    }

    /// What is open: an object, a stream, and a copy of one.
    pub(super) const fn open(&self) -> [Option<ObjectKey>; 3] {
        [self.open, self.stream, self.copy]
    }

    pub(super) const fn set_open(&mut self, [object, stream, copy]: [Option<ObjectKey>; 3]) {
        (self.open, self.stream, self.copy) = (object, stream, copy);
    }

    fn make_ready(&mut self, request: &Request) {
        match request.operation {
            Operation::Create | Operation::Write | Operation::WriteDurably | Operation::CallWrite => {
                self.buffers.prepare_write(request.key, request.offset, request.bytes);
            }
            Operation::StreamWrite | Operation::StreamRewrite | Operation::StreamRandomWrite => {
                self.buffers.prepare_block(request.key, request.offset, request.bytes);
            }
            Operation::Read | Operation::CallRead | Operation::StreamRead | Operation::StreamRandomRead => {
                self.buffers.prepare_read(request.bytes);
            }
            Operation::CallOpen | Operation::CallCreate => self.open = None,
            _ => {}
        }
    }

    fn run(&mut self, request: &Request) -> Completion {
        match self.answer(request) {
            Ok(bytes) => Completion::ok(bytes),
            Err(Failed { bytes, code }) => Completion::partly(bytes, code),
        }
    }

    fn answer(&mut self, request: &Request) -> Result<u64, Failed> {
        let key = request.key;
        match request.operation {
            Operation::Stat | Operation::CallStat => self.size_bytes = self.store.length(key)?,
            Operation::Read => return self.read(key, 0, request.bytes),
            Operation::Delete | Operation::CallUnlink => self.store.remove(key)?,
            Operation::Create => {
                self.store.truncate(key)?;
                return self.write(key, 0, request.bytes);
            }
            Operation::Write | Operation::WriteDurably => return self.write(key, 0, request.bytes),
            Operation::Rename | Operation::CallRename => self.store.rename(key, request.other)?,
            Operation::List | Operation::CallReaddir => return Ok(self.store.count(key.into())?),
            Operation::MakeDirectory | Operation::CallMkdir => self.store.make_dataset(key.into())?,
            Operation::RemoveDirectory | Operation::CallRmdir => self.store.remove_dataset(key.into())?,
            Operation::CallOpen => {
                self.store.length(key)?;
                self.open = Some(key);
            }
            Operation::CallCreate => {
                self.store.truncate(key)?;
                self.open = Some(key);
            }
            Operation::CallRead => return self.read(self.open.ok_or(NOT_OPEN)?, 0, request.bytes),
            Operation::CallWrite => return self.write(self.open.ok_or(NOT_OPEN)?, 0, request.bytes),
            Operation::CallFsync => drop(self.open.ok_or(NOT_OPEN)?),
            Operation::CallClose | Operation::CallCloseWritten => drop(self.open.take().ok_or(NOT_OPEN)?),
            Operation::StreamWrite | Operation::StreamRewrite | Operation::StreamRandomWrite => {
                if request.offset == 0 && self.stream.is_none() {
                    self.store.truncate(key)?;
                }
                return self.write(key, request.offset, request.bytes);
            }
            Operation::StreamFsync | Operation::StreamCloseWritten if request.other != key => {
                let copy = self.copy.ok_or(NOT_OPEN)?;
                self.copy = Some(copy).filter(|_| request.operation == Operation::StreamFsync);
            }
            Operation::StreamFsync => drop(self.store.length(key)?),
            Operation::StreamRead | Operation::StreamRandomRead => {
                return self.read(key, request.offset, request.bytes);
            }
            Operation::StreamCopy => {
                let ends = (self.stream.ok_or(NOT_OPEN)?, self.copy.ok_or(NOT_OPEN)?);
                return self.copy(ends, request.offset, request.bytes);
            }
            Operation::StreamCompare => return self.compare(request),
            Operation::StreamCreate => {
                self.store.truncate(key)?;
                let place = if request.other == key { &mut self.stream } else { &mut self.copy };
                *place = Some(key);
            }
            Operation::StreamOpen | Operation::StreamReopen => {
                self.store.length(key)?;
                self.stream = Some(key);
            }
            Operation::StreamAllocate => drop(self.stream.ok_or(NOT_OPEN)?),
            Operation::StreamClose | Operation::StreamCloseWritten => {
                self.stream.ok_or(NOT_OPEN)?;
                self.stream = None;
            }
            _ => return Err(NOT_SUPPORTED.into()),
        }
        Ok(0)
    }

    fn write(&self, key: ObjectKey, offset: u64, bytes: u64) -> Result<u64, Failed> {
        self.store.length(key)?;
        let mut done = 0;
        while done < bytes {
            let piece = &self.buffers.written[..self.buffers.written.len().min((bytes - done) as usize)];
            self.store
                .write(key, offset.saturating_add(done), piece)
                .map_err(|code| Failed { bytes: done, code })?;
            done += piece.len() as u64;
        }
        Ok(done)
    }

    fn read(&mut self, key: ObjectKey, offset: u64, bytes: u64) -> Result<u64, Failed> {
        self.store.length(key)?;
        let mut done = 0;
        while done < bytes {
            let length = self.buffers.read.len().min((bytes - done) as usize);
            let piece = &mut self.buffers.read[..length];
            let moved = self
                .store
                .read(key, offset.saturating_add(done), piece)
                .map_err(|code| Failed { bytes: done, code })?;
            match moved {
                0 if bytes == Request::TO_THE_END => break,
                0 => return Err(Failed { bytes: done, code: FailureCode::SHORT }),
                _ => done += moved as u64,
            }
        }
        Ok(done)
    }
}

impl MemorySession {
    fn copy(&mut self, (from, to): (ObjectKey, ObjectKey), offset: u64, bytes: u64) -> Result<u64, Failed> {
        let mut done = 0;
        while done < bytes {
            let length = self.buffers.read.len().min((bytes - done) as usize);
            let moved = self.read_piece(from, offset + done, length);
            let copied = moved.and_then(|moved| match moved {
                0 => Err(FailureCode::SHORT),
                _ => self.store.write(to, offset + done, &self.buffers.read[..moved]).map(|()| moved),
            });
            done += copied.map_err(|code| Failed { bytes: done, code })? as u64;
        }
        Ok(done)
    }

    /// Reads a copy, and compares it with what was copied.
    fn compare(&mut self, request: &Request) -> Result<u64, Failed> {
        let mut done = 0;
        while done < request.bytes {
            let length = self.buffers.read.len().min((request.bytes - done) as usize);
            let read = self.read_piece(request.key, done, length);
            let compared = read.and_then(|read| match read as u64 {
                0 => Err(FailureCode::SHORT),
                bytes if self.buffers.are_as_written(request.other, done, bytes) => Ok(bytes),
                _ => Err(FailureCode::MISMATCH),
            });
            done += compared.map_err(|code| Failed { bytes: done, code })?;
        }
        Ok(done)
    }

    fn read_piece(&mut self, key: ObjectKey, offset: u64, length: usize) -> Result<usize, FailureCode> {
        self.store.read(key, offset, &mut self.buffers.read[..length])
    }
}

/// An answer that is no success, with what was moved before it.
struct Failed {
    bytes: u64,
    code: FailureCode,
}

impl From<FailureCode> for Failed {
    fn from(code: FailureCode) -> Self {
        Self { bytes: 0, code }
    }
}

impl Session for MemorySession {
    fn prepare(&mut self, request: &Request) {
        self.make_ready(request);
    }

    fn execute(&mut self, request: &Request) -> Completion {
        self.run(request)
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.buffers.inspect(request, completion, self.size_bytes)
    }
}

impl AsyncSession for MemorySession {
    fn prepare(&mut self, request: &Request) {
        self.make_ready(request);
    }

    fn execute<'a>(&'a mut self, request: &'a Request) -> AsyncExecution<'a> {
        Box::pin(async { self.run(request) })
    }

    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.buffers.inspect(request, completion, self.size_bytes)
    }
}
