//! The directories of the tasks: made by descriptor, below the working directory, following no link.
//!
//! Creating many files is done in this process: the study's shell loop measured a mixture of file creation and of the
//! shell; what is asked of the storage is the same (open with O_CREAT, write, close).

use std::ffi::CString;

use iolag_backend::Completion;
use iolag_model::{FailureCode, MonotonicTime};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::{Errno, write};

use super::limits::TaskLimits;

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

/// The task that creates many small files in an empty directory.
#[derive(Debug)]
pub(crate) struct ManyFiles {
    names: Vec<CString>,
    directory: Result<OwnedFd, Errno>,
    directory_name: String,
}

impl ManyFiles {
    pub fn new(count: u32) -> Self {
        let name = |index| CString::new(format!("file-{index}")).expect("digits contain no NUL");
        Self {
            names: (0..count).map(name).collect(),
            directory: Err(Errno::BADF),
            directory_name: String::new(),
        }
    }

    /// Removes what the last one made and makes an empty directory. Untimed.
    pub fn prepare(&mut self, place: BorrowedFd<'_>, number: u64) {
        self.remove(place);
        self.directory_name = format!("check-create-{number}");
        self.directory = make_directory(place, &self.directory_name);
    }

    /// Creates the files, up to the first that fails or to the end of the time. Bytes are those written.
    pub fn execute(&self, until: MonotonicTime, limits: &TaskLimits) -> Completion {
        let failed = |error: Errno| Completion::failed(FailureCode::from_errno(error.raw_os_error()));
        let directory = match &self.directory {
            Ok(directory) => directory.as_fd(),
            Err(error) => return failed(*error),
        };
        for (created, name) in (0..).zip(&self.names) {
            if limits.are_reached(until) {
                return Completion::interrupted(created * CREATED_FILE_BYTES);
            }
            if let Err(error) = write_new(directory, name.as_c_str(), &CONTENT) {
                return failed(error);
            }
        }
        Completion::ok(self.names.len() as u64 * CREATED_FILE_BYTES)
    }

    /// Whatever cannot be removed is left to the removal of the place, which reports it.
    pub fn remove(&mut self, place: BorrowedFd<'_>) {
        if let Ok(directory) = std::mem::replace(&mut self.directory, Err(Errno::BADF)) {
            for name in &self.names {
                // They were created in this order: behind one that is not there is none.
                if unlinkat(&directory, name.as_c_str(), AtFlags::empty()) == Err(Errno::NOENT) {
                    break;
                }
            }
            let _ = unlinkat(place, self.directory_name.as_str(), AtFlags::REMOVEDIR);
        }
    }
}
