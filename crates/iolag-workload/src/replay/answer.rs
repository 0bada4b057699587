//! What comes back from a system call of a repetition, and the one call that all openings are.

use std::ffi::{CStr, c_int, c_long};
use std::os::fd::{BorrowedFd, IntoRawFd, RawFd};

use iolag_backend::Completion;
use iolag_model::FailureCode;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// The kernel gives up an opening below a directory where somebody renames meanwhile, and is asked again so often.
const ATTEMPTS: u32 = 100;

/// What came back, and what it left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub completion: Completion,
    /// A new descriptor.
    pub opened: Option<RawFd>,
    /// A new mapping: where, and how long.
    pub mapping: Option<(usize, usize)>,
}

/// A descriptor that is asked about; for none stands the number that no process can have open.
#[inline(always)]
pub(super) fn on(descriptor: RawFd) -> BorrowedFd<'static> {
    let asked = if descriptor < 0 { RawFd::MAX } else { descriptor };
    // SAFETY: descriptors of a repetition are numbers, and asked about only as long as the copy lasts; what is none is answered with EBADF.
    unsafe { BorrowedFd::borrow_raw(asked) }
}

/// So many bytes, or why not.
#[inline(always)]
pub(super) fn came(done: Result<u64, Errno>) -> Answer {
    let completion = done.map_or_else(|errno| Completion::failed(errno.into()), Completion::ok);
    Answer { completion, opened: None, mapping: None }
}

/// What the last call failed with.
#[cold]
pub(super) fn failure() -> Completion {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    Completion::failed(FailureCode::from_errno(errno))
}

pub(super) fn opened(done: c_long) -> Answer {
    let (completion, opened) = match RawFd::try_from(done) {
        Ok(new) if new >= 0 => (Completion::ok(0), Some(new)),
        _ => (failure(), None),
    };
    Answer { completion, opened, mapping: None }
}

/// Opens what lies below a directory.
#[inline(always)]
pub(super) fn open(at: RawFd, path: &CStr, flags: c_int, mode: u32) -> Answer {
    let flags = OFlags::from_bits_retain(flags as u32);
    let resolve = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);
    let mut attempts = 1;
    loop {
        match openat2(on(at), path, flags, Mode::from_bits_retain(mode), resolve) {
            Ok(new) => return Answer { opened: Some(new.into_raw_fd()), ..came(Ok(0)) },
            Err(Errno::AGAIN) if attempts < ATTEMPTS => attempts += 1,
            Err(errno) => return came(Err(errno)),
        }
    }
}

/// Closes what a call of a repetition has opened.
pub(super) fn close(descriptor: RawFd) {
    // SAFETY: descriptors of a repetition are nobody else's.
    unsafe { libc::close(descriptor) };
}
