//! Whether a file is as it was found: what is read without locks and without a log is so only as long as nobody writes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file without a log, as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Content {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Content {
    /// What lies at `path`; none if there is nothing, or if a part of it is in a log.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let file = path.symlink_metadata().ok().filter(|_| !has_log(path))?;
        Some(Self {
            device: file.dev(),
            inode: file.ino(),
            bytes: file.len(),
            changed: (file.mtime(), file.mtime_nsec()),
        })
    }
}

/// Whether changes lie in the log of the file `path` that it has not.
pub(super) fn has_log(path: &Path) -> bool {
    beside(path, "-wal").symlink_metadata().is_ok_and(|log| log.len() > 0)
}

/// A file that SQLite keeps beside `path`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
