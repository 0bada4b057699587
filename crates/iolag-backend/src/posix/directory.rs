//! Reading a directory.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

pub(super) use iolag_directory::{retry, type_name};
use iolag_model::PlaceIdentity;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, Statx, StatxFlags, openat, statx};
use rustix::io::Errno;

/// As large as the one of the C library, so that a listing asks as often as `ls` does.
pub(super) const LISTING_BYTES: usize = 32 << 10;

/// How directories inside the target are opened.
pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a directory inside the target; a symbolic link is refused with ENOTDIR or ELOOP.
pub(super) fn open(parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, Errno> {
    retry(|| openat(parent, name, DIRECTORY, Mode::empty()))
}

/// Calls `visit` for every entry but `.` and `..`, until it breaks with a value. The descriptor's own position is not
/// used, so that a directory can be visited again.
pub(super) fn visit<B>(
    directory: BorrowedFd<'_>,
    mut visit: impl FnMut(&CStr, FileType) -> Option<B>,
) -> Result<Option<B>, Errno> {
    let directory = open(directory, c".")?;
    let mut space = vec![MaybeUninit::uninit(); LISTING_BYTES];
    read_entries(directory.as_fd(), &mut space, |name, kind| Ok(visit(name, kind)))
}

/// The same of a directory that was opened for this, in this space, until `visit` breaks with a value or fails.
pub(super) fn read_entries<B>(
    opened: BorrowedFd<'_>,
    space: &mut [MaybeUninit<u8>],
    mut visit: impl FnMut(&CStr, FileType) -> Result<Option<B>, Errno>,
) -> Result<Option<B>, Errno> {
    let mut entries = RawDir::new(opened, space);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            other => other?,
        };
        if is_dot(entry.file_name()) {
            continue;
        }
        if let Some(value) = visit(entry.file_name(), entry.file_type())? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Whether this is `.` or `..`.
#[inline]
pub(super) fn is_dot(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Attributes of what is called `name`, not of what it points to.
pub(super) fn attributes(directory: BorrowedFd<'_>, name: &CStr) -> Result<Statx, Errno> {
    retry(|| statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS))
}

/// Attributes of an open directory.
pub(super) fn own_attributes(directory: BorrowedFd<'_>) -> Result<Statx, Errno> {
    retry(|| statx(directory, c"", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS))
}

/// The type of an entry, asked for where the listing did not tell.
pub(super) fn type_of(directory: BorrowedFd<'_>, name: &CStr, listed: FileType) -> Result<FileType, Errno> {
    match listed {
        FileType::Unknown => Ok(type_in(&attributes(directory, name)?)),
        known => Ok(known),
    }
}

/// The type in attributes.
pub(super) fn type_in(attributes: &Statx) -> FileType {
    FileType::from_raw_mode(u32::from(attributes.stx_mode))
}

/// Device and inode in attributes.
pub(super) fn identity_in(attributes: &Statx) -> PlaceIdentity {
    let device = rustix::fs::makedev(attributes.stx_dev_major, attributes.stx_dev_minor);
    PlaceIdentity { device: Some(device), inode: attributes.stx_ino }
}
