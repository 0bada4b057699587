//! The runtime directory: where a watch keeps what must outlive its process but not the machine's boot.
//!
//! It lies on a file system in memory, because the watch may never wait for storage. It is private: mode 0700, owned by
//! who watches, never reached through a symbolic link, everything in it opened by descriptor. One watch at a time holds it.
//!
//! ```text
//! <runtime directory>/<history>/lock         which watch holds it
//!                               spool        records that the history does not have yet (see crate::memory::spool)
//!                               status.json  what the watch is doing (see crate::memory::status_file)
//!                               …            what the watch itself puts there by name
//! ```
//!
//! Invariants: files are 0600 and replaced as a whole by renaming; nothing is synced, since a file system in memory
//! survives the end of any process (kill -9 too) and no reboot.
//!
//! The lock is a record lock of fcntl(2), not one of flock(2): a forked child does not inherit it, so a hung child of a
//! watch that was killed cannot keep the next watch out. Limits: such a lock says nothing within one process, and it
//! goes when that process closes any descriptor of the file; so nothing else here opens it for as long as it is held.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_model::Fingerprint;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::world::hidden_root::is_hidden_root;

const LOCK: &str = "lock";
const DIRECTORY_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIRECTORY_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Permissions of group and others.
const OTHERS: u32 = 0o077;

/// `f_type` of the file systems that live in memory (statfs(2)).
const TMPFS_MAGIC: u64 = 0x0102_1994;
const RAMFS_MAGIC: u64 = 0x8584_58f6;

/// Which file systems may hold a runtime directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// tmpfs and ramfs.
    Memory,
    /// Any: for tests, where no storage hangs.
    Anything,
}

/// An open runtime directory. Held by its watch until it is dropped; one opened for reading holds nothing.
#[derive(Debug)]
pub struct RuntimeDirectory {
    files: PrivateDirectory,
    /// Closing it gives the lock back.
    _lock: Option<File>,
}

impl RuntimeDirectory {
    /// Opens the directory at `path` for a watch, making it and its parent if they are missing, and takes its lock.
    ///
    /// # Errors
    /// If it is no safe place (see [`RuntimeError`]), not in memory, or another watch holds it.
    pub fn open(path: &Path) -> Result<Self, RuntimeError> {
        Self::open_on(path, Backing::Memory)
    }

    /// [`RuntimeDirectory::open`] with a choice of file systems.
    ///
    /// # Errors
    /// As [`RuntimeDirectory::open`].
    pub fn open_on(path: &Path, backing: Backing) -> Result<Self, RuntimeError> {
        let files = PrivateDirectory::open_or_create(path)?;
        if backing == Backing::Memory {
            require_memory(&files.descriptor, path)?;
        }
        let lock = files.lock()?;
        Ok(Self { files, _lock: Some(lock) })
    }

    /// Opens the directory at `path` to look at it, whether a watch holds it or not; `None` if there is none.
    ///
    /// # Errors
    /// If it is no safe place: what lies there might be somebody else's.
    pub fn open_read_only(path: &Path) -> Result<Option<Self>, RuntimeError> {
        let Some(files) = PrivateDirectory::open(path)? else { return Ok(None) };
        Ok(Some(Self { files, _lock: None }))
    }

    /// Refuses the directory at `path` if a watch holds it. For one that cannot be written to, where no lock can be taken; never
    /// for one that this process holds.
    ///
    /// # Errors
    /// If it is held, no safe place, or cannot be read.
    pub fn refuse_held(path: &Path) -> Result<(), RuntimeError> {
        let Some(files) = PrivateDirectory::open(path)? else { return Ok(()) };
        match files.open_file(LOCK, OFlags::RDONLY) {
            Err(RuntimeError::System { errno: Errno::NOENT, .. }) => Ok(()),
            lock => files.take_lock(&mut lock?, FlockOperation::NonBlockingLockShared),
        }
    }

    /// Where the runtime directory of the history at `location` is below `base`, so that watches with different histories can
    /// run at once. Its name is the FNV-1a hash (64 bits, hexadecimal) of the location.
    pub fn path_for_history(base: &Path, location: &str) -> PathBuf {
        let hash = Fingerprint::of(location);
        base.join(format!("{hash:016x}"))
    }

    /// The path by which it was found: for messages.
    pub fn path(&self) -> &Path {
        &self.files.path
    }

    /// The open directory.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.files.descriptor.as_fd()
    }

    /// The bytes of the file `name`, if they are at most `bytes_max`; `None` if there is no such file.
    ///
    /// # Errors
    /// If it is too long, no regular file, or cannot be read.
    pub fn read_file(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, RuntimeError> {
        self.files.read_file(name, bytes_max)
    }

    /// Replaces the file `name` as a whole: whoever reads it has its old bytes or these, also after kill -9.
    ///
    /// # Errors
    /// If it cannot be written; then the old file stands.
    pub fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.files.replace_file(name, bytes)
    }

    /// Removes the file `name`; a missing one is fine.
    ///
    /// # Errors
    /// If it is there and cannot be removed.
    pub fn remove_file(&self, name: &str) -> Result<(), RuntimeError> {
        self.files.remove_file(name)
    }

    pub(crate) const fn files(&self) -> &PrivateDirectory {
        &self.files
    }
}

/// An open directory of ours that nobody else can enter, and the path by which it was found.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl PrivateDirectory {
    fn open_or_create(path: &Path) -> Result<Self, RuntimeError> {
        match Self::create(path) {
            // Somebody who made the parent and left it empty has just removed it.
            Err(RuntimeError::System { errno: Errno::NOENT, .. }) => Self::create(path),
            other => other,
        }
    }

    fn create(path: &Path) -> Result<Self, RuntimeError> {
        let (parent, name) = split(path)?;
        let parent_descriptor = open_or_create_parent(parent)?;
        require_safe_parent(&parent_descriptor, parent)?;
        make_directory(parent_descriptor.as_fd(), Path::new(name), path)?;
        Self::open_below(parent_descriptor.as_fd(), Path::new(name), path)
    }

    fn open(path: &Path) -> Result<Option<Self>, RuntimeError> {
        match Self::open_below(CWD, path, path) {
            Err(RuntimeError::System { errno: Errno::NOENT, .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    fn open_below(base: BorrowedFd<'_>, name: &Path, path: &Path) -> Result<Self, RuntimeError> {
        let descriptor = open_directory(base, name, path)?;
        let status = status_of(&descriptor, path)?;
        let user = rustix::process::geteuid().as_raw();
        if status.st_uid != user {
            return Err(RuntimeError::Foreign { path: path.to_owned(), owner: status.st_uid, user });
        }
        if status.st_mode & OTHERS != 0 {
            return Err(RuntimeError::NotPrivate { path: path.to_owned(), mode: status.st_mode & 0o7777 });
        }
        Ok(Self { descriptor, path: path.to_owned() })
    }

    /// A second handle on the same directory.
    pub(crate) fn try_clone(&self) -> Result<Self, RuntimeError> {
        let descriptor = rustix::io::fcntl_dupfd_cloexec(&self.descriptor, 0)
            .map_err(|errno| RuntimeError::system("keep open", &self.path, errno))?;
        Ok(Self { descriptor, path: self.path.clone() })
    }

    /// The path of the file `name` in it, for messages.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the regular file `name` with these flags; a new one is mode 0600.
    pub(crate) fn open_file(&self, name: &str, flags: OFlags) -> Result<File, RuntimeError> {
        debug_assert!(!name.contains('/'), "names in a directory are plain");
        // A FIFO in the place of a file would block the open for ever.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::openat(&self.descriptor, name, flags, FILE_MODE)
            .map_err(|errno| self.error("open", name, errno))?;
        let status = status_of(&file, &self.path_of(name))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            let what = "it is not a regular file; remove it".to_owned();
            return Err(RuntimeError::Damaged { path: self.path_of(name), what });
        }
        Ok(File::from(file))
    }

    /// Gives the file `from` the name `to`, in the place of what had it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), RuntimeError> {
        rustix::fs::renameat(&self.descriptor, from, &self.descriptor, to)
            .map_err(|errno| self.error("replace", to, errno))
    }

    fn read_file(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, RuntimeError> {
        let file = match self.open_file(name, OFlags::RDONLY) {
            Err(RuntimeError::System { errno: Errno::NOENT, .. }) => return Ok(None),
            other => other?,
        };
        let mut bytes = Vec::new();
        file.take(bytes_max.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| self.error("read", name, errno_of(&error)))?;
        if bytes.len() as u64 > bytes_max {
            let what = format!("it is longer than the {bytes_max} bytes that it may have; remove it");
            return Err(RuntimeError::Damaged { path: self.path_of(name), what });
        }
        Ok(Some(bytes))
    }

    fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), RuntimeError> {
        debug_assert_ne!(name, LOCK, "the lock is not a file to write");
        let new = new_name(name);
        let written =
            self.open_file(&new, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC).and_then(|mut file| {
                file.write_all(bytes).map_err(|error| self.error("write", name, errno_of(&error)))
            });
        let replaced = written.and_then(|()| self.rename(&new, name));
        if replaced.is_err() {
            // The first error is the one to tell. What is left would take memory.
            let _ = self.remove_file(&new);
        }
        replaced
    }

    pub(crate) fn remove_file(&self, name: &str) -> Result<(), RuntimeError> {
        match rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.error("remove", name, errno)),
        }
    }

    fn lock(&self) -> Result<File, RuntimeError> {
        let mut file = self.open_file(LOCK, OFlags::RDWR | OFlags::CREATE)?;
        self.take_lock(&mut file, FlockOperation::NonBlockingLockExclusive)?;
        // One write at the beginning: who reads it meanwhile sees the old process or the new one. A full file
        // system leaves the name out; the lock counts.
        let text = format!("{:<10}\n", std::process::id());
        let _ = rustix::io::pwrite(&file, text.as_bytes(), 0);
        Ok(file)
    }

    fn take_lock(&self, file: &mut File, operation: FlockOperation) -> Result<(), RuntimeError> {
        rustix::fs::fcntl_lock(&*file, operation).map_err(|errno| match errno {
            Errno::WOULDBLOCK | Errno::ACCESS => {
                RuntimeError::Busy { path: self.path.clone(), process: process_in(file) }
            }
            _ => self.error("lock", LOCK, errno),
        })
    }

    pub(crate) fn error(&self, action: &'static str, name: &str, errno: Errno) -> RuntimeError {
        RuntimeError::system(action, &self.path_of(name), errno)
    }
}

/// Under which name a file is written until it is whole.
pub(crate) fn new_name(name: &str) -> String {
    format!("{name}.new")
}

/// The system's number for this failure.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// A runtime directory, or something in it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The system refused.
    #[error("cannot {action} {}: {errno}", path.display())]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system answered.
        errno: Errno,
    },
    /// The path does not name a directory in another one.
    #[error("{} cannot be the runtime directory: it must be an absolute path such as /run/user/1000/iolag", path.display())]
    Unnamed {
        /// What was given.
        path: PathBuf,
    },
    /// There is something else in its place.
    #[error("{} is not a directory but a file or a symbolic link: remove it or choose another runtime directory", path.display())]
    NotADirectory {
        /// What is in its place.
        path: PathBuf,
    },
    /// It is somebody else's.
    #[error("{} belongs to user {owner} and you are user {user}: choose another runtime directory", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Who asked.
        user: u32,
    },
    /// Others can enter it.
    #[error("{} has mode {mode:o}, so others could get at it: run chmod 700 on it or choose another runtime directory", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// Others could put something else in its place.
    #[error("others may write to {} (mode {mode:o}, user {owner}): choose a runtime directory elsewhere", path.display())]
    UnsafeParent {
        /// The directory above the runtime directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// Its file system may hang.
    #[error("{} is not on tmpfs but on a file system of type {magic:#x}, which may hang: choose a runtime directory in /run or /dev/shm", path.display())]
    NotInMemory {
        /// The directory.
        path: PathBuf,
        /// The type, as statfs(2) lists them.
        magic: u64,
    },
    /// There is no place in memory.
    #[error(
        "no directory in memory can hold what a watch keeps: {tried}; name one on a tmpfs with --runtime"
    )]
    NoPlace {
        /// What was tried, and why it cannot be used.
        tried: String,
    },
    /// Another watch holds it.
    #[error("{} is in use by {}: stop that one, or give this one another history or runtime directory", path.display(), holder(*process))]
    Busy {
        /// The directory.
        path: PathBuf,
        /// The process that holds it, if it said so.
        process: Option<u32>,
    },
    /// What lies in it is not what it should be.
    #[error("cannot use {}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
}

impl RuntimeError {
    pub(crate) fn system(action: &'static str, path: &Path, errno: Errno) -> Self {
        Self::System { action, path: path.to_owned(), errno }
    }
}

fn holder(process: Option<u32>) -> String {
    process
        .map_or_else(|| "another watch".to_owned(), |process| format!("the watch with process id {process}"))
}

fn process_in(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn split(path: &Path) -> Result<(&Path, &Path), RuntimeError> {
    let parts = || Some((path.parent()?, Path::new(path.file_name()?)));
    parts().filter(|_| path.is_absolute()).ok_or_else(|| RuntimeError::Unnamed { path: path.to_owned() })
}

fn open_or_create_parent(parent: &Path) -> Result<OwnedFd, RuntimeError> {
    match open_directory(CWD, parent, parent) {
        Err(RuntimeError::System { errno: Errno::NOENT, .. }) => {}
        other => return other,
    }
    let (above, name) = split(parent)?;
    let above_descriptor = open_directory(CWD, above, above)?;
    require_safe_parent(&above_descriptor, above)?;
    make_directory(above_descriptor.as_fd(), name, parent)?;
    open_directory(above_descriptor.as_fd(), name, parent)
}

fn make_directory(base: BorrowedFd<'_>, name: &Path, path: &Path) -> Result<(), RuntimeError> {
    match rustix::fs::mkdirat(base, name, DIRECTORY_MODE) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(RuntimeError::system("make the runtime directory", path, errno)),
    }
}

pub(crate) fn open_directory(
    base: BorrowedFd<'_>,
    name: &Path,
    path: &Path,
) -> Result<OwnedFd, RuntimeError> {
    rustix::fs::openat(base, name, DIRECTORY_FLAGS, Mode::empty()).map_err(|errno| match errno {
        Errno::NOTDIR | Errno::LOOP => RuntimeError::NotADirectory { path: path.to_owned() },
        _ => RuntimeError::system("open the directory", path, errno),
    })
}

/// Refuses what does not lie on a file system in memory.
pub(crate) fn require_memory(descriptor: &OwnedFd, path: &Path) -> Result<(), RuntimeError> {
    let status = rustix::fs::fstatfs(descriptor)
        .map_err(|errno| RuntimeError::system("look at the file system of", path, errno))?;
    // The field is as wide as the machine's word; magic numbers have 32 bits.
    match status.f_type as u64 & 0xffff_ffff {
        TMPFS_MAGIC | RAMFS_MAGIC => Ok(()),
        magic => Err(RuntimeError::NotInMemory { path: path.to_owned(), magic }),
    }
}

/// Only its owner, who is root or we, may replace what is in it: nobody else may write to it, or it is sticky. It is root too if
/// it is a place for everybody that was made for a root who has no number here.
pub(crate) fn require_safe_parent(descriptor: &OwnedFd, path: &Path) -> Result<(), RuntimeError> {
    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;
    const FOR_ALL: u32 = 0o1777;
    let status = status_of(descriptor, path)?;
    let is_trusted = status.st_uid == 0
        || status.st_uid == rustix::process::geteuid().as_raw()
        || (status.st_mode & FOR_ALL == FOR_ALL && is_hidden_root(status.st_uid, path, Path::new("/proc")));
    let is_writable = status.st_mode & OTHERS_WRITE != 0 && status.st_mode & STICKY == 0;
    if is_trusted && !is_writable {
        return Ok(());
    }
    Err(RuntimeError::UnsafeParent {
        path: path.to_owned(),
        mode: status.st_mode & 0o7777,
        owner: status.st_uid,
    })
}

fn status_of(descriptor: &OwnedFd, path: &Path) -> Result<Stat, RuntimeError> {
    rustix::fs::fstat(descriptor).map_err(|errno| RuntimeError::system("look at", path, errno))
}
