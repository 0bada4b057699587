//! Where in memory a user's things may lie, and where the watch of a history keeps them.
//!
//! ```text
//! /dev/shm  /run/user/<user>  /run (root)  /run/shm  any other tmpfs  $XDG_RUNTIME_DIR
//!    └ iolag-<user>, else iolag-<user>-1, iolag-<user>-2, … if a stranger has the name
//!          └ <history>
//! ```
//!
//! Invariants: the order is fixed, and what only some of a user's processes have in their environment comes last, so that cron and a
//! login shell come to the same place. A watch stays where a watch of its history has been since the machine was started: everybody
//! looks for that first, in all places. Only what the table of mounts says lies in memory is touched, and reached through nothing
//! that may hang.
//!
//! Limits: a place that only $XDG_RUNTIME_DIR names is seen by processes that have the same one.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_keeper::mounts::{Mount, covering};
use rustix::fs::{Access, AtFlags, CWD, FileType};
use rustix::io::Errno;

use crate::MountTable;
use crate::memory::runtime::{
    RuntimeDirectory, RuntimeError, open_directory, require_memory, require_safe_parent,
};

/// Names that are tried in each place. Who wants to keep another's watch from starting has to take them all, everywhere.
const NAMES: u32 = 100;

/// Directories that lie in memory and may hold a directory of this user's, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryPlaces {
    user: u32,
    parents: Vec<PathBuf>,
    /// What is usually there, and does not lie in memory here.
    missing: Vec<PathBuf>,
}

/// Where the runtime directory of one history is, or may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRuntime {
    /// The directory above it, for a watch that begins now; absent if there is no place.
    pub base: Option<PathBuf>,
    /// Runtime directories of this history that are there, the one that was used last first.
    pub existing: Vec<PathBuf>,
    /// Why places cannot be used, one sentence each.
    pub passed_over: Vec<String>,
    /// What the system refused this process itself, whatever the place.
    pub limit: Option<Errno>,
}

impl MemoryPlaces {
    /// Those of `user` by the table of mounts (without one by their usual names alone) and a `session` directory,
    /// `$XDG_RUNTIME_DIR`. Touches none of them.
    pub fn new(user: u32, table: &MountTable, session: Option<&Path>) -> Self {
        let mounts = table.mounts();
        let mut usual = vec![PathBuf::from("/dev/shm"), PathBuf::from(format!("/run/user/{user}"))];
        if user == 0 {
            usual.push("/run".into());
        }
        usual.push("/run/shm".into());
        if mounts.is_empty() {
            return Self { user, parents: usual, missing: Vec::new() };
        }
        let (mut parents, missing): (Vec<_>, _) =
            usual.into_iter().partition(|path| lies_in_memory(mounts, path));
        let mut others: Vec<_> = mounts.iter().map(|mount| &mount.mount_point).collect();
        // What is old is removed there by some systems.
        others.sort_by_key(|path| (path.starts_with("/tmp") || path.starts_with("/var/tmp"), *path));
        let is_system = |path: &Path| ["/dev", "/proc", "/sys"].iter().any(|system| path.starts_with(system));
        let session = session.filter(|path| path.is_absolute());
        let further = others.into_iter().map(PathBuf::as_path).filter(|path| !is_system(path)).chain(session);
        for path in further {
            if lies_in_memory(mounts, path) && !parents.iter().any(|parent| parent == path) {
                parents.push(path.to_owned());
            }
        }
        Self { user, parents, missing }
    }

    /// The same user's in other directories.
    pub fn in_directories(user: u32, parents: Vec<PathBuf>) -> Self {
        Self { user, parents, missing: Vec::new() }
    }

    /// Looks where the runtime directory of the history at `location` is, or may be made. Makes nothing and takes no lock.
    pub fn find(&self, location: &str) -> FoundRuntime {
        let mut found = FoundRuntime::default();
        found
            .passed_over
            .extend(self.missing.iter().map(|path| format!("{} is not in memory", path.display())));
        let mut existing: Vec<Existing> = Vec::new();
        for parent in &self.parents {
            match self.look_in(parent, location) {
                Ok(looked) => {
                    existing.extend(looked.existing);
                    if found.base.is_none() {
                        found.passed_over.extend(looked.passed_over);
                        found.base = looked.base;
                    }
                }
                Err(RuntimeError::System {
                    errno: errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM),
                    ..
                }) => {
                    found.limit = Some(errno);
                }
                Err(error) if found.base.is_none() => found.passed_over.push(error.to_string()),
                Err(_) => {}
            }
        }
        // Stable: of two that were never used the first in order.
        existing.sort_by_key(|directory| std::cmp::Reverse(directory.used));
        if let Some(last) = existing.iter().find(|directory| directory.is_writable) {
            found.base = last.path.parent().map(Path::to_owned);
        }
        found.existing = existing.into_iter().map(|directory| directory.path).collect();
        found
    }

    fn look_in(&self, parent: &Path, location: &str) -> Result<LookedIn, RuntimeError> {
        let descriptor = open_directory(CWD, parent, parent)?;
        require_safe_parent(&descriptor, parent)?;
        require_memory(&descriptor, parent)?;
        let may_make = may_write(&descriptor, Path::new("."));
        let mut looked = LookedIn::default();
        for name in (0..NAMES).map(|number| name(self.user, number)) {
            let base = parent.join(&name);
            let status = rustix::fs::statat(&descriptor, &name, AtFlags::SYMLINK_NOFOLLOW);
            let usable = match status {
                Err(Errno::NOENT) => may_make,
                Err(errno) => Err(errno),
                Ok(status) if status.st_uid != self.user => {
                    if looked.base.is_none() {
                        let owner = status.st_uid;
                        looked.passed_over.push(format!("{} belongs to user {owner}", base.display()));
                    }
                    continue;
                }
                // It is refused, with a sentence, when it is opened.
                Ok(status) if FileType::from_raw_mode(status.st_mode) != FileType::Directory => Ok(()),
                Ok(_) => {
                    let usable = may_write(&descriptor, &name);
                    looked.existing.extend(existing(&descriptor, &base, &name, location, usable.is_ok()));
                    usable
                }
            };
            match usable {
                Ok(()) if looked.base.is_none() => looked.base = Some(base),
                Err(errno) if looked.base.is_none() && looked.passed_over.is_empty() => {
                    looked.passed_over.push(format!("cannot write to {}: {errno}", parent.display()));
                }
                _ => {}
            }
        }
        Ok(looked)
    }
}

#[derive(Default)]
struct LookedIn {
    base: Option<PathBuf>,
    existing: Vec<Existing>,
    passed_over: Vec<String>,
}

struct Existing {
    path: PathBuf,
    /// When a watch that had its things there last said what it does: seconds and nanoseconds since 1970.
    used: (i64, i64),
    is_writable: bool,
}

fn existing(
    parent: &OwnedFd,
    base: &Path,
    name: &Path,
    location: &str,
    is_writable: bool,
) -> Option<Existing> {
    let path = RuntimeDirectory::path_for_history(base, location);
    let runtime = name.join(path.file_name()?);
    rustix::fs::statat(parent, &runtime, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let said =
        rustix::fs::statat(parent, runtime.join(crate::memory::status_file::NAME), AtFlags::SYMLINK_NOFOLLOW)
            .ok();
    let used = said.map_or((0, 0), |said| (said.st_mtime, said.st_mtime_nsec as i64));
    Some(Existing { path, used, is_writable })
}

fn may_write(directory: &OwnedFd, name: &Path) -> Result<(), Errno> {
    rustix::fs::accessat(directory.as_fd(), name, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)
}

fn name(user: u32, number: u32) -> PathBuf {
    match number {
        0 => format!("iolag-{user}").into(),
        _ => format!("iolag-{user}-{number}").into(),
    }
}

/// Whether a path lies in memory, and is reached through the root and file systems in memory alone: another may hang on the way.
fn lies_in_memory(mounts: &[Mount], path: &Path) -> bool {
    let is_memory = |mount: &Mount| matches!(mount.kind.as_str(), "tmpfs" | "ramfs");
    let may_pass =
        |mount: &Mount| is_memory(mount) || mount.kind == "devtmpfs" || mount.mount_point == Path::new("/");
    covering(mounts, path).is_some_and(is_memory)
        && mounts.iter().filter(|mount| path.starts_with(&mount.mount_point)).all(may_pass)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn places(user: u32, mounts: &[(&str, &str)], session: Option<&str>) -> (Vec<String>, Vec<PathBuf>) {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        let line = |(number, (kind, path)): (usize, &(&str, &str))| {
            // Each lies on the last one before it that is above it.
            let above = mounts[..number].iter().rposition(|(_, above)| Path::new(path).starts_with(above));
            let parent = above.map_or(1, |above| above + 20);
            format!("{} {parent} 0:{number} / {path} rw - {kind} x rw\n", number + 20)
        };
        let text: String = mounts.iter().enumerate().map(line).collect();
        std::fs::write(proc.path().join("self/mountinfo"), text).unwrap();
        let places = MemoryPlaces::new(user, &MountTable::read_below(proc.path()), session.map(Path::new));
        (places.parents.iter().map(|path| path.display().to_string()).collect(), places.missing)
    }

    #[test]
    fn what_everybody_finds_comes_first_and_nothing_is_touched_that_may_hang() {
        let mounts = [
            ("ext4", "/"),
            ("devtmpfs", "/dev"),
            ("tmpfs", "/dev/shm"),
            ("tmpfs", "/dev/other"),
            ("tmpfs", "/run"),
            ("tmpfs", "/tmp"),
            ("tmpfs", "/sys/fs/cgroup"),
            ("tmpfs", "/run/user/7"),
            ("nfs4", "/home"),
            ("tmpfs", "/home/me/memory"),
            ("tmpfs", "/scratch/memory"),
            ("fuse.x", "/run/hangs"),
        ];
        let (mine, missing) = places(7, &mounts, Some("/run/session"));
        let expected =
            ["/dev/shm", "/run/user/7", "/run/shm", "/run", "/scratch/memory", "/tmp", "/run/session"];
        assert_eq!((mine, missing), (expected.map(str::to_owned).to_vec(), vec![]));
        assert!(!places(7, &mounts, Some("/run/hangs/x")).0.contains(&"/run/hangs/x".to_owned()));
        assert_eq!(places(0, &mounts, None).0[..3], ["/dev/shm", "/run/user/0", "/run"]);
        let (none, missing) = places(7, &mounts[..2], Some("relative"));
        assert_eq!((none.len(), missing.len()), (0, 3));
        assert_eq!(places(7, &[], None).0, ["/dev/shm", "/run/user/7", "/run/shm"], "without a table");
    }

    /// Two private directories in memory, one preferred to the other.
    fn two() -> Option<(tempfile::TempDir, MemoryPlaces, [PathBuf; 2])> {
        let memory = tempfile::Builder::new().prefix("iolag-test-").tempdir_in("/dev/shm").ok()?;
        let parents = ["a", "b"].map(|name| memory.path().join(name));
        parents.iter().for_each(|parent| std::fs::create_dir(parent).unwrap());
        let user = rustix::process::geteuid().as_raw();
        let places = MemoryPlaces::in_directories(user, parents.to_vec());
        let bases = parents.map(|parent| parent.join(name(user, 0)));
        Some((memory, places, bases))
    }

    #[test]
    fn a_watch_stays_where_one_of_its_history_was_last() {
        let Some((_memory, places, [first, second])) = two() else { return };
        assert_eq!(places.find("h"), FoundRuntime { base: Some(first.clone()), ..FoundRuntime::default() });
        assert!(!first.exists(), "looking makes nothing");
        let runtime = |base: &Path| RuntimeDirectory::path_for_history(base, "h");
        let later = RuntimeDirectory::open(&runtime(&second)).unwrap();
        let found = places.find("h");
        assert_eq!((found.base.as_deref(), found.existing), (Some(second.as_path()), vec![runtime(&second)]));
        assert_eq!(places.find("other").base.as_deref(), Some(first.as_path()), "it has another history");
        // Of two the one where a watch said something last, whoever holds locks now.
        later.replace_file("status.json", b"x").unwrap();
        let held = RuntimeDirectory::open(&runtime(&first)).unwrap();
        let found = places.find("h");
        assert_eq!(found.base.as_deref(), Some(second.as_path()));
        assert_eq!(found.existing, [runtime(&second), runtime(&first)]);
        drop(held);
    }

    #[test]
    fn a_place_in_which_others_may_write_is_passed_over() {
        let Some((memory, places, [_, second])) = two() else { return };
        std::fs::set_permissions(memory.path().join("a"), PermissionsExt::from_mode(0o777)).unwrap();
        let found = places.find("h");
        assert_eq!(found.base, Some(second));
        assert!(found.passed_over[0].starts_with("others may write to"), "{found:?}");
    }
}
