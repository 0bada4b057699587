//! What calls are given, and what their answers mean.

use std::os::fd::{IntoRawFd, OwnedFd};

use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Completion;

/// Permissions of objects: `rw-r--r--`, less the umask.
pub(super) const OBJECT_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// close(2) with its answer: network file systems report here what they could not write. The descriptor is gone in any
/// case, so an interrupted close is not repeated.
#[inline(always)]
pub(super) fn close(file: OwnedFd) -> Result<(), Errno> {
    // SAFETY: the descriptor is open and owned, and nobody has it afterwards.
    unsafe { rustix::io::try_close(file.into_raw_fd()) }
}

/// A completion without bytes.
#[inline(always)]
pub(super) fn completion_of(answer: Result<(), Errno>) -> Completion {
    match answer {
        Ok(()) => Completion::ok(0),
        Err(errno) => Completion::failed(errno.into()),
    }
}
