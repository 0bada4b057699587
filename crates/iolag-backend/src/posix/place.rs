//! The working directory: made, found again, and refused where it is not ours.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_directory::{Modes, Origin, OwnDirectory, Refusal, Unproven, path_of};
use iolag_model::{FailureCode, PlaceIdentity, PlaceMaker, PlaceToken};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags, fstatvfs, openat, statx, unlinkat};
use rustix::io::Errno;

use super::directory::{self, attributes, identity_in, own_attributes, retry, type_in, type_name, type_of};
use super::names::{DatasetName, TopName, is_object};
use super::token::{self, Contents};
use crate::{BackendError, Inventory, ObjectKey, Place};

/// A working directory in a target, by name: nothing is open.
#[derive(Debug)]
pub(super) struct WorkingDirectory {
    target: PathBuf,
    name: CString,
    path: PathBuf,
}

const ANOTHER: &str = "another directory than the one that this run made";

/// What is known of a working directory that was made before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Expected {
    /// Which directory it was.
    pub identity: Option<PlaceIdentity>,
    /// What was left in it.
    pub token: Option<PlaceToken>,
}

/// An open directory, and where the kernel said that it is.
#[derive(Debug)]
pub(super) struct Whereabouts {
    directory: OwnedFd,
    path: Option<PathBuf>,
}

impl Whereabouts {
    fn of(directory: OwnedFd) -> Self {
        let path = path_of(directory.as_fd());
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

    /// Makes it, or takes one that is ours and empty, and leaves the maker's token in it, which shows that it takes bytes.
    pub(super) fn create(&self, maker: &PlaceMaker) -> Result<(Place, Whereabouts), BackendError> {
        let target = self.open_target()?;
        let directory =
            Unproven::make_or_open(target.as_fd(), self.name()).map_err(|why| self.refused(why))?;
        let origin = directory.origin();
        // Nothing is named after the token in a directory of which it is not known whose it is: others could read it.
        let own = directory.prove().map_err(|why| {
            if let (Origin::Made, Refusal::System { errno, .. }) = (origin, why) {
                self.take_back(&target, errno);
            }
            self.refused(why)
        })?;
        let contents = self.contents(own.as_fd())?;
        if contents.is_only(maker.token) {
            return self.placed(own, Some(maker.token));
        }
        if !contents.is_empty() {
            return Err(self.taken(own.as_fd(), &contents));
        }
        let name =
            token::file_name(maker.token).map_err(|errno| failed("name a file in", &self.path, errno))?;
        own.write_new(&name, &token::text(maker)).map_err(|why| {
            if origin == Origin::Made {
                self.take_back(&target, why.errno());
            }
            self.refused(why)
        })?;
        let contents = self.contents(own.as_fd())?;
        if !contents.is_only(maker.token) {
            // Two that came at the same moment: whoever saw nobody else's has it.
            let _ = token::remove(&own, maker.token);
            return Err(self.taken(own.as_fd(), &self.contents(own.as_fd())?));
        }
        self.placed(own, Some(maker.token))
    }

    /// Removes the directory that was just made and is empty. The caller is told about the greater trouble; an empty directory does no
    /// harm. Whoever has removed it meanwhile has taken its name.
    fn take_back(&self, target: &OwnedFd, why: Errno) {
        if why != Errno::NOENT {
            let _ = unlinkat(target, self.name(), AtFlags::REMOVEDIR);
        }
    }

    /// Finds it with the token of the run that made it, and at least one dataset in it.
    pub(super) fn reopen(&self, expected: Expected) -> Result<(Place, Whereabouts), BackendError> {
        let own = self.recognise()?;
        let contents = self.contents(own.as_fd())?;
        if contents.is_empty() {
            return Err(self.no_working_set());
        }
        let token = contents.owner();
        if token.is_none() {
            return Err(self.not_ours("a directory of which nothing shows which run made it"));
        }
        if expected.token.is_some() && expected.token != token {
            return Err(self.not_ours(ANOTHER));
        }
        if self.refuse_linked_datasets(own.as_fd())? == 0 {
            return Err(self.no_working_set());
        }
        self.placed(own, token)
    }

    /// Opens it, if it is the one that is expected; if nothing is known of it, if it is ours.
    pub(super) fn open(&self, expected: Expected) -> Result<OwnedFd, BackendError> {
        if expected.identity.is_none() {
            return self.recognise().map(OwnDirectory::into_descriptor);
        }
        let working = self.open_in(&self.open_target()?)?;
        self.refuse_other(working.as_fd(), expected.identity)?;
        Ok(working)
    }

    /// Opens it, if it is ours.
    pub(super) fn recognise(&self) -> Result<OwnDirectory, BackendError> {
        let target = self.open_target()?;
        let own = Unproven::open(target.as_fd(), self.name()).and_then(Unproven::recognise);
        own.map_err(|why| match why.errno() {
            Errno::NOENT => self.no_working_set(),
            _ => self.refused(why),
        })
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
            Errno::NOENT => self.no_working_set(),
            Errno::NOTDIR | Errno::LOOP => {
                let found = attributes(target.as_fd(), self.name())
                    .map_or("not a directory", |attributes| type_name(type_in(&attributes)));
                self.not_ours(found)
            }
            _ => failed("open the working directory", &self.path, errno),
        })
    }

    /// Refuses another directory than the one the run made, as far as device and inode tell.
    pub(super) fn refuse_other(
        &self,
        working: BorrowedFd<'_>,
        expected: Option<PlaceIdentity>,
    ) -> Result<(), BackendError> {
        let Some(expected) = expected else { return Ok(()) };
        if !expected.admits(self.own_identity(working)?) {
            return Err(self.not_ours(ANOTHER));
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
        let Some(now) = path_of(found.directory.as_fd()).filter(|now| Some(now) != found.path.as_ref())
        else {
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
    pub(super) fn refuse_linked_datasets(&self, working: BorrowedFd<'_>) -> Result<u64, BackendError> {
        let mut datasets = 0;
        let wrong = directory::visit(working, |name, listed| {
            if TopName::of(name.to_bytes()) != TopName::Dataset {
                return None;
            }
            datasets += 1;
            match type_of(working, name, listed) {
                Ok(FileType::Directory) | Err(Errno::NOENT) => None,
                Ok(other) => Some((name.to_owned(), type_name(other))),
                Err(_) => Some((name.to_owned(), type_name(FileType::Unknown))),
            }
        })
        .map_err(|errno| failed("list the working directory", &self.path, errno))?;
        match wrong {
            Some((name, found)) => Err(BackendError::NotOurs {
                path: self.path.join(text(&name)).display().to_string(),
                found: found.to_owned(),
            }),
            None => Ok(datasets),
        }
    }

    /// Counts a dataset.
    pub(super) fn inventory(
        &self,
        expected: Expected,
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

    fn placed(
        &self,
        own: OwnDirectory,
        token: Option<PlaceToken>,
    ) -> Result<(Place, Whereabouts), BackendError> {
        let remark = (own.modes() == Modes::NotKept).then(|| {
            format!(
                "the file system of {} keeps no modes: how it is mounted keeps others from writing there, and they may look",
                self.path.display()
            )
        });
        let place = Place {
            target: self.target.display().to_string(),
            name: text(self.name()),
            identity: Some(self.own_identity(own.as_fd())?),
            token,
            file_system: fstatvfs(&own).ok().map(|found| found.f_fsid).filter(|number| *number != 0),
            remark,
        };
        Ok((place, Whereabouts::of(own.into_descriptor())))
    }

    fn own_identity(&self, working: BorrowedFd<'_>) -> Result<PlaceIdentity, BackendError> {
        own_attributes(working)
            .map(|attributes| identity_in(&attributes))
            .map_err(|errno| failed("look at the working directory", &self.path, errno))
    }

    /// What is in the open working directory.
    pub(super) fn contents(&self, working: BorrowedFd<'_>) -> Result<Contents, BackendError> {
        Contents::of(working).map_err(|errno| failed("list the working directory", &self.path, errno))
    }

    /// A directory that somebody else made, or may write to, could get links in it at any time.
    fn refuse_shared(&self, working: BorrowedFd<'_>) -> Result<(), BackendError> {
        let attributes = own_attributes(working)
            .map_err(|errno| failed("look at the working directory", &self.path, errno))?;
        let writable_by_others = Mode::WGRP.union(Mode::WOTH);
        if attributes.stx_uid != rustix::process::geteuid().as_raw() {
            Err(self.not_ours("a directory of another user"))
        } else if Mode::from_raw_mode(u32::from(attributes.stx_mode)).intersects(writable_by_others) {
            Err(self.not_ours("a directory that others may write to"))
        } else {
            Ok(())
        }
    }

    fn no_working_set(&self) -> BackendError {
        BackendError::NoWorkingSet { path: self.path.display().to_string() }
    }

    /// The directory has something in it.
    pub(super) fn taken(&self, working: BorrowedFd<'_>, contents: &Contents) -> BackendError {
        let path = self.path.display().to_string();
        match contents.claims.iter().find_map(|(_, token)| token::run_of(working, *token)) {
            Some(run) => BackendError::Claimed { path, run },
            None => BackendError::NotEmpty { path },
        }
    }

    fn refused(&self, why: Refusal) -> BackendError {
        match why {
            Refusal::System { action, errno } => failed(action, &self.path, errno),
            found => self.not_ours(&found.to_string()),
        }
    }

    pub(super) fn not_ours(&self, found: &str) -> BackendError {
        BackendError::NotOurs { path: self.path.display().to_string(), found: found.to_owned() }
    }
}

/// An error of the harness from a system call's answer.
pub(super) fn failed(action: &'static str, path: &Path, errno: Errno) -> BackendError {
    let code = FailureCode::from(errno);
    BackendError::Failed { action, path: path.display().to_string(), class: code.class(), code }
}

/// A name for people.
pub(super) fn text(name: &CStr) -> String {
    name.to_string_lossy().into_owned()
}
