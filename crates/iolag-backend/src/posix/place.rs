//! The working directory: made, found again, and refused where it is not ours.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_model::{FailureCode, PlaceIdentity};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, fsync, mkdirat, openat, statx, unlinkat};
use rustix::io::{Errno, write};

use super::directory::{self, attributes, identity_in, own_attributes, retry, type_in, type_name, type_of};
use super::names::{DatasetName, PROBE, TopName, is_object};
use super::removal::remove_mere_probe;
use crate::{BackendError, Inventory, ObjectKey, Place};

/// A working directory in a target, by name: nothing is open.
#[derive(Debug)]
pub(super) struct WorkingDirectory {
    target: PathBuf,
    name: CString,
    path: PathBuf,
}

/// An open directory, and where the kernel said that it is.
#[derive(Debug)]
pub(super) struct Whereabouts {
    directory: OwnedFd,
    path: Option<PathBuf>,
}

impl Whereabouts {
    fn of(directory: OwnedFd) -> Self {
        let path = path_of(&directory);
        Self { directory, path }
    }
}

impl WorkingDirectory {
    /// The directory `name` in `target`.
    pub(super) fn new(target: &Path, name: &str) -> Result<Self, BackendError> {
        let target_error = |reason: &str| BackendError::Target {
            target: target.display().to_string(),
            reason: reason.to_owned(),
        };
        let absolute = std::path::absolute(target)
            .map_err(|_| target_error("expected the path of a directory, for example /scratch/me"))?;
        let is_plain =
            !name.is_empty() && name.len() <= 255 && name != "." && name != ".." && !name.contains('/');
        let bytes = CString::new(name).ok().filter(|_| is_plain);
        if absolute.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(target_error("a path has no NUL in it"));
        }
        let Some(c_name) = bytes else {
            return Err(target_error(&format!(
                "the working directory's name {name:?} is not a plain file name such as iolag-work"
            )));
        };
        Ok(Self { path: absolute.join(name), target: absolute, name: c_name })
    }

    /// The target's absolute path.
    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// The working directory's absolute path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The working directory's name.
    pub(super) fn name(&self) -> &CStr {
        &self.name
    }

    /// Makes it, or takes one that is ours and empty but for the probe of a maker who was killed, and sees whether something can be written there.
    pub(super) fn create(&self) -> Result<(Place, Whereabouts), BackendError> {
        let target = self.open_target()?;
        let is_new = match mkdirat(&target, self.name(), Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(failed("make the working directory", &self.path, errno)),
        };
        let working = self.open_in(&target)?;
        if !is_new {
            self.refuse_shared(&working)?;
            remove_mere_probe(&working)
                .map_err(|errno| failed("look into the working directory", &self.path, errno))?;
            self.refuse_not_empty(&working)?;
        }
        if let Err(errno) = write_probe(&working) {
            // Whoever has removed the probe meanwhile has taken the directory.
            if is_new && errno != Errno::NOENT {
                // The caller is told about the greater trouble; an empty directory does no harm.
                let _ = unlinkat(&target, self.name(), AtFlags::REMOVEDIR);
            }
            return Err(failed("write to the working directory", &self.path, errno));
        }
        Ok((self.place(&working)?, Whereabouts::of(working)))
    }

    /// Finds it with at least one dataset in it.
    pub(super) fn reopen(
        &self,
        expected: Option<PlaceIdentity>,
    ) -> Result<(Place, Whereabouts), BackendError> {
        let working = self.open(expected)?;
        if self.refuse_linked_datasets(&working)? == 0 {
            return Err(BackendError::NoWorkingSet { path: self.path.display().to_string() });
        }
        Ok((self.place(&working)?, Whereabouts::of(working)))
    }

    /// Opens it, if it is the one that is expected.
    pub(super) fn open(&self, expected: Option<PlaceIdentity>) -> Result<OwnedFd, BackendError> {
        let working = self.open_in(&self.open_target()?)?;
        self.refuse_other(&working, expected)?;
        Ok(working)
    }

    /// Opens the target. The target itself may be a symbolic link: the user named it.
    pub(super) fn open_target(&self) -> Result<OwnedFd, BackendError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        retry(|| openat(CWD, &self.target, flags, Mode::empty())).map_err(|errno| match errno {
            Errno::NOTDIR => BackendError::NotADirectory { path: self.target.display().to_string() },
            _ => failed("open the directory", &self.target, errno),
        })
    }

    /// Opens the working directory in the open target.
    pub(super) fn open_in(&self, target: &OwnedFd) -> Result<OwnedFd, BackendError> {
        directory::open(target.as_fd(), self.name()).map_err(|errno| match errno {
            Errno::NOENT => BackendError::NoWorkingSet { path: self.path.display().to_string() },
            Errno::NOTDIR | Errno::LOOP => {
                let found = attributes(target.as_fd(), self.name())
                    .map_or("not a directory", |attributes| type_name(type_in(&attributes)));
                self.not_ours(&self.path, found)
            }
            _ => failed("open the working directory", &self.path, errno),
        })
    }

    /// Refuses another directory than the one the run made.
    pub(super) fn refuse_other(
        &self,
        working: &OwnedFd,
        expected: Option<PlaceIdentity>,
    ) -> Result<(), BackendError> {
        let Some(expected) = expected else { return Ok(()) };
        if !expected.admits(self.own_identity(working)?) {
            return Err(self.not_ours(&self.path, "another directory than the one that this run made"));
        }
        // Inodes are used again: without a device the directory must at least be one that only we can have filled.
        if expected.device.is_none() { self.refuse_shared(working) } else { Ok(()) }
    }

    /// Refuses a target on another file system than the one that the run made its directory on: what has this path now is not
    /// what was measured. Of a target that is not there, the nearest directory above it tells.
    pub(super) fn refuse_other_file_system(
        &self,
        expected: Option<PlaceIdentity>,
    ) -> Result<(), BackendError> {
        let Some(device) = expected.and_then(|expected| expected.device) else { return Ok(()) };
        let look = |path: &Path| statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS);
        for path in self.target.ancestors() {
            match retry(|| look(path)) {
                Err(Errno::NOENT) => {}
                Ok(found) if identity_in(&found).device != Some(device) => {
                    return Err(BackendError::Unmounted { path: self.path.display().to_string() });
                }
                // What cannot be looked at is told by who opens it.
                Ok(_) | Err(_) => break,
            }
        }
        Ok(())
    }

    /// Refuses a working directory that is elsewhere than it was found. Only if the kernel, which asks nobody for that, gives another
    /// path is the file system asked whether the directory is there: the path of one that was removed or unmounted leads nowhere.
    pub(super) fn refuse_moved(&self, found: &Whereabouts) -> Result<(), BackendError> {
        let Some(now) = path_of(&found.directory).filter(|now| Some(now) != found.path.as_ref()) else {
            return Ok(());
        };
        let there = retry(|| statx(CWD, &now, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS));
        let own = own_attributes(found.directory.as_fd());
        match (there, own) {
            (Ok(there), Ok(own)) if identity_in(&there) == identity_in(&own) => Err(BackendError::Moved {
                path: self.path.display().to_string(),
                now: now.display().to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses datasets that are not directories: operations would go astray through a link. Returns the number of
    /// datasets.
    pub(super) fn refuse_linked_datasets(&self, working: &OwnedFd) -> Result<u64, BackendError> {
        let mut datasets = 0;
        let wrong = directory::visit(working.as_fd(), |name, listed| {
            if TopName::of(name.to_bytes()) != TopName::Dataset {
                return None;
            }
            datasets += 1;
            match type_of(working.as_fd(), name, listed) {
                Ok(FileType::Directory) | Err(Errno::NOENT) => None,
                Ok(other) => Some((name.to_owned(), type_name(other))),
                Err(_) => Some((name.to_owned(), type_name(FileType::Unknown))),
            }
        })
        .map_err(|errno| failed("list the working directory", &self.path, errno))?;
        match wrong {
            Some((name, found)) => Err(self.not_ours(&self.path.join(text(&name)), found)),
            None => Ok(datasets),
        }
    }

    /// Counts a dataset.
    pub(super) fn inventory(
        &self,
        expected: Option<PlaceIdentity>,
        rank: u32,
        dataset: u32,
    ) -> Result<Inventory, BackendError> {
        let working = self.open(expected)?;
        let name = DatasetName::new(ObjectKey { rank, dataset, index: 0 });
        let path = self.path.join(text(name.as_c_str()));
        let dataset = directory::open(working.as_fd(), name.as_c_str())
            .map_err(|errno| failed("open the dataset", &path, errno))?;
        let mut inventory = Inventory::default();
        directory::visit(dataset.as_fd(), |name, _| {
            if is_object(name.to_bytes()) {
                inventory.objects += 1;
            } else {
                inventory.foreign += 1;
            }
            None::<()>
        })
        .map_err(|errno| failed("list the dataset", &path, errno))?;
        Ok(inventory)
    }

    fn place(&self, working: &OwnedFd) -> Result<Place, BackendError> {
        Ok(Place {
            target: self.target.display().to_string(),
            name: text(self.name()),
            identity: Some(self.own_identity(working)?),
        })
    }

    fn own_identity(&self, working: &OwnedFd) -> Result<PlaceIdentity, BackendError> {
        own_attributes(working.as_fd())
            .map(|attributes| identity_in(&attributes))
            .map_err(|errno| failed("look at the working directory", &self.path, errno))
    }

    fn refuse_not_empty(&self, working: &OwnedFd) -> Result<(), BackendError> {
        let first = directory::visit(working.as_fd(), |_, _| Some(()))
            .map_err(|errno| failed("list the working directory", &self.path, errno))?;
        match first {
            Some(()) => Err(BackendError::NotEmpty { path: self.path.display().to_string() }),
            None => Ok(()),
        }
    }

    /// An empty directory that somebody else made, or may write to, could get links in it while we measure.
    pub(super) fn refuse_shared(&self, working: &OwnedFd) -> Result<(), BackendError> {
        let attributes = own_attributes(working.as_fd())
            .map_err(|errno| failed("look at the working directory", &self.path, errno))?;
        let writable_by_others = Mode::WGRP.union(Mode::WOTH);
        if attributes.stx_uid != rustix::process::geteuid().as_raw() {
            Err(self.not_ours(&self.path, "a directory of another user"))
        } else if Mode::from_raw_mode(u32::from(attributes.stx_mode)).intersects(writable_by_others) {
            Err(self.not_ours(&self.path, "a directory that others may write to"))
        } else {
            Ok(())
        }
    }

    pub(super) fn not_ours(&self, path: &Path, found: &'static str) -> BackendError {
        BackendError::NotOurs { path: path.display().to_string(), found }
    }
}

/// Where the kernel says that a directory is that this thread has opened.
fn path_of(directory: &OwnedFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/thread-self/fd/{}", directory.as_raw_fd())).ok()
}

/// An error of the harness from a system call's answer.
pub(super) fn failed(action: &'static str, path: &Path, errno: Errno) -> BackendError {
    let code = FailureCode::from_errno(errno.raw_os_error());
    BackendError::Failed { action, path: path.display().to_string(), class: code.class(), code }
}

/// A name for people.
pub(super) fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}

/// Writes a block and makes it durable: a full file system may accept names, and only then refuse bytes.
fn write_probe(working: &OwnedFd) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let probe = openat(working, PROBE, flags, Mode::RUSR | Mode::WUSR)?;
    let written = retry(|| write(&probe, &[0x5a; 4096])).and_then(|bytes| match bytes {
        4096 => fsync(&probe),
        _ => Err(Errno::NOSPC),
    });
    drop(probe);
    written.and(unlinkat(working, PROBE, AtFlags::empty())).inspect_err(|_| {
        let _ = unlinkat(working, PROBE, AtFlags::empty());
    })
}
