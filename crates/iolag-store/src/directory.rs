//! Files by name in an open directory: never by path, never through a symbolic link, never readable by others.
//!
//! Invariants: names are plain (no separator); every open carries `O_NOFOLLOW` and `O_CLOEXEC`; directories are made
//! 0700 and files 0600 whatever the umask allows more. The path is kept for messages only.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_directory::{OwnDirectory, Refusal, Unproven};
use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::StoreError;

const DIRECTORY_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open directory and the path by which it was found.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// Holds the lock of a directory until it is dropped.
#[derive(Debug)]
pub struct DirectoryLock {
    _descriptor: OwnedFd,
}

impl Directory {
    /// Opens the directory at `path`; its last component must not be a symbolic link.
    ///
    /// # Errors
    /// If it does not exist, is something else, or may not be opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_below(CWD, path, path)
    }

    /// Opens the directory at `path`, making it and its parents first if they are missing.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn open_or_create(path: &Path) -> Result<Self, StoreError> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(DIRECTORY_MODE.as_raw_mode())
            .create(path)
            .map_err(|error| StoreError::system("create the directory", path, error))?;
        let path = path.canonicalize().map_err(|error| StoreError::system("find", path, error))?;
        Self::open(&path)
    }

    /// Opens the directory `name` in this one.
    ///
    /// # Errors
    /// If it does not exist, is something else (a symbolic link, say), or may not be opened.
    pub fn directory(&self, name: &str) -> Result<Self, StoreError> {
        Self::open_below(self.descriptor(), Path::new(name), &self.path.join(name))
    }

    /// Makes the directory `name` in this one, and opens it.
    ///
    /// # Errors
    /// If it exists already or cannot be made.
    pub fn create_directory(&self, name: &str) -> Result<Self, StoreError> {
        rustix::fs::mkdirat(&self.descriptor, name, DIRECTORY_MODE)
            .map_err(|errno| self.error("create the directory", name, errno))?;
        self.sync()?;
        self.directory(name)
    }

    /// Makes the directory `name` in this one, where others may write too, and opens it if it is ours then.
    ///
    /// # Errors
    /// If it exists already, cannot be made, or is not ours.
    pub(crate) fn create_own_directory(&self, name: &str) -> Result<Self, StoreError> {
        let made =
            self.own(name, |name| Unproven::make(self.descriptor(), name).and_then(Unproven::prove))?;
        self.sync()?;
        Ok(made)
    }

    /// Opens the directory `name` in this one, where others may write too, if it is ours.
    ///
    /// # Errors
    /// If it does not exist, cannot be opened, or is not ours.
    pub(crate) fn own_directory(&self, name: &str) -> Result<Self, StoreError> {
        self.own(name, |name| Unproven::open(self.descriptor(), name).and_then(Unproven::recognise))
    }

    fn own(
        &self,
        name: &str,
        open: impl FnOnce(&CStr) -> Result<OwnDirectory, Refusal>,
    ) -> Result<Self, StoreError> {
        let path = self.path.join(name);
        let plain = CString::new(name).map_err(|_| self.error("open", name, Errno::INVAL))?;
        match open(&plain) {
            Ok(own) => Ok(Self { descriptor: own.into_descriptor(), path }),
            Err(Refusal::System { action, errno }) => Err(StoreError::system(action, &path, errno)),
            Err(found) => Err(StoreError::damaged(&path, format!("it is {found}; it is not used"))),
        }
    }

    /// The directory `name` in this one, made if it is missing.
    ///
    /// # Errors
    /// If it is something else (a symbolic link, say), or cannot be made or opened.
    pub(crate) fn directory_or_new(&self, name: &str) -> Result<Self, StoreError> {
        match self.directory(name) {
            Err(error) if error.is_missing() => {}
            other => return other,
        }
        match self.create_directory(name) {
            // Another command was faster.
            Err(error) if error.errno() == Some(Errno::EXIST.raw_os_error()) => self.directory(name),
            other => other,
        }
    }

    /// The path by which it was found: for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open directory.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// A second handle on the same directory.
    ///
    /// # Errors
    /// If no descriptor is left.
    pub fn try_clone(&self) -> Result<Self, StoreError> {
        let descriptor = self
            .descriptor
            .try_clone()
            .map_err(|error| StoreError::system("keep open", &self.path, error))?;
        Ok(Self { descriptor, path: self.path.clone() })
    }

    /// Owner, device and inode of the directory.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn status(&self) -> Result<Stat, StoreError> {
        rustix::fs::fstat(&self.descriptor).map_err(|errno| StoreError::system("look at", &self.path, errno))
    }

    /// Owner, mode, device and inode of what is called `name`, of a link itself.
    ///
    /// # Errors
    /// If it is missing, or the system does not say.
    pub(crate) fn status_of(&self, name: &str) -> Result<Stat, StoreError> {
        rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.error("look at", name, errno))
    }

    /// Opens the file `name` for reading.
    ///
    /// # Errors
    /// If it is missing, no regular file, or may not be read.
    pub fn open_file(&self, name: &str) -> Result<File, StoreError> {
        // A FIFO in the place of a file would block the open for ever.
        let file = self.open_with(name, OFlags::RDONLY | OFlags::NONBLOCK, "read")?;
        let status = rustix::fs::fstat(&file).map_err(|errno| self.error("look at", name, errno))?;
        if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
            return Err(StoreError::damaged(self.path.join(name), "it is not a regular file"));
        }
        Ok(file)
    }

    /// Opens the file `name` with these flags; a new one is mode 0600.
    pub(crate) fn open_with(
        &self,
        name: &str,
        flags: OFlags,
        action: &'static str,
    ) -> Result<File, StoreError> {
        debug_assert!(!name.contains('/'), "names in a directory are plain");
        rustix::fs::openat(&self.descriptor, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, FILE_MODE)
            .map(File::from)
            .map_err(|errno| self.error(action, name, errno))
    }

    /// Copies the files of `other` into this directory, under the same names and durable, each as a whole: who is killed
    /// meanwhile goes on where it was. What is here already stays, since more may have been added to it; so does what `other`
    /// itself has not whole.
    ///
    /// # Errors
    /// If one cannot be read or written.
    pub fn copy_files(&self, other: &Self) -> Result<(), StoreError> {
        let here = self.names()?;
        let is_wanted = |name: &&String| !here.contains(name) && !name.ends_with(".new");
        other.names()?.iter().filter(is_wanted).try_for_each(|name| self.take_copy(name, other, name))
    }

    /// Copies the file `source` of `other` under the name `name`, as a whole and durably. Every 8 MiB are made durable as they
    /// come, so that who waits for this process sees that it is getting on.
    ///
    /// # Errors
    /// If it cannot be read or written; then an old file of that name stands.
    pub(crate) fn take_copy(&self, name: &str, other: &Self, source: &str) -> Result<(), StoreError> {
        const PIECE_BYTES: u64 = 8 << 20;
        let (bytes, _) = other.look_at(source)?;
        let mut from = other.open_file(source)?;
        let new = new_name(name);
        let mut to = self.open_with(&new, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, "write")?;
        let mut copied = 0;
        loop {
            // Of the two ends the one that is written to fails nearly always; which it was the errno tells.
            let piece = std::io::copy(&mut (&mut from).take(PIECE_BYTES), &mut to)
                .and_then(|piece| to.sync_all().map(|()| piece))
                .map_err(|error| StoreError::system("write", self.path.join(name), error));
            match piece {
                Ok(0) => break,
                Ok(piece) => copied += piece,
                Err(error) => {
                    // The first error is the one to tell; the leftover is overwritten by the next attempt.
                    let _ = self.remove_file(&new);
                    return Err(error);
                }
            }
        }
        if copied != bytes {
            let what = format!("it has {bytes} bytes, of which {copied} could be read");
            return Err(StoreError::damaged(other.path.join(source), what));
        }
        self.put_in_place(name)
    }

    /// Bytes that this user may still write to the file system of this directory; `None` if the system does not say.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let status = rustix::fs::fstatvfs(&self.descriptor).ok()?;
        status.f_bavail.checked_mul(status.f_frsize)
    }

    /// The bytes of the file `name`, if they are at most `bytes_max`.
    ///
    /// # Errors
    /// If it is missing, too long, or cannot be read.
    pub fn read_file(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        self.open_file(name)?
            .take(bytes_max + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| StoreError::system("read", self.path.join(name), error))?;
        if bytes.len() as u64 > bytes_max {
            let what = format!("it is longer than the {bytes_max} bytes that it may have");
            return Err(StoreError::damaged(self.path.join(name), what));
        }
        Ok(bytes)
    }

    /// Replaces the file `name` as a whole: after a crash it has its old bytes or these, never a mixture.
    ///
    /// # Errors
    /// If it cannot be written; then the old file stands.
    pub fn replace_file(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let new = new_name(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let written = self.open_with(&new, flags, "write").and_then(|mut file| {
            file.write_all(bytes)
                .and_then(|()| file.sync_all())
                .map_err(|error| StoreError::system("write", self.path.join(name), error))
        });
        match written {
            Ok(()) => self.put_in_place(name),
            Err(error) => {
                // The first error is the one to tell; the leftover is overwritten by the next attempt.
                let _ = self.remove_file(&new);
                Err(error)
            }
        }
    }

    /// Gives the finished, synced file `new_name(name)` its name, durably.
    pub(crate) fn put_in_place(&self, name: &str) -> Result<(), StoreError> {
        rustix::fs::renameat(&self.descriptor, new_name(name), &self.descriptor, name)
            .map_err(|errno| self.error("replace", name, errno))?;
        self.sync()
    }

    /// Makes the names in the directory durable.
    ///
    /// # Errors
    /// If the system cannot promise it. File systems that cannot sync a directory at all are forgiven.
    pub fn sync(&self) -> Result<(), StoreError> {
        match rustix::fs::fsync(&self.descriptor) {
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::ROFS) => Ok(()),
            Err(errno) => Err(StoreError::system("make durable", &self.path, errno)),
        }
    }

    /// Removes the file `name`; a missing one is fine.
    ///
    /// # Errors
    /// If it is there and cannot be removed.
    pub fn remove_file(&self, name: &str) -> Result<(), StoreError> {
        self.remove(name, AtFlags::empty())
    }

    /// Removes the empty directory `name`; a missing one is fine.
    ///
    /// # Errors
    /// If it is there and cannot be removed.
    pub fn remove_directory(&self, name: &str) -> Result<(), StoreError> {
        self.remove(name, AtFlags::REMOVEDIR)
    }

    fn remove(&self, name: &str, flags: AtFlags) -> Result<(), StoreError> {
        match rustix::fs::unlinkat(&self.descriptor, name, flags) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.error("remove", name, errno)),
        }
    }

    /// The names in the directory, sorted. Names that are no UTF-8 cannot be ours and are left out.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn names(&self) -> Result<Vec<String>, StoreError> {
        let error = |errno: Errno| StoreError::system("list", &self.path, errno);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor).map_err(error)? {
            if let Ok(name) = entry.map_err(error)?.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Size in bytes and kind of `name`, not followed if it is a link.
    pub(crate) fn look_at(&self, name: &str) -> Result<(u64, FileType), StoreError> {
        let status = rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.error("look at", name, errno))?;
        Ok((u64::try_from(status.st_size).unwrap_or(0), FileType::from_raw_mode(status.st_mode)))
    }

    /// Takes the directory's lock without waiting. It goes with the last process that holds it.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another process has it. File systems without locks give none: then nobody is kept out.
    pub fn lock(&self) -> Result<DirectoryLock, StoreError> {
        // A descriptor of its own: a lock belongs to the open file, and a clone would share it.
        let descriptor = Self::open_below(self.descriptor(), Path::new("."), &self.path)?.descriptor;
        lock_file(&descriptor, &self.path)?;
        Ok(DirectoryLock { _descriptor: descriptor })
    }

    fn open_below(base: BorrowedFd<'_>, name: &Path, path: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(base, name, flags, Mode::empty())
            .map_err(|errno| StoreError::system("open the directory", path, errno))?;
        Ok(Self { descriptor, path: path.to_owned() })
    }

    fn error(&self, action: &'static str, name: &str, errno: Errno) -> StoreError {
        StoreError::system(action, self.path.join(name), errno)
    }
}

/// Under which name a file is written until it is whole.
pub(crate) fn new_name(name: &str) -> String {
    format!("{name}.new")
}

/// Locks an open file against other processes, without waiting.
pub(crate) fn lock_file(file: impl AsFd, path: &Path) -> Result<(), StoreError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) | Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(StoreError::Locked { path: path.to_owned() }),
        Err(errno) => Err(StoreError::system("lock", path, errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn files_are_private_replaced_as_a_whole_and_links_are_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open_or_create(&place.path().join("a/b")).unwrap();
        directory.replace_file("run.json", b"one").unwrap();
        directory.replace_file("run.json", b"two").unwrap();
        assert_eq!(directory.read_file("run.json", 3).unwrap(), b"two");
        assert_eq!(directory.names().unwrap(), ["run.json"]);
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(directory.path()), 0o700);
        assert_eq!(mode(&directory.path().join("run.json")), 0o600);

        symlink("/etc/hostname", directory.path().join("link")).unwrap();
        assert!(directory.read_file("link", 1000).is_err());
        symlink("/", directory.path().join("away")).unwrap();
        assert!(directory.directory("away").is_err());
        assert!(
            directory.read_file("run.json", 2).unwrap_err().to_string().contains("longer than the 2 bytes")
        );
    }

    #[test]
    fn copying_goes_on_where_it_was_killed_and_leaves_what_was_added_since() {
        let place = tempfile::tempdir().unwrap();
        let make = |name: &str| Directory::open_or_create(&place.path().join(name)).unwrap();
        let (from, to) = (make("from"), make("to"));
        for (name, bytes) in [("one", "1"), ("two", "22"), ("three", "333"), ("four.new", "half")] {
            from.replace_file(name, bytes.as_bytes()).unwrap();
        }
        // The first was whole and has grown since, the second was being copied when its copier was killed.
        to.replace_file("one", b"1 and more").unwrap();
        std::fs::write(to.path().join("two.new"), "2").unwrap();
        for _ in 0..2 {
            to.copy_files(&from).unwrap();
            assert_eq!(to.names().unwrap(), ["one", "three", "two"]);
            let content = |name| to.read_file(name, 100).unwrap();
            assert_eq!((content("one"), content("two")), (b"1 and more".to_vec(), b"22".to_vec()));
            assert_eq!(content("three"), b"333");
        }
    }

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let lock = directory.lock().unwrap();
        assert!(matches!(directory.lock(), Err(StoreError::Locked { .. })));
        drop(lock);
        directory.lock().unwrap();
    }
}
