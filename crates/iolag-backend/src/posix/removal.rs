//! Clean-up: removes what iolag makes, by descriptor, and nothing else.
//!
//! Invariants: no symbolic link is followed and no mount point crossed; a name that iolag does not make is left where it is
//! and told; a tree that was removed in part before is no obstacle. What iolag makes: `<rank>_<dataset>/file-<index>`
//! as regular files, everything below directories called `check-…` and `replay-…`, and the file of its token, which goes last.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use iolag_model::PlaceToken;
use rustix::fs::{AtFlags, FileType, StatxAttributes, unlinkat};
use rustix::io::Errno;

use super::directory::{self, attributes, identity_in, own_attributes, type_name, type_of};
use super::names::{TopName, is_object, token_name};
use super::place::{Expected, WorkingDirectory, failed, text};
use super::token::{self, Contents};
use crate::{BackendError, Leftover};

/// Deeper trees below `check-…` and `replay-…` are not iolag's.
const DEPTH_MAX: usize = 32;

/// Each pass over a directory removes at least one entry; more passes than this mean that somebody else is creating.
const PASSES_MAX: usize = 64;

/// So often, and after such pauses, a directory is looked at in which something is left that goes by itself.
const CLOSING_LOOKS: u32 = 20;
const CLOSING_PAUSE: Duration = Duration::from_millis(50);

/// More are counted, not listed.
const LEFTOVERS_MAX: usize = 1000;

/// Removes the working directory, if it is the expected one. A target without one is clean already. Of one that was not looked at before
/// its maker was killed, no more is removed than an empty directory.
pub(super) fn remove(working: &WorkingDirectory, expected: Expected) -> Result<Vec<Leftover>, BackendError> {
    let target = match working.open_target() {
        Err(error) => return working.refuse_other_file_system(expected.identity).and(Err(error)),
        Ok(target) => target,
    };
    let directory = match working.recognise() {
        Ok(own) => own.into_descriptor(),
        Err(BackendError::NoWorkingSet { .. }) => {
            return working.refuse_other_file_system(expected.identity).map(|()| Vec::new());
        }
        Err(error) => return Err(error),
    };
    let own = own_attributes(directory.as_fd())
        .map_err(|errno| failed("look at the working directory", working.path(), errno))?;
    let contents = working.contents(directory.as_fd())?;
    prove(working, &directory, &contents, expected)?;
    let mut removal = Removal { device: identity_in(&own).device, leftovers: Vec::new(), unlisted: 0 };
    removal.remove_entries(directory.as_fd(), working.path(), Inside::WorkingDirectory);
    removal.remove_tokens(directory.as_fd(), working, &contents);
    let still_there = attributes(target.as_fd(), working.name());
    if still_there.is_ok_and(|found| identity_in(&found) == identity_in(&own)) {
        removal.remove_directory(target.as_fd(), working.name(), working.path());
    }
    Ok(removal.into_leftovers())
}

/// Refuses what the run has not made: the token in it counts, and for runs that have none, device and inode.
fn prove(
    working: &WorkingDirectory,
    directory: &OwnedFd,
    contents: &Contents,
    expected: Expected,
) -> Result<(), BackendError> {
    let is_late = |token: PlaceToken| contents.has(token) && contents.owner().is_some();
    match expected.token {
        // Its maker was killed before the token was there, or its remover after it had taken the token away.
        Some(_) if contents.is_empty() => {
            working.refuse_other_file_system(expected.identity)?;
            working.refuse_other(directory.as_fd(), expected.identity)
        }
        Some(token) if contents.owner() == Some(token) => Ok(()),
        Some(token) if is_late(token) => {
            // Another was there first, and this one was killed before it could take its token back.
            token::remove(directory, token)
                .map_err(|errno| failed("remove a file in", working.path(), errno))?;
            Err(working.taken(directory.as_fd(), &working.contents(directory.as_fd())?))
        }
        None if contents.claims.is_empty() && (expected.identity.is_some() || contents.is_empty()) => {
            working.refuse_other_file_system(expected.identity)?;
            working.refuse_other(directory.as_fd(), expected.identity)
        }
        _ => {
            working.refuse_other_file_system(expected.identity)?;
            match contents.claims.is_empty() {
                true => Err(working.not_ours("a directory of which nothing shows that this run made it")),
                false => Err(working.taken(directory.as_fd(), contents)),
            }
        }
    }
}

/// Where an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    WorkingDirectory,
    Dataset,
    Check { depth: usize },
}

/// What is to be done with an entry.
enum Fate {
    Unlink,
    Descend(Inside),
    Keep(String),
    /// It goes last, or by itself.
    Spare,
}

impl Inside {
    fn fate(self, name: &[u8], file_type: FileType) -> Fate {
        match (self, file_type) {
            (_, FileType::RegularFile) if is_kept_while_open(name) => Fate::Spare,
            (Self::WorkingDirectory, found) => match (TopName::of(name), found) {
                (TopName::Dataset, FileType::Directory) => Fate::Descend(Self::Dataset),
                (TopName::Check, FileType::Directory) => Fate::Descend(Self::Check { depth: 1 }),
                (TopName::Token(_), FileType::RegularFile) => Fate::Spare,
                (TopName::Owner, FileType::RegularFile) => Fate::Unlink,
                (TopName::Foreign, _) => not_made_by_iolag(),
                (_, found) => changed(found),
            },
            (Self::Dataset, found) if is_object(name) => match found {
                FileType::RegularFile => Fate::Unlink,
                _ => changed(found),
            },
            (Self::Dataset, _) => not_made_by_iolag(),
            (Self::Check { .. }, FileType::RegularFile | FileType::Symlink) => Fate::Unlink,
            (Self::Check { depth }, FileType::Directory) if depth < DEPTH_MAX => {
                Fate::Descend(Self::Check { depth: depth + 1 })
            }
            (Self::Check { .. }, FileType::Directory) => {
                Fate::Keep(format!("it is more than {DEPTH_MAX} directories deep, iolag makes no such tree"))
            }
            (Self::Check { .. }, found) => changed(found),
        }
    }
}

/// What NFS and FUSE keep of a file that was removed while it was open. FUSE hears of the removal now and then before it hears that the file
/// was closed.
fn is_kept_while_open(name: &[u8]) -> bool {
    name.starts_with(b".nfs") || name.starts_with(b".fuse_hidden")
}

fn not_made_by_iolag() -> Fate {
    Fate::Keep("iolag makes nothing of this name".to_owned())
}

fn changed(found: FileType) -> Fate {
    Fate::Keep(format!("it is {}, iolag made something else of this name", type_name(found)))
}

struct Removal {
    device: Option<u64>,
    leftovers: Vec<Leftover>,
    unlisted: u64,
}

impl Removal {
    /// Passes over a directory until a pass removes nothing: entries may be skipped while others are being removed.
    fn remove_entries(&mut self, directory: BorrowedFd<'_>, path: &Path, inside: Inside) {
        let (listed, unlisted) = (self.leftovers.len(), self.unlisted);
        for _ in 0..PASSES_MAX {
            self.leftovers.truncate(listed);
            self.unlisted = unlisted;
            let mut removed = 0_u64;
            let answer = directory::visit(directory, |name, listed| {
                removed += u64::from(self.remove_entry(directory, path, inside, name, listed));
                None::<()>
            });
            if let Err(errno) = answer {
                self.keep(path.to_owned(), format!("it cannot be listed: {errno}"));
                return;
            }
            if removed == 0 {
                return;
            }
        }
    }

    /// Whether the entry is gone.
    fn remove_entry(
        &mut self,
        directory: BorrowedFd<'_>,
        path: &Path,
        inside: Inside,
        name: &CStr,
        listed: FileType,
    ) -> bool {
        let path = path.join(text(name));
        let file_type = match type_of(directory, name, listed) {
            Ok(file_type) => file_type,
            Err(Errno::NOENT) => return true,
            Err(errno) => return self.keep(path, format!("it cannot be looked at: {errno}")),
        };
        match inside.fate(name.to_bytes(), file_type) {
            Fate::Spare => false,
            Fate::Keep(reason) => self.keep(path, reason),
            Fate::Unlink => match unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => true,
                Err(errno) => self.keep(path, format!("it cannot be removed: {errno}")),
            },
            Fate::Descend(inside) => match self.open_unmounted(directory, name) {
                Ok(child) => {
                    self.remove_entries(child.as_fd(), &path, inside);
                    self.remove_directory(directory, name, &path)
                }
                Err(reason) => self.keep(path, reason),
            },
        }
    }

    fn open_unmounted(&self, parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, String> {
        let child = directory::open(parent, name).map_err(|errno| format!("it cannot be opened: {errno}"))?;
        let found =
            own_attributes(child.as_fd()).map_err(|errno| format!("it cannot be looked at: {errno}"))?;
        // A mount of the same file system has the same device; kernels from 5.8 tell it by an attribute.
        let is_mount = identity_in(&found).device != self.device
            || found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        if is_mount { Err("another file system is mounted there".to_owned()) } else { Ok(child) }
    }

    /// What shows whose the directory is stays as long as anything is left in it, and goes after what those left who came too late.
    fn remove_tokens(&mut self, directory: BorrowedFd<'_>, working: &WorkingDirectory, contents: &Contents) {
        for (_, token) in contents.claims.iter().rev() {
            if !self.leftovers.is_empty() {
                return;
            }
            if let Err(errno) = token::remove(directory, *token) {
                self.keep(working.path().join(token_name(*token)), format!("it cannot be removed: {errno}"));
            }
        }
    }

    /// Whether the directory is gone. It stays silently where something in it had to stay.
    fn remove_directory(&mut self, parent: BorrowedFd<'_>, name: &CStr, path: &Path) -> bool {
        let mut looks = 0;
        loop {
            match unlinkat(parent, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => return true,
                Err(_) if self.leftovers.iter().any(|left| Path::new(&left.path).starts_with(path)) => {
                    return false;
                }
                Err(Errno::NOTEMPTY) if looks < CLOSING_LOOKS => std::thread::sleep(CLOSING_PAUSE),
                Err(errno) => return self.keep(path.to_owned(), format!("it cannot be removed: {errno}")),
            }
            looks += 1;
        }
    }

    fn keep(&mut self, path: PathBuf, reason: String) -> bool {
        if self.leftovers.len() < LEFTOVERS_MAX {
            self.leftovers.push(Leftover { path: path.display().to_string(), reason });
        } else {
            self.unlisted += 1;
        }
        false
    }

    fn into_leftovers(mut self) -> Vec<Leftover> {
        if self.unlisted > 0 {
            let path = format!("{} more", self.unlisted);
            self.leftovers.push(Leftover { path, reason: "for reasons like the ones before".to_owned() });
        }
        self.leftovers
    }
}
