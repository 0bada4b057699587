//! The files of a copy's own: a directory in the working place of the run, with what the program found of what it changes.
//!
//! The working place has a mark of the run that made it, is the user's own and nobody else's, and is removed by that mark, whoever is killed.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_backend::{Backend, PosixBackend};
use iolag_trace::{BoneKind, OwnFiles, path_text};
use rustix::fs::{Mode, mkdirat, openat};
use rustix::io::Errno;

use super::preparing::{DIRECTORY, make};
use crate::placed::Placed;

/// Makes the files of the copy with this number; where they are.
///
/// # Errors
/// If the working place is not that of the run, or something cannot be made: a sentence.
pub(super) fn make_own_files(
    target: &Path,
    place: &Placed,
    own: &OwnFiles,
    rank: u32,
) -> Result<PathBuf, String> {
    let posix = PosixBackend::new(target.to_owned(), &place.name).map_err(|error| error.to_string())?;
    posix.expect_place(&place.expected());
    let working = posix.open_place().map_err(|error| error.to_string())?;
    let name = format!("replay-{rank}");
    let path = target.join(&place.name).join(&name);
    let root = make_directory(&working, &name).map_err(|errno| failed(&path, b"", errno))?;
    let is_link = |kind: &BoneKind| matches!(kind, BoneKind::Link(_));
    let (links, others): (Vec<_>, Vec<_>) = own.bones.iter().partition(|bone| is_link(&bone.kind));
    for bone in others.into_iter().chain(links) {
        make(root.as_fd(), bone).map_err(|errno| failed(&path, &bone.path, errno))?;
    }
    Ok(path)
}

fn make_directory(working: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    mkdirat(working, name, Mode::RWXU)?;
    openat(working, name, DIRECTORY, Mode::empty())
}

fn failed(path: &Path, below: &[u8], errno: Errno) -> String {
    format!("cannot make {} of a copy's own in {}: {errno}", path_text(below), path.display())
}
