//! Looking at what is open.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::PathBuf;

use rustix::fs::Stat;
use rustix::io::Errno;

/// Permissions by which others could put something into a directory.
const OTHERS_WRITE: u32 = 0o022;
/// Permissions of group and others.
const OTHERS: u32 = 0o077;

/// The kernel's number of the mount that an open file lies on; `None` without /proc.
pub fn mount_number(file: BorrowedFd<'_>) -> Option<u64> {
    // A thread may have a descriptor table of its own.
    let text = std::fs::read_to_string(format!("/proc/thread-self/fdinfo/{}", file.as_raw_fd())).ok()?;
    text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok())
}

/// Where the kernel says that a file is that this thread has opened; `None` without /proc.
pub fn path_of(file: BorrowedFd<'_>) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/thread-self/fd/{}", file.as_raw_fd())).ok()
}

/// Whether two open files lie on the same mount.
pub(crate) fn are_on_one_mount(
    (one, its): (BorrowedFd<'_>, &Stat),
    (other, others): (BorrowedFd<'_>, &Stat),
) -> bool {
    its.st_dev == others.st_dev && mount_number(one) == mount_number(other)
}

/// Whether others may write to it.
pub(crate) const fn is_open_to_others(status: &Stat) -> bool {
    status.st_mode & OTHERS_WRITE != 0
}

/// Whether a file that was made with mode 0600 shows others' permissions all the same.
pub(crate) const fn forgets_modes(made: &Stat) -> bool {
    made.st_mode & OTHERS != 0
}

/// Asks again after an interruption. Only for calls that changed nothing when they were interrupted.
///
/// # Errors
/// Whatever else the call answers.
pub fn retry<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other,
        }
    }
}
