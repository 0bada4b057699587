//! The directories of the tasks: made by descriptor, below the working directory, following no link.

use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::{Errno, write};

/// Bytes of each file of the create task.
pub const CREATED_FILE_BYTES: u64 = 64;
/// What stands in each small file.
const CONTENT: [u8; CREATED_FILE_BYTES as usize] =
    *b"one of many small files, as a user's program or script makes it\n";

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
pub(crate) const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Makes (or finds) the directory `name` below `place`.
pub(crate) fn make_directory(place: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    match mkdirat(place, name, Mode::from_raw_mode(0o700)) {
        Ok(()) | Err(Errno::EXIST) => openat(place, name, DIRECTORY, Mode::empty()),
        Err(error) => Err(error),
    }
}

/// Writes the file `name` anew.
pub(crate) fn write_file(directory: BorrowedFd<'_>, name: &str, content: &[u8]) -> Result<(), Errno> {
    match write_new(directory, name, content) {
        Err(Errno::EXIST) => {
            unlinkat(directory, name, AtFlags::empty())?;
            write_new(directory, name, content)
        }
        written => written,
    }
}

/// Writes `count` small files, for the directory that is listed; `written` is told how many there are after each.
pub(crate) fn write_small_files(
    directory: BorrowedFd<'_>,
    count: u32,
    mut written: impl FnMut(u32),
) -> Result<(), Errno> {
    (0..count).try_for_each(|index| {
        write_file(directory, &format!("file-{index}"), &CONTENT)?;
        written(index + 1);
        Ok(())
    })
}

pub(crate) fn write_new(
    directory: BorrowedFd<'_>,
    name: impl rustix::path::Arg,
    mut content: &[u8],
) -> Result<(), Errno> {
    let file = openat(directory, name, NEW_FILE, Mode::from_raw_mode(0o644))?;
    while !content.is_empty() {
        match write(&file, content) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => content = &content[written..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
