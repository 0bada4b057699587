//! The copy of a stream's file: a second file, beside it or in the working place of another target.
//!
//! Requests about the copy have its key, and name by the other key what it is a copy of. The file that is copied is the stream's, which is
//! open. What only one kernel knows how to do is done by reading and writing where it refuses, from then on, and whoever runs the
//! sessions is told.
//!
//! Limits: blocks that two files share are told by FIEMAP, which not every file system has (tmpfs, NFS, FUSE do not).

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use iolag_model::{CopyWith, FailureCode, StreamIo};
use rustix::fs::{Mode, OFlags, copy_file_range, fstat, mkdirat, openat};
use rustix::io::{Errno, pread, pwrite};

use super::names::DatasetName;
use super::stream::StreamFile;
use crate::content::Buffers;
use crate::{BackendError, Completion, Copying, ObjectKey, Request, SessionOptions};

/// Where the copy is made, by whom, and what is open of it.
#[derive(Debug, Default)]
pub(super) struct Copy {
    copying: Option<Copying>,
    /// The working directory of another target.
    elsewhere: Option<OwnedFd>,
    file: StreamFile,
    /// What the program said when it failed.
    said: Option<String>,
}

impl Copy {
    /// Opens the place of the copies of a session's client, if that is another one than the session's own.
    pub(super) fn new(options: &SessionOptions) -> Result<Self, BackendError> {
        let copying = options.copying.clone();
        let Some(target) = copying.as_ref().and_then(|copying| copying.to.clone()) else {
            return Ok(Self { copying, ..Self::default() });
        };
        let place = target.open_directory()?;
        let dataset = DatasetName::new(ObjectKey { rank: options.rank, ..ObjectKey::default() });
        match mkdirat(&place, dataset.as_c_str(), Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => {
                let code = FailureCode::from(errno);
                let path = "a directory for copies".to_owned();
                return Err(BackendError::Failed { action: "make", path, class: code.class(), code });
            }
        }
        Ok(Self { copying, elsewhere: Some(place), ..Self::default() })
    }

    /// Makes it, or empties it.
    pub(super) fn open(&mut self, own: &OwnedFd, name: &CStr, request: &Request, io: StreamIo) -> Completion {
        let directory = self.elsewhere.as_ref().unwrap_or(own);
        self.file.open(directory, name, request, io)
    }

    pub(super) fn fsync(&self) -> Completion {
        self.file.fsync()
    }

    pub(super) fn end(&mut self) -> Completion {
        self.file.end()
    }

    /// Copies one block to where it was.
    pub(super) fn copy_block(&self, source: &StreamFile, buffer: &mut [u8], request: &Request) -> Completion {
        let (source, copy) = match (source.file(), self.file.file()) {
            (Ok(source), Ok(copy)) => (source, copy),
            (Err(code), _) | (_, Err(code)) => return Completion::failed(code),
        };
        let by_range = |copying: &&Copying| copying.with == CopyWith::CopyFileRange;
        if let Some(copying) = self.copying.as_ref().filter(by_range)
            && copying.refused.get().is_none()
        {
            match by_kernel(source, copy, request) {
                Ok(completion) => return completion,
                // Another client may have been told at the same moment.
                Err(errno) => drop(copying.refused.set(errno.into())),
            }
        }
        by_loop(source, copy, buffer, request)
    }

    /// Has a program copy the whole file.
    pub(super) fn copy_whole(&mut self, source: &StreamFile, request: &Request) -> Completion {
        let Some(program) = self.copying.as_ref().and_then(|copying| copying.program.as_ref()) else {
            return Completion::failed(Errno::OPNOTSUPP.into());
        };
        let (source, copy) = match (source.file(), self.file.file()) {
            (Ok(source), Ok(copy)) => (source, copy),
            (Err(code), _) | (_, Err(code)) => return Completion::failed(code),
        };
        if let Err(failure) = program.copy(source.as_fd(), copy.as_fd(), request.until()) {
            self.said = failure.said;
            return Completion::failed(failure.code);
        }
        match fstat(copy) {
            Ok(found) if found.st_size as u64 == request.bytes => Completion::ok(request.bytes),
            // Also one that is longer is none.
            Ok(found) => Completion::partly((found.st_size as u64).min(request.bytes), FailureCode::SHORT),
            Err(errno) => Completion::failed(errno.into()),
        }
    }

    /// What the program said of its failure, once.
    pub(super) const fn take_said(&mut self) -> Option<String> {
        self.said.take()
    }

    /// How many of the first `bytes` lie in blocks that another file has, too.
    pub(super) fn shared(&self, own: &OwnedFd, name: &CStr, bytes: u64) -> Completion {
        if self.copying.is_none() {
            return Completion::failed(Errno::OPNOTSUPP.into());
        }
        match self.open_to_read(own, name).and_then(|file| shared_bytes(&file)) {
            Ok(shared) => Completion::ok(shared.min(bytes)),
            Err(errno) => Completion::failed(errno.into()),
        }
    }

    /// Reads it, and compares it with what was copied.
    pub(super) fn compare(
        &self,
        own: &OwnedFd,
        name: &CStr,
        buffers: &mut Buffers,
        request: &Request,
    ) -> Completion {
        let file = match self.open_to_read(own, name) {
            Ok(file) => file,
            Err(errno) => return Completion::failed(errno.into()),
        };
        let mut done = 0;
        while done < request.bytes {
            let length = buffers.read.len().min((request.bytes - done) as usize);
            match pread(&file, &mut buffers.read[..length], done) {
                Ok(0) => return Completion::at_the_end(done, request.bytes),
                Ok(read) if !buffers.are_as_written(request.other, done, read as u64) => {
                    return Completion::partly(done, FailureCode::MISMATCH);
                }
                Ok(read) => done += read as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Completion::partly(done, errno.into()),
            }
        }
        Completion::ok(done)
    }

    fn open_to_read(&self, own: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        openat(self.elsewhere.as_ref().unwrap_or(own), name, flags, Mode::empty())
    }
}

/// As pread(2) and pwrite(2) move it, by a buffer.
fn by_loop(source: &OwnedFd, copy: &OwnedFd, buffer: &mut [u8], request: &Request) -> Completion {
    let (mut done, mut held) = (0, 0..0);
    while done < request.bytes {
        let moved = if held.is_empty() {
            let length = buffer.len().min((request.bytes - done) as usize);
            pread(source, &mut buffer[..length], request.offset + done).map(|read| held = 0..read)
        } else {
            pwrite(copy, &buffer[held.clone()], request.offset + done).map(|written| {
                held.start += written;
                done += written as u64;
            })
        };
        match moved {
            Ok(()) if held == (0..0) => return Completion::at_the_end(done, request.bytes),
            Ok(()) | Err(Errno::INTR) => {}
            Err(errno) => return Completion::partly(done, errno.into()),
        }
    }
    Completion::ok(done)
}

/// As the kernel moves it; an error if it does no such thing between these two.
fn by_kernel(source: &OwnedFd, copy: &OwnedFd, request: &Request) -> Result<Completion, Errno> {
    let mut done = 0;
    while done < request.bytes {
        let (mut from, mut to) = (request.offset + done, request.offset + done);
        let left = (request.bytes - done) as usize;
        match copy_file_range(source, Some(&mut from), copy, Some(&mut to), left) {
            Ok(0) => return Ok(Completion::at_the_end(done, request.bytes)),
            Ok(bytes) => done += bytes as u64,
            Err(Errno::INTR) => {}
            // A filter of system calls, as of a container, says EPERM.
            Err(errno @ (Errno::XDEV | Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM)) if done == 0 => {
                return Err(errno);
            }
            Err(errno) => return Ok(Completion::partly(done, errno.into())),
        }
    }
    Ok(Completion::ok(done))
}

/// Bytes of a file in extents that another file has, too.
fn shared_bytes(file: &OwnedFd) -> Result<u64, Errno> {
    let (mut shared, mut start) = (0, 0);
    loop {
        let mut map = Map { start, length: u64::MAX - start, count: EXTENTS as u32, ..Map::EMPTY };
        // SAFETY: the kernel reads the head of the map and writes at most as many extents as it says that there is room for.
        if unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP, &raw mut map) } == -1 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        let told = &map.extents[..EXTENTS.min(map.mapped as usize)];
        shared += told.iter().filter(|one| one.flags & SHARED != 0).map(|one| one.length).sum::<u64>();
        match told.last() {
            Some(last) if last.flags & LAST == 0 => start = last.logical + last.length,
            _ => return Ok(shared),
        }
    }
}

/// FS_IOC_FIEMAP, and what its extents say (linux/fiemap.h).
const FIEMAP: libc::Ioctl = 0xc020_660b_u32 as libc::Ioctl;
const LAST: u32 = 0x1;
const SHARED: u32 = 0x2000;
const EXTENTS: usize = 64;

/// `struct fiemap`, with room for extents.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    count: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

/// `struct fiemap_extent`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

impl Map {
    const EMPTY: Self = Self {
        start: 0,
        length: 0,
        flags: 0,
        mapped: 0,
        count: 0,
        reserved: 0,
        extents: [Extent {
            logical: 0,
            physical: 0,
            length: 0,
            reserved: [0; 2],
            flags: 0,
            reserved_too: [0; 3],
        }; EXTENTS],
    };
}

/// The sizes that the kernel goes by.
const _: () = assert!(size_of::<Extent>() == 56 && std::mem::offset_of!(Map, extents) == 32);
