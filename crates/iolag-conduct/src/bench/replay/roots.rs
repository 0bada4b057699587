//! The directories in which a program is repeated.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iolag_model::ReplayMap;
use iolag_workload::MapRoot;
use rustix::fs::fstat;
use rustix::io::Errno;

use crate::contact::scout;

/// Directories that are asked, the target first.
pub(super) fn roots(target: &Path, maps: &[ReplayMap]) -> Vec<PathBuf> {
    let others = maps.iter().map(|map| scout::absolute(Path::new(OsStr::from_bytes(map.to.as_bytes()))));
    std::iter::once(target.to_owned()).chain(others).collect()
}

/// Device and inode of a directory.
pub(super) fn identity_of(directory: BorrowedFd<'_>) -> Result<(u64, u64), Errno> {
    fstat(directory).map(|found| (found.st_dev, found.st_ino))
}

/// What was looked at is what is asked: somebody may have put another directory, or a link, in its place.
pub(super) fn refuse_others(roots: &[MapRoot], looked_at: &[(u64, u64)]) -> Result<(), String> {
    for (root, expected) in roots.iter().zip(looked_at) {
        let path = root.path().display();
        let found = identity_of(root.as_fd()).map_err(|errno| format!("cannot look at {path}: {errno}"))?;
        if found != *expected {
            return Err(format!(
                "{path} is another directory than when it was looked at: leave it as it is while it is measured, and repeat"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_directory_than_was_looked_at_is_not_asked() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x");
        std::fs::create_dir(&path).unwrap();
        let root = || [MapRoot::open(&path).unwrap()];
        let looked_at = [identity_of(root()[0].as_fd()).unwrap()];
        assert_eq!(refuse_others(&root(), &looked_at), Ok(()));
        std::fs::rename(&path, place.path().join("y")).unwrap();
        std::os::unix::fs::symlink("/", &path).unwrap();
        assert!(refuse_others(&root(), &looked_at).unwrap_err().contains("is another directory than when"));
    }
}
