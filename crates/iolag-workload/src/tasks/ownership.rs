//! Whose a directory is that was found where probes make theirs.
//!
//! Whoever owns that directory decides what programs started in it find there, so one that another user planted must never be
//! taken: to root least of all. Ours is what belongs to us. Root has one case more: a server may map root to another user (root
//! squash), and then what root made belongs to that user. That is not assumed but tried, with a file made in the directory right
//! now and looked at by its descriptor, so that nobody can put another one in its place.
//!
//! Limits: whoever is root on another client of a server that maps root makes directories that look like ours. An ordinary user on
//! a server that maps everybody to one is refused: there everybody's directories look alike.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, unlinkat};
use rustix::io::Errno;

/// What the file is called that is made to see its owner. No task's directory begins with a dot.
pub(super) const OWNER_PREFIX: &str = ".owner-";
/// Names that are tried: files of the same name may be left from a process that was killed.
const ATTEMPTS: u32 = 16;
/// Permissions by which others could put something into a directory.
const OTHERS_WRITE: u32 = 0o022;

/// Whose a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ownership {
    /// This user's.
    Own,
    /// That of the user to whom a server maps root, and nobody else may write to it.
    Mapped,
    /// Another user's.
    Foreign,
}

/// Whose the open directory is. Makes and removes a file in it if this is root and the directory is not. May hang as long as the
/// file system does.
///
/// # Errors
/// If it cannot be looked at, or no file can be made in it to find out.
pub fn ownership_of(directory: BorrowedFd<'_>) -> Result<Ownership, Errno> {
    let found = fstat(directory)?;
    let user = rustix::process::geteuid();
    if found.st_uid == user.as_raw() {
        return Ok(Ownership::Own);
    }
    if !user.is_root() || found.st_mode & OTHERS_WRITE != 0 {
        return Ok(Ownership::Foreign);
    }
    match owner_of_new_file(directory) {
        Ok(owner) if owner == found.st_uid => Ok(Ownership::Mapped),
        // In one of ours we may make files.
        Ok(_) | Err(Errno::ACCESS | Errno::PERM) => Ok(Ownership::Foreign),
        Err(errno) => Err(errno),
    }
}

/// To whom a file belongs that is made in `directory` now.
fn owner_of_new_file(directory: BorrowedFd<'_>) -> Result<u32, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let process = std::process::id();
    for attempt in 0..ATTEMPTS {
        let name = format!("{OWNER_PREFIX}{process}-{attempt}");
        match openat(directory, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => {
                let owner = fstat(&file).map(|status| status.st_uid);
                // What stays is removed with the directory.
                let _ = unlinkat(directory, &name, AtFlags::empty());
                return owner;
            }
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
    }
    Err(Errno::EXIST)
}
