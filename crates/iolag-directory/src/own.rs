//! From a name in an open directory to a directory that is ours.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, fsync, mkdirat, openat, statat, unlinkat};
use rustix::io::{Errno, write};

use crate::look::{are_on_one_mount, forgets_modes, is_open_to_others, retry};
use crate::random_number;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const OWNERS_FILE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Beginning of the names of files that are made to see their owner, and removed at once.
const OWNER_PREFIX: &str = ".owner-";

/// Whether a file of this name was made to see its owner. It stays only where its maker was killed.
pub fn is_owner_file(name: &[u8]) -> bool {
    let digits = name.strip_prefix(OWNER_PREFIX.as_bytes());
    digits.is_some_and(|digits| digits.len() == 32 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// Whether a directory was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was.
    Found,
    /// It was made now.
    Made,
}

/// Whether a file system keeps the modes with which things are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modes {
    /// It does.
    Kept,
    /// It does not (CIFS, vfat): how it is mounted keeps others from writing there, and they may look.
    NotKept,
}

/// A directory that is not taken for ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The system refused.
    #[error("{action}: {errno}")]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system answered.
        errno: Errno,
    },
    /// Something else has the name.
    #[error("{}", type_name(*found))]
    NotADirectory {
        /// What it is.
        found: FileType,
    },
    /// Another file system, or another part of this one, is mounted there.
    #[error("the root of another file system")]
    MountedOver,
    /// What we make there belongs to another user than the directory.
    #[error("a directory of another user (owner {owner}, mode {mode:o})")]
    Foreign {
        /// Its owner.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// Its mode lets others write to it.
    #[error("a directory that others may write to (owner {owner}, mode {mode:o})")]
    Open {
        /// Its owner.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// The file system keeps no modes, and lets others write everywhere.
    #[error(
        "a directory on a file system that keeps no modes and lets others write everywhere (mode {mode:o})"
    )]
    Unprotected {
        /// Its mode.
        mode: u32,
    },
}

impl Refusal {
    /// The system's number for it.
    pub const fn errno(&self) -> Errno {
        match self {
            Self::System { errno, .. } => *errno,
            Self::NotADirectory { .. } => Errno::NOTDIR,
            _ => Errno::PERM,
        }
    }
}

/// What a person calls this type.
pub const fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of unknown type",
    }
}

fn system(action: &'static str) -> impl Fn(Errno) -> Refusal {
    move |errno| Refusal::System { action, errno }
}

/// An open directory on the mount of the one that it lies in. Nothing else is known of it yet.
#[derive(Debug)]
pub struct Unproven {
    descriptor: OwnedFd,
    status: Stat,
    origin: Origin,
}

impl Unproven {
    /// Makes the directory `name` in `parent`, mode 0700, or opens the one that is there.
    ///
    /// # Errors
    /// If it can be neither made nor opened, is no directory, or something is mounted over it.
    pub fn make_or_open(parent: BorrowedFd<'_>, name: &CStr) -> Result<Self, Refusal> {
        let origin = match mkdirat(parent, name, Mode::RWXU) {
            Ok(()) => Origin::Made,
            Err(Errno::EXIST) => Origin::Found,
            Err(errno) => return Err(system("make the directory")(errno)),
        };
        Self::look(parent, name, origin)
    }

    /// Makes the directory `name` in `parent`, mode 0700.
    ///
    /// # Errors
    /// As [`Self::make_or_open`], and if the name is taken.
    pub fn make(parent: BorrowedFd<'_>, name: &CStr) -> Result<Self, Refusal> {
        mkdirat(parent, name, Mode::RWXU).map_err(system("make the directory"))?;
        Self::look(parent, name, Origin::Made)
    }

    /// Opens the directory `name` in `parent`.
    ///
    /// # Errors
    /// As [`Self::make_or_open`], and if there is none.
    pub fn open(parent: BorrowedFd<'_>, name: &CStr) -> Result<Self, Refusal> {
        Self::look(parent, name, Origin::Found)
    }

    fn look(parent: BorrowedFd<'_>, name: &CStr, origin: Origin) -> Result<Self, Refusal> {
        let descriptor =
            retry(|| openat(parent, name, DIRECTORY, Mode::empty())).map_err(|errno| match errno {
                Errno::NOTDIR | Errno::LOOP => match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => Refusal::NotADirectory { found: FileType::from_raw_mode(found.st_mode) },
                    Err(_) => Refusal::NotADirectory { found: FileType::Unknown },
                },
                _ => system("open the directory")(errno),
            })?;
        let status = retry(|| fstat(&descriptor)).map_err(system("look at the directory"))?;
        let above = retry(|| fstat(parent)).map_err(system("look at the directory above"))?;
        if !are_on_one_mount((descriptor.as_fd(), &status), (parent, &above)) {
            return Err(Refusal::MountedOver);
        }
        Ok(Self { descriptor, status, origin })
    }

    /// Whether it was there.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Takes it for ours if a new file in it shows that it is; the file has a random name and is removed again.
    ///
    /// # Errors
    /// If it is not ours, or no file can be made in it.
    pub fn prove(self) -> Result<OwnDirectory, Refusal> {
        let random = random_number().map_err(system("find a random name for a file in the directory"))?;
        let name = CString::new(format!("{OWNER_PREFIX}{random:032x}")).map_err(|_| {
            // Digits have no NUL in them.
            system("name a file in the directory")(Errno::INVAL)
        })?;
        let file = openat(&self.descriptor, &name, NEW_FILE, OWNERS_FILE).map_err(|errno| match errno {
            // In a directory of ours we may make files.
            Errno::ACCESS | Errno::PERM if !self.has_our_number() => self.foreign(),
            _ => system("write to the directory")(errno),
        })?;
        let made = retry(|| fstat(&file));
        // What stays is known by its name, and removed with the directory.
        let _ = unlinkat(&self.descriptor, &name, AtFlags::empty());
        self.judge(&made.map_err(system("look at a file in the directory"))?)
    }

    /// Takes what was found for ours if it belongs to us by its number and nobody else may write to it, else as [`Self::prove`] does: for
    /// what is looked at again and again, or must be found on a full file system.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub fn recognise(self) -> Result<OwnDirectory, Refusal> {
        self.recognise_as(rustix::process::geteuid().as_raw())
    }

    /// The same with another number of which a file has shown that it is ours here.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub fn recognise_as(self, owner: u32) -> Result<OwnDirectory, Refusal> {
        match self.origin {
            Origin::Found if self.status.st_uid == owner && !is_open_to_others(&self.status) => {
                let (origin, modes) = (Origin::Found, Modes::Kept);
                Ok(OwnDirectory { descriptor: self.descriptor, owner, origin, modes })
            }
            _ => self.prove(),
        }
    }

    fn has_our_number(&self) -> bool {
        self.status.st_uid == rustix::process::geteuid().as_raw()
    }

    const fn foreign(&self) -> Refusal {
        Refusal::Foreign { owner: self.status.st_uid, mode: self.status.st_mode & 0o7777 }
    }

    fn judge(self, made: &Stat) -> Result<OwnDirectory, Refusal> {
        let mode = self.status.st_mode & 0o7777;
        if made.st_uid != self.status.st_uid {
            return Err(self.foreign());
        }
        let modes = match (is_open_to_others(&self.status), forgets_modes(made)) {
            (false, false) => Modes::Kept,
            (false, true) => Modes::NotKept,
            (true, false) => return Err(Refusal::Open { owner: self.status.st_uid, mode }),
            (true, true) => return Err(Refusal::Unprotected { mode }),
        };
        Ok(OwnDirectory { descriptor: self.descriptor, owner: made.st_uid, origin: self.origin, modes })
    }
}

/// An open directory of ours.
#[derive(Debug)]
pub struct OwnDirectory {
    descriptor: OwnedFd,
    owner: u32,
    origin: Origin,
    modes: Modes,
}

impl OwnDirectory {
    /// The user's number that what we make here belongs to.
    pub const fn owner(&self) -> u32 {
        self.owner
    }

    /// Whether it was there.
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether modes keep others out of it.
    pub const fn modes(&self) -> Modes {
        self.modes
    }

    /// Makes the file `name` in it with these bytes, durably: a full file system may accept names, and only then refuse bytes. One that
    /// cannot be written is taken back.
    ///
    /// # Errors
    /// If it is there, or cannot be written.
    pub fn write_new(&self, name: &CStr, bytes: &[u8]) -> Result<(), Refusal> {
        let refused = system("write to the directory");
        let file = openat(&self.descriptor, name, NEW_FILE, OWNERS_FILE).map_err(&refused)?;
        let written = write_durably(&file, bytes).map_err(&refused);
        if written.is_err() {
            drop(file);
            let _ = unlinkat(&self.descriptor, name, AtFlags::empty());
        }
        written
    }

    /// The open directory, for good.
    pub fn into_descriptor(self) -> OwnedFd {
        self.descriptor
    }
}

fn write_durably(file: &OwnedFd, bytes: &[u8]) -> Result<(), Errno> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match retry(|| write(file, rest))? {
            0 => return Err(Errno::NOSPC),
            written => rest = &rest[written..],
        }
    }
    fsync(file)
}

impl AsFd for OwnDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
