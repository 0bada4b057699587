//! What calls are given, and what their answers mean.

use rustix::fs::Mode;
use rustix::io::Errno;

use crate::Completion;

/// Permissions of objects: `rw-r--r--`, less the umask.
pub(super) const OBJECT_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);

/// A completion without bytes.
#[inline(always)]
pub(super) fn completion_of(answer: Result<(), Errno>) -> Completion {
    match answer {
        Ok(()) => Completion::ok(0),
        Err(errno) => Completion::failed(errno.into()),
    }
}
