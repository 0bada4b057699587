//! The measured path: direct system calls with prepared names and buffers.
//!
//! Invariant: `execute` makes exactly the system calls that the operation is defined by, allocates nothing and copies
//! nothing. A call that the kernel interrupted before it did anything (open without O_CREAT, read, write, statx) is made
//! again; every other answer is data.
//!
//! The calls of objects are compiled into the loop of whoever drives the session, down to the instruction that enters the kernel.
//! Returning from a function in which the kernel was entered cost up to a tenth of an operation on tmpfs (docs/performance.md);
//! what is rare is one function instead.

use std::any::Any;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use iolag_model::{BlockDirection, Durability, Operation, StreamIo};
use rustix::fs::{
    AtFlags, Mode, OFlags, RawDir, StatxFlags, fsync, mkdirat, openat, renameat, statx, unlinkat,
};
use rustix::io::{Errno, read, write};

use super::calls::{OBJECT_MODE, close, completion_of};
use super::copying::Copy;
use super::directory::{DIRECTORY, LISTING_BYTES, is_dot};
use super::names::{DatasetName, ObjectName};
use super::stream::StreamFile;
use crate::content::Buffers;
use crate::{BackendError, CacheMaker, Completion, ObjectKey, Request, Session, SessionOptions};

const DATASET_MODE: Mode = Mode::RWXU;
const COMMON: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW);
const READ: OFlags = COMMON.union(OFlags::RDONLY);
const WRITE: OFlags = COMMON.union(OFlags::WRONLY);
const CREATE: OFlags = WRITE.union(OFlags::CREATE).union(OFlags::TRUNC);

/// One client in a working directory.
#[derive(Debug)]
pub struct PosixSession {
    directory: OwnedFd,
    name: ObjectName,
    other: ObjectName,
    dataset: DatasetName,
    buffers: Buffers,
    listing: Vec<MaybeUninit<u8>>,
    durability: Durability,
    /// The descriptor kept between the calls of an object.
    open: Option<OwnedFd>,
    stream: StreamFile,
    stream_io: StreamIo,
    copy: Copy,
    caches: Option<Arc<dyn CacheMaker>>,
    /// What the last stat saw.
    size_bytes: u64,
}

impl PosixSession {
    /// A session in an open working directory.
    pub(super) fn new(directory: OwnedFd, options: &SessionOptions) -> Result<Self, BackendError> {
        Ok(Self {
            directory,
            name: ObjectName::new(),
            other: ObjectName::new(),
            dataset: DatasetName::new(ObjectKey::default()),
            buffers: Buffers::new(options)?,
            // Written to, so that no page of it is touched for the first time while the clock runs.
            listing: vec![MaybeUninit::new(0xff); LISTING_BYTES],
            durability: options.durability,
            open: None,
            stream: StreamFile::Closed,
            stream_io: options.stream_io,
            copy: Copy::new(options)?,
            caches: options.caches.clone(),
            size_bytes: 0,
        })
    }
}

impl Session for PosixSession {
    #[inline]
    fn prepare(&mut self, request: &Request) {
        self.name.form(request.key);
        match request.operation {
            Operation::StreamWrite
            | Operation::StreamRead
            | Operation::StreamFsync
            | Operation::StreamRewrite
            | Operation::StreamRandomRead
            | Operation::StreamRandomWrite => {
                self.prepare_stream(request);
                return;
            }
            Operation::Create | Operation::Write | Operation::WriteDurably | Operation::CallWrite => {
                self.buffers.prepare_write(request.key, 0, request.bytes);
            }
            Operation::Read | Operation::CallRead => self.buffers.prepare_read(request.bytes),
            Operation::Rename | Operation::CallRename => self.other.form(request.other),
            Operation::List
            | Operation::CallReaddir
            | Operation::MakeDirectory
            | Operation::CallMkdir
            | Operation::RemoveDirectory
            | Operation::CallRmdir => self.dataset = DatasetName::new(request.key),
            // What an object whose calls were broken off left open.
            Operation::CallOpen | Operation::CallCreate => self.open = None,
            _ => {}
        }
        if !matches!(self.stream, StreamFile::Closed) && !self.stream.is_asked_for() {
            self.stream.close();
        }
    }

    #[inline(always)]
    fn execute(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::Stat | Operation::CallStat => self.stat(),
            Operation::Read => self.read_object(request.bytes),
            Operation::Delete | Operation::CallUnlink => self.unlink(),
            Operation::Create => self.write_object(CREATE, request.bytes, self.durability),
            Operation::CallOpen => self.open_and_keep(READ),
            Operation::CallCreate => self.open_and_keep(CREATE),
            Operation::CallRead => match &self.open {
                Some(file) => read_all(file, &mut self.buffers.read, request.bytes),
                None => not_open(),
            },
            Operation::CallWrite => match &self.open {
                Some(file) => write_all(file, &self.buffers.written, request.bytes),
                None => not_open(),
            },
            Operation::CallClose | Operation::CallCloseWritten => match self.open.take() {
                Some(file) => completion_of(close(file)),
                None => not_open(),
            },
            _ => self.execute_rarely(request),
        }
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }

    fn inspects(&self) -> bool {
        self.buffers.are_compared()
    }

    fn message(&mut self) -> Option<String> {
        self.copy.take_said()
    }

    #[inline]
    fn inspect(&mut self, request: &Request, completion: Completion) -> Completion {
        self.buffers.inspect(request, completion, self.size_bytes)
    }
}

impl PosixSession {
    /// The file of the stream.
    pub(super) const fn stream(&self) -> &StreamFile {
        &self.stream
    }

    /// Opens what a block needs that no request of its own has opened.
    pub(super) fn prepare_file(&mut self, request: &Request) {
        if !self.stream.is_asked_for() {
            self.name.form(request.key);
            self.stream.prepare(&self.directory, self.name.as_c_str(), request);
        }
    }

    #[cold]
    fn prepare_stream(&mut self, request: &Request) {
        self.stream.prepare(&self.directory, self.name.as_c_str(), request);
        match request.operation.block_direction() {
            Some(BlockDirection::Written) => {
                self.buffers.prepare_block(request.key, request.offset, request.bytes);
            }
            _ => self.buffers.prepare_read(request.bytes),
        }
    }

    /// What no benchmark does millions of times.
    #[inline(never)]
    fn execute_rarely(&mut self, request: &Request) -> Completion {
        match request.operation {
            Operation::Write => self.write_object(WRITE, request.bytes, Durability::Default),
            Operation::WriteDurably => self.write_object(WRITE, request.bytes, Durability::Fsync),
            Operation::Rename | Operation::CallRename => self.rename(),
            Operation::List | Operation::CallReaddir => self.list(),
            Operation::MakeDirectory | Operation::CallMkdir => {
                completion_of(mkdirat(&self.directory, self.dataset.as_c_str(), DATASET_MODE))
            }
            Operation::RemoveDirectory | Operation::CallRmdir => {
                completion_of(unlinkat(&self.directory, self.dataset.as_c_str(), AtFlags::REMOVEDIR))
            }
            Operation::CallFsync => match &self.open {
                Some(file) => completion_of(fsync(file)),
                None => not_open(),
            },
            Operation::StreamWrite | Operation::StreamRewrite | Operation::StreamRandomWrite => {
                self.stream.write(&self.buffers.written, request)
            }
            Operation::StreamRead | Operation::StreamRandomRead => {
                self.stream.read(&mut self.buffers.read, request)
            }
            Operation::StreamCopy
            | Operation::StreamCp
            | Operation::StreamCompare
            | Operation::CopyShared => self.execute_on_copy(request),
            Operation::StreamCreate | Operation::StreamFsync | Operation::StreamCloseWritten
                if request.other != request.key =>
            {
                self.execute_on_copy(request)
            }
            Operation::StreamFsync => self.stream.fsync(),
            Operation::StreamCreate | Operation::StreamOpen | Operation::StreamReopen => {
                self.stream.open(&self.directory, self.name.as_c_str(), request, self.stream_io)
            }
            Operation::StreamAllocate => self.stream.allocate(request.bytes),
            Operation::StreamClose | Operation::StreamCloseWritten => self.stream.end(),
            Operation::CachesDrop
            | Operation::CachesWarm
            | Operation::CachesResident
            | Operation::CachesHeld => match &self.caches {
                Some(caches) => caches.make(request.operation),
                None => Completion::failed(Errno::OPNOTSUPP.into()),
            },
            _ => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }

    fn execute_on_copy(&mut self, request: &Request) -> Completion {
        let name = self.name.as_c_str();
        match request.operation {
            Operation::StreamCreate => self.copy.open(&self.directory, name, request, self.stream_io),
            Operation::StreamFsync => self.copy.fsync(),
            Operation::StreamCloseWritten => self.copy.end(),
            Operation::StreamCopy => self.copy.copy_block(&self.stream, &mut self.buffers.read, request),
            Operation::StreamCp => self.copy.copy_whole(&self.stream, request),
            Operation::StreamCompare => self.copy.compare(&self.directory, name, &mut self.buffers, request),
            Operation::CopyShared => self.copy.shared(&self.directory, name, request.bytes),
            _ => Completion::failed(Errno::OPNOTSUPP.into()),
        }
    }

    #[inline(always)]
    fn stat(&mut self) -> Completion {
        // AT_STATX_SYNC_AS_STAT is 0: the file system decides what it asks its server, as with stat(2).
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_SYNC_AS_STAT;
        loop {
            return match statx(&self.directory, self.name.as_c_str(), flags, StatxFlags::BASIC_STATS) {
                Ok(attributes) => {
                    self.size_bytes = attributes.stx_size;
                    Completion::ok(0)
                }
                Err(Errno::INTR) => continue,
                Err(errno) => Completion::failed(errno.into()),
            };
        }
    }

    #[inline(always)]
    fn read_object(&mut self, bytes: u64) -> Completion {
        match open(&self.directory, self.name.as_c_str(), READ) {
            Ok(file) => {
                let completion = read_all(&file, &mut self.buffers.read, bytes);
                and_close(completion, file)
            }
            Err(errno) => Completion::failed(errno.into()),
        }
    }

    #[inline(always)]
    fn write_object(&mut self, flags: OFlags, bytes: u64, durability: Durability) -> Completion {
        match open(&self.directory, self.name.as_c_str(), flags) {
            Ok(file) => {
                let mut completion = write_all(&file, &self.buffers.written, bytes);
                if durability == Durability::Fsync
                    && completion.is_ok()
                    && let Err(errno) = fsync(&file)
                {
                    completion.code = errno.into();
                }
                and_close(completion, file)
            }
            Err(errno) => Completion::failed(errno.into()),
        }
    }

    #[inline(always)]
    fn unlink(&mut self) -> Completion {
        completion_of(unlinkat(&self.directory, self.name.as_c_str(), AtFlags::empty()))
    }

    fn rename(&mut self) -> Completion {
        let names = (self.name.as_c_str(), self.other.as_c_str());
        completion_of(renameat(&self.directory, names.0, &self.directory, names.1))
    }

    /// Counts the entries; `.` and `..` are none.
    fn list(&mut self) -> Completion {
        let directory = match open(&self.directory, self.dataset.as_c_str(), DIRECTORY) {
            Ok(directory) => directory,
            Err(errno) => return Completion::failed(errno.into()),
        };
        let mut completion = Completion::ok(0);
        let mut entries = RawDir::new(&directory, &mut self.listing);
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => completion.bytes += u64::from(!is_dot(entry.file_name())),
                Err(Errno::INTR) => {}
                Err(errno) => {
                    completion.code = errno.into();
                    break;
                }
            }
        }
        and_close(completion, directory)
    }

    #[inline(always)]
    fn open_and_keep(&mut self, flags: OFlags) -> Completion {
        match open(&self.directory, self.name.as_c_str(), flags) {
            Ok(file) => {
                self.open = Some(file);
                Completion::ok(0)
            }
            Err(errno) => Completion::failed(errno.into()),
        }
    }
}

#[inline(always)]
fn open(directory: &OwnedFd, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    loop {
        match openat(directory, name, flags, OBJECT_MODE) {
            // An interrupted open may have made the file already: only an open that makes nothing is repeated.
            Err(Errno::INTR) if !flags.contains(OFlags::CREATE) => {}
            answer => return answer,
        }
    }
}

#[inline(always)]
fn read_all(file: &OwnedFd, buffer: &mut [u8], bytes: u64) -> Completion {
    move_all(buffer.len(), bytes, |piece| read(file, &mut buffer[piece]))
}

#[inline(always)]
fn write_all(file: &OwnedFd, buffer: &[u8], bytes: u64) -> Completion {
    move_all(buffer.len(), bytes, |piece| write(file, &buffer[piece]))
}

/// Goes round a buffer until so many bytes are moved.
#[inline(always)]
fn move_all(
    buffer_bytes: usize,
    bytes: u64,
    mut call: impl FnMut(Range<usize>) -> Result<usize, Errno>,
) -> Completion {
    let mut done = 0;
    let mut place = 0;
    while done < bytes {
        let length = (buffer_bytes - place).min((bytes - done) as usize);
        match call(place..place + length) {
            Ok(0) => return Completion::at_the_end(done, bytes),
            Ok(moved) => {
                done += moved as u64;
                place = if place + moved == buffer_bytes { 0 } else { place + moved };
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Completion::partly(done, errno.into()),
        }
    }
    Completion::ok(done)
}

/// Closes in any case; the first failure counts.
#[inline(always)]
fn and_close(completion: Completion, file: OwnedFd) -> Completion {
    match close(file) {
        Err(errno) if completion.is_ok() => Completion { code: errno.into(), ..completion },
        _ => completion,
    }
}

#[cold]
fn not_open() -> Completion {
    Completion::failed(Errno::BADF.into())
}
