//! The place of a task: a directory of the watch's own below the target, made by the first probe and found by the next.
//!
//! ```text
//! <target>/iolag-watch-<user>-<host>-<runtime>/<task>/
//! ```
//! `<runtime>` is a hash of the runtime directory's path: watches of one user with different histories never meet in
//! one place.
//!
//! Runs in a probe's child only: all of it may hang. Nothing is followed below the target, and what is not ours is refused. So is what is
//! mounted over a place: whoever may mount (with FUSE, everybody) decides what such a file system says of its owners.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use iolag_directory::{Origin, Refusal, Unproven, mount_number, path_of};
use iolag_model::{FailureCode, Fingerprint};
use iolag_workload::TaskError;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::MountTable;

/// How a directory is opened.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Where a task is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a directory below a target.
    Below {
        /// The target.
        target: PathBuf,
        /// Where something has to be mounted for it.
        mount_point: Option<PathBuf>,
        /// Name of the directory that holds all tasks of this watch.
        watch: String,
        /// Name of the task's directory in it.
        task: String,
    },
    /// Nowhere in particular: a covariate belongs to the host, and who asks a server goes there by itself.
    Host,
}

impl Place {
    /// The place of a task on a target. Hosts that share a file system have directories of their own, and so have watches with
    /// different `runtime` directories.
    pub fn of_task(target: &Path, host: &str, runtime: &Path, task: &str) -> Self {
        let watch = Self::watch_name(host, runtime);
        Self::Below { target: target.to_owned(), mount_point: None, watch, task: plain(task) }
    }

    /// The same, and nothing is made beneath this mount point while nothing is mounted there.
    #[must_use]
    pub fn mounted_at(mut self, expected: Option<&Path>) -> Self {
        if let Self::Below { mount_point, .. } = &mut self {
            *mount_point = expected.map(Path::to_owned);
        }
        self
    }

    /// Name of the directory that holds all tasks of this user's watch on this host that keeps its things in `runtime`.
    pub fn watch_name(host: &str, runtime: &Path) -> String {
        let user = rustix::process::geteuid().as_raw();
        let hash = Fingerprint::of(runtime.as_os_str().as_bytes());
        // Folded, since the upper bits of FNV-1a are the better ones.
        let short = (hash ^ (hash >> 32)) & 0xffff_ffff;
        format!("iolag-watch-{user}-{}-{short:08x}", plain(host))
    }

    /// Opens it, making what is missing below the target.
    ///
    /// # Errors
    /// If that is not possible, with the failure for the sample.
    pub(crate) fn open(&self) -> Result<(OwnedFd, Origin), TaskError> {
        let Self::Below { target, mount_point, watch, task } = self else {
            let root = openat(CWD, "/", DIRECTORY, Mode::empty());
            return root
                .map(|root| (root, Origin::Found))
                .map_err(|errno| failed("open the directory", Path::new("/"), errno));
        };
        let opened = openat(CWD, target, DIRECTORY, Mode::empty());
        if let Some(mount_point) = mount_point {
            require_mounted(opened.as_ref().ok(), mount_point)?;
        }
        let opened = opened.map_err(|errno| failed("open the directory", target, errno))?;
        let path = target.join(watch);
        let find = |parent: BorrowedFd<'_>, name: &str| {
            let name =
                CString::new(name).map_err(|_| Refusal::System { action: "name", errno: Errno::INVAL })?;
            Unproven::make_or_open(parent, &name)
        };
        let ours = find(opened.as_fd(), watch).and_then(Unproven::recognise);
        let ours = ours.map_err(|why| refused(&path, why))?;
        let place = find(ours.as_fd(), task).and_then(|place| place.recognise_as(ours.owner()));
        let place = place.map_err(|why| refused(&path.join(task), why))?;
        let origin = place.origin();
        Ok((place.into_descriptor(), origin))
    }
}

/// Refuses a directory that is seen only because nothing is mounted above it. Asked of the open directory: the table may change at any moment.
fn require_mounted(opened: Option<&OwnedFd>, mount_point: &Path) -> Result<(), TaskError> {
    let is_missing = match opened {
        Some(opened) => shows_beneath(opened.as_fd(), mount_point),
        None => MountTable::read().is_missing(mount_point),
    };
    if !is_missing {
        return Ok(());
    }
    let message = format!(
        "nothing is mounted at {}, where it was before: mount it, or say mounted = \"any\" of this target",
        mount_point.display()
    );
    Err(TaskError { failure: FailureCode::NOT_MOUNTED, message })
}

/// Whether an open directory lies at or below `mount_point`, and on the mount of a directory above it. One to which a link leads that led to
/// the mount point before lies elsewhere.
pub(crate) fn shows_beneath(opened: BorrowedFd<'_>, mount_point: &Path) -> bool {
    let table = MountTable::read();
    let is_on_another = match mount_number(opened).and_then(|number| table.identity_of(number)) {
        Some(mount) => mount.is_beneath(mount_point),
        None => table.is_missing(mount_point),
    };
    // Where nobody knows, nothing is written.
    is_on_another && path_of(opened).is_none_or(|path| path.starts_with(mount_point))
}

fn refused(path: &Path, why: Refusal) -> TaskError {
    let path_shown = path.display();
    let message = match why {
        Refusal::System { action, errno } => return failed(action, path, errno),
        Refusal::MountedOver => format!(
            "another file system is mounted at {path_shown}, so it is not iolag's own: unmount it, and what is below is found again"
        ),
        Refusal::Foreign { owner, mode } | Refusal::Open { owner, mode } => format!(
            "{path_shown} is not iolag's own (owner {owner}, mode {mode:o}): move it away, and it is made anew"
        ),
        Refusal::NotADirectory { .. } | Refusal::Unprotected { .. } => {
            format!("{path_shown} is {why}, not iolag's own: move it away, and it is made anew")
        }
    };
    TaskError { failure: why.errno().into(), message }
}

fn failed(action: &str, path: &Path, errno: Errno) -> TaskError {
    TaskError { failure: errno.into(), message: format!("cannot {action} {}: {errno}", path.display()) }
}

/// `name` as the name of a directory: letters, digits, `-`, `_` and inner dots stay; what differs afterwards is told apart by a hash.
fn plain(name: &str) -> String {
    const BYTES_MAX: usize = 64;
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    let replaced: String = name
        .chars()
        .map(|character| if is_plain(character) { character } else { '_' })
        .take(BYTES_MAX)
        .collect();
    if replaced == name && !name.is_empty() && !name.starts_with('.') {
        return replaced;
    }
    let hash = Fingerprint::of(name);
    format!("_{}-{hash:016x}", replaced.trim_start_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    fn runtime() -> &'static Path {
        Path::new("/dev/shm/iolag-0/a")
    }

    fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// A target in which everybody may make things, as in /tmp.
    fn sticky_target() -> tempfile::TempDir {
        let target = tempfile::tempdir().unwrap();
        std::fs::set_permissions(target.path(), std::fs::Permissions::from_mode(0o1777)).unwrap();
        target
    }

    #[test]
    fn a_place_is_made_once_and_found_again() {
        let target = tempfile::tempdir().unwrap();
        let place = Place::of_task(target.path(), "node1", runtime(), "list");
        let (opened, origin) = place.open().unwrap();
        assert!(mount_number(opened.as_fd()).is_some());
        assert_eq!((origin, place.open().unwrap().1), (Origin::Made, Origin::Found));
        let Place::Below { watch, .. } = &place else { panic!() };
        let made = std::fs::metadata(target.path().join(watch).join("list")).unwrap();
        assert_eq!(made.permissions().mode() & 0o7777, 0o700);
        Place::Host.open().unwrap();
    }

    #[test]
    fn links_and_open_doors_are_refused() {
        let (target, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = Place::of_task(target.path(), "node1", runtime(), "list");
        let Place::Below { watch, .. } = &place else { panic!() };
        let path = target.path().join(watch);
        symlink(elsewhere.path(), &path).unwrap();
        assert!(place.open().is_err());
        std::fs::remove_file(&path).unwrap();
        place.open().unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(place.open().unwrap_err().message.contains("not iolag's own"));
    }

    #[test]
    fn root_refuses_what_another_user_planted() {
        if !is_root() {
            return;
        }
        let target = sticky_target();
        let place = Place::of_task(target.path(), "node1", runtime(), "list");
        let Place::Below { watch, .. } = &place else { panic!() };
        let watch = target.path().join(watch);
        std::fs::create_dir_all(watch.join("list")).unwrap();
        let refused = || {
            let error = place.open().unwrap_err();
            assert_eq!(error.failure.errno(), Some(1), "{}", error.message);
            assert!(error.message.contains("is not iolag's own (owner 65534, mode 755): move it away"));
        };
        chown(&watch, Some(65534), None).unwrap();
        refused();
        assert_eq!(std::fs::read_dir(&watch).unwrap().count(), 1, "nothing is left of having tried");
        // The same one level below.
        chown(&watch, Some(0), None).unwrap();
        chown(watch.join("list"), Some(65534), None).unwrap();
        refused();
        chown(watch.join("list"), Some(0), None).unwrap();
        assert_eq!(place.open().unwrap().1, Origin::Found);
    }

    /// A mount in the tree for as long as this lives.
    struct Mounted<'a>(&'a Path);

    impl<'a> Mounted<'a> {
        fn bind(what: &Path, at: &'a Path) -> Self {
            let status = std::process::Command::new("mount").arg("--bind").args([what, at]).status();
            assert!(status.unwrap().success());
            Self(at)
        }
    }

    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg("-l").arg(self.0).status();
        }
    }

    #[test]
    fn what_is_mounted_over_a_place_is_refused_whoever_it_says_owns_it() {
        if iolag_fixtures::skip_unless_root() {
            return;
        }
        let (target, elsewhere, backing) =
            (sticky_target(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let place = Place::of_task(target.path(), "node1", runtime(), "list");
        let Place::Below { watch, .. } = &place else { panic!() };
        let watch = target.path().join(watch);
        place.open().unwrap();
        let fuse = iolag_fixtures::FuseMount::start(backing.path());
        // One has another device, the other is a directory of the same file system.
        for planted in
            [fuse.as_ref().map(iolag_fixtures::FuseMount::path), Some(elsewhere.path())].into_iter().flatten()
        {
            std::fs::set_permissions(planted, std::fs::Permissions::from_mode(0o700)).unwrap();
            for at in [watch.join("list"), watch.clone()] {
                let _mounted = Mounted::bind(planted, &at);
                assert_eq!(
                    std::os::unix::fs::MetadataExt::uid(&at.metadata().unwrap()),
                    0,
                    "it says that it is root's"
                );
                let error = place.open().unwrap_err();
                assert_eq!(error.failure.errno(), Some(1));
                let expected = format!("another file system is mounted at {}", at.display());
                assert!(error.message.starts_with(&expected), "{}", error.message);
                assert_eq!(std::fs::read_dir(planted).unwrap().count(), 0, "nothing was made there");
            }
        }
        assert_eq!(place.open().unwrap().1, Origin::Found);
    }

    #[test]
    fn root_that_a_server_maps_to_another_user_finds_its_own_and_no_other() {
        if !is_root() {
            return;
        }
        let target = sticky_target();
        let open = || {
            let place = Place::of_task(target.path(), "node1", runtime(), "list");
            let mapped = move || {
                // SAFETY: of this thread only, which stays root but makes files as another user, as with root squash.
                unsafe { libc::setfsuid(65534) };
                place.open().map(|(_, origin)| origin).map_err(|error| error.message)
            };
            std::thread::spawn(mapped).join().unwrap()
        };
        assert_eq!((open(), open()), (Ok(Origin::Made), Ok(Origin::Found)));
        let watch = target.path().join(Place::watch_name("node1", runtime()));
        assert_eq!(std::fs::read_dir(&watch).unwrap().count(), 1, "nothing is left of having tried");
        // Anybody may enter them, so that it is not the kernel that refuses.
        for planted in [watch.join("list"), watch] {
            chown(&planted, Some(4711), None).unwrap();
            std::fs::set_permissions(&planted, std::fs::Permissions::from_mode(0o755)).unwrap();
            let sentence = open().unwrap_err();
            assert!(sentence.contains(&format!("{} is not iolag's own", planted.display())), "{sentence}");
        }
    }

    #[test]
    fn watches_that_keep_their_things_elsewhere_have_other_places() {
        let user = rustix::process::geteuid().as_raw();
        let name = |runtime: &str| Place::watch_name("node1", Path::new(runtime));
        assert_ne!(name("/dev/shm/iolag-0/a"), name("/dev/shm/iolag-0/ping-7"));
        // FNV-1a of "a" is af63dc4c8601ec8c.
        assert_eq!(name("a"), format!("iolag-watch-{user}-node1-296230c0"));
    }

    #[test]
    fn a_missing_target_is_a_failure_with_its_errno() {
        let target = tempfile::tempdir().unwrap();
        let error =
            Place::of_task(&target.path().join("gone"), "node1", runtime(), "list").open().unwrap_err();
        assert_eq!(error.failure.errno(), Some(2));
    }

    proptest! {
        #[test]
        fn names_are_plain_and_stay_apart(one in ".{0,90}", other in ".{0,90}") {
            let (plain_one, plain_other) = (plain(&one), plain(&other));
            prop_assert!(!plain_one.is_empty() && !plain_one.starts_with('.') && plain_one.len() < 128);
            prop_assert!(!plain_one.contains('/'));
            prop_assert!(one == other || plain_one != plain_other);
        }
    }
}
