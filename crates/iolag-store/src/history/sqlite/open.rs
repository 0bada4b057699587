//! How the file is found, made and looked at before anything is done with it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::connection::{Place, SqliteEngine};
use super::content::{Content, beside, has_log};
use super::migrations;
use super::network_file_systems::network_file_system;
use crate::history::{Access, DatabaseHistory, HistoryError};

/// How long is waited for another process that writes.
const PATIENCE: Duration = Duration::from_secs(10);
/// A log of more than this is cut when it has been carried over.
const LOG_BYTES_MAX: i64 = 16 << 20;
/// A larger file is not checked after an unclean end: that would take longer than opening may.
const CHECKED_BYTES_MAX: u64 = 1 << 30;
const STATEMENTS_KEPT: usize = 64;

impl DatabaseHistory<SqliteEngine> {
    /// Opens the history in the file `path`.
    ///
    /// Its directory must exist and be on a file system of this host; `path` itself must not be a symbolic link. After an unclean
    /// end of the last process that had it open, a file of up to 1 GiB is checked. To look takes no space and no right to write, unless
    /// the last process that wrote left its log.
    ///
    /// # Errors
    /// If it is missing, on a network file system, to be written to where next to no space is left, damaged, another program's, newer than this program, or cannot be opened. In
    /// none of these cases anything is overwritten.
    pub fn open(path: &Path, access: Access) -> Result<Self, HistoryError> {
        Self::open_with_patience(path, access, PATIENCE)
    }

    /// The same, waiting at most `patience` for other processes that write, each time.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with_patience(path: &Path, access: Access, patience: Duration) -> Result<Self, HistoryError> {
        open_on(path, access, patience, file_system_magic).map(Self::new)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.engine().path()
    }
}

fn open_on(
    path: &Path,
    access: Access,
    patience: Duration,
    file_system_magic: impl Fn(&Path) -> io::Result<u64>,
) -> Result<SqliteEngine, HistoryError> {
    let path = locate(path)?;
    let directory = path.parent().unwrap_or_else(|| Path::new("/"));
    let magic = file_system_magic(directory).map_err(system("look at the file system of", directory))?;
    if let Some(file_system) = network_file_system(magic) {
        return Err(HistoryError::NetworkFileSystem { path, file_system });
    }
    let place = Place::new(&path, patience);
    if access != Access::ReadOnly {
        place.require_space()?;
    }
    prepare_file(&path, access)?;
    if access == Access::ReadOnly {
        return open_to_look(place);
    }
    let was_left_open = is_left_open(&path);
    let mut connection = connect(&place, path.as_os_str(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Before anything is written to what may not be ours.
    if was_left_open {
        check_integrity(&connection, &place)?;
    }
    migrations::migrate(&mut connection, &place)?;
    keep_log(&connection, &place)?;
    Ok(SqliteEngine::new(connection, place, None))
}

/// Reading beside others takes an index of the log, which SQLite makes where there is none. Where it cannot, because the disk is full or
/// may not be written to, a file without a log is read as it lies there.
fn open_to_look(place: Place) -> Result<SqliteEngine, HistoryError> {
    let look = |name: &OsStr, flags| {
        let connection = connect(&place, name, OpenFlags::SQLITE_OPEN_READ_ONLY | flags)?;
        migrations::require_present_version(&connection, &place)?;
        Ok(connection)
    };
    let refused = match look(place.path().as_os_str(), OpenFlags::empty()) {
        Err(error @ (HistoryError::Full { .. } | HistoryError::Unsuitable { .. })) => error,
        connection => return Ok(SqliteEngine::new(connection?, place, None)),
    };
    let content = Content::of(place.path()).ok_or(refused)?;
    let connection = look(&unchanging(place.path()), OpenFlags::SQLITE_OPEN_URI)?;
    Ok(SqliteEngine::new(connection, place, Some(content)))
}

/// The name by which SQLite reads a file without locks and without a log (<https://sqlite.org/uri.html>).
fn unchanging(path: &Path) -> OsString {
    let mut name = b"file:".to_vec();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => name.extend(format!("%{byte:02x}").bytes()),
            _ => name.push(*byte),
        }
    }
    name.extend(b"?immutable=1");
    OsString::from_vec(name)
}

fn system(action: &'static str, path: &Path) -> impl Fn(io::Error) -> HistoryError {
    let path = path.to_owned();
    move |source| HistoryError::System { action, path: path.clone(), source }
}

fn file_system_magic(directory: &Path) -> io::Result<u64> {
    Ok(rustix::fs::statfs(directory)?.f_type as u64)
}

/// The absolute path whose directories are no symbolic links; the last component is as it was given.
fn locate(path: &Path) -> Result<PathBuf, HistoryError> {
    let Some(name) = path.file_name() else {
        return Err(HistoryError::NotAFile { path: path.to_owned(), what: "a directory" });
    };
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let directory = directory.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => HistoryError::Missing { location: path.display().to_string() },
        _ => system("find", directory)(error),
    })?;
    Ok(directory.join(name))
}

/// Makes the file if it is wanted and missing, readable by nobody else; refuses everything that is no file.
///
/// An existing file is never opened here: closing it again would take away the locks of every other connection of this process.
fn prepare_file(path: &Path, access: Access) -> Result<(), HistoryError> {
    let looked = || rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW);
    let status = match looked() {
        Err(Errno::NOENT) if access == Access::Create => {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR) {
                Ok(_) => return Ok(()),
                // Another process was faster.
                Err(Errno::EXIST) => looked(),
                Err(errno) => return Err(system("create", path)(errno.into())),
            }
        }
        Err(Errno::NOENT) => return Err(HistoryError::Missing { location: path.display().to_string() }),
        other => other,
    };
    let status = status.map_err(|errno| system("look at", path)(errno.into()))?;
    let what = match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a directory",
        _ => "a device, a pipe or a socket",
    };
    Err(HistoryError::NotAFile { path: path.to_owned(), what })
}

fn connect(place: &Place, name: &OsStr, flags: OpenFlags) -> Result<Connection, HistoryError> {
    let failed = |error: rusqlite::Error| place.error(&error);
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(name, flags).map_err(failed)?;
    connection.busy_timeout(place.patience()).map_err(failed)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // What a planted file could make SQLite do.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(failed)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).map_err(failed)?;
    connection.pragma_update(None, "cell_size_check", true).map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    Ok(connection)
}

/// From now on changes go to a log, beside which others read.
fn keep_log(connection: &Connection, place: &Place) -> Result<(), HistoryError> {
    let failed = |error: rusqlite::Error| place.error(&error);
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(place.unsuitable(format!(
            "its file system has no shared memory for SQLite's log (journal mode {mode}); put it on another local disk"
        )));
    }
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_MAX, |_| Ok(())).map_err(failed)
}

/// Whether the last process that had the file open ended without closing it: its log is there, and nobody has it locked.
fn is_left_open(path: &Path) -> bool {
    if !has_log(path) {
        return false;
    }
    let Ok(shared) = beside(path, "-shm").symlink_metadata() else { return true };
    // Asked of the kernel's table: opening the file to ask for its lock would, when it is closed, end locks of this process.
    !is_ever_in(|| std::fs::read_to_string("/proc/locks").unwrap_or_default(), shared.ino())
}

/// Whether a lock of this inode is in the table. The kernel tells a long table page by page, and counts on where it was: of locks that come and
/// go meanwhile, one that was there all along is left out now and then (2 in 100 times, of 180 that did nothing else).
fn is_ever_in(mut table: impl FnMut() -> String, inode: u64) -> bool {
    const LOOKS: usize = 6;
    (0..LOOKS).any(|_| is_locked(&table(), inode))
}

/// Whether /proc/locks has a lock of this inode: `1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128`.
fn is_locked(locks: &str, inode: u64) -> bool {
    let suffix = format!(":{inode}");
    locks.lines().any(|line| line.split_ascii_whitespace().any(|word| word.ends_with(&suffix)))
}

fn check_integrity(connection: &Connection, place: &Place) -> Result<(), HistoryError> {
    if place.path().metadata().is_ok_and(|file| file.len() > CHECKED_BYTES_MAX) {
        return Ok(());
    }
    let verdict: String = connection
        .pragma_query_value(None, "quick_check", |row| row.get(0))
        .map_err(|error| place.error(&error))?;
    if verdict == "ok" { Ok(()) } else { Err(place.damaged(verdict.replace('\n', "; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NFS: u64 = 0x6969;
    const EXT4: u64 = 0xef53;

    #[test]
    fn a_network_file_system_is_refused_before_a_file_is_made() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.sqlite");
        for access in [Access::ReadOnly, Access::ReadWrite, Access::Create] {
            let error = open_on(&path, access, PATIENCE, |_| Ok(NFS)).unwrap_err();
            let message = error.to_string();
            assert!(message.contains("is on NFS") && message.contains("postgres://"), "{message}");
        }
        assert!(!path.exists());
        open_on(&path, Access::Create, PATIENCE, |_| Ok(EXT4)).unwrap();
    }

    #[test]
    fn the_file_system_is_that_of_the_directory_behind_links() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let asked = std::cell::RefCell::new(PathBuf::new());
        let ask = |directory: &Path| {
            *asked.borrow_mut() = directory.to_owned();
            Ok(EXT4)
        };
        open_on(&link.join("history"), Access::Create, PATIENCE, ask).unwrap();
        assert_eq!(*asked.borrow(), real.canonicalize().unwrap());
    }

    #[test]
    fn locks_are_found_by_inode() {
        let locks =
            "1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128\n2: FLOCK  ADVISORY  WRITE 7 00:2a:99 0 EOF\n";
        assert!(is_locked(locks, 5678) && is_locked(locks, 99));
        assert!(!is_locked(locks, 678) && !is_locked(locks, 1234) && !is_locked("", 1));
    }

    #[test]
    fn a_lock_that_the_table_leaves_out_now_and_then_is_found() {
        let lock = "1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128\n";
        let mut looks = 0;
        let mut leaves_out = |looked: usize| {
            looks += 1;
            if looks > looked { lock.to_owned() } else { String::new() }
        };
        assert!(is_ever_in(|| leaves_out(2), 5678));
        assert!(!is_ever_in(String::new, 5678));
    }
}
