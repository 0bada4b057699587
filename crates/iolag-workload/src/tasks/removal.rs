//! Removes what probes made in a target, and nothing else.
//!
//! ```text
//! <target>/<watch>/          .owner-N-N
//! <target>/<watch>/<task>/   file, written, program…, read-N, *.ready, created/file-N, listed-N/file-N, set-up-N/file-N
//! ```
//! Invariants: no symbolic link is followed and no mount point crossed; a name that tasks do not make is left where it is
//! and told, with the directories around it; what was removed in part before is no obstacle. A command of the user's may have
//! written to its directory: that is the user's, and stays.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use iolag_backend::Leftover;
use iolag_directory::{Refusal, Unproven, is_owner_file};
use iolag_model::FailureCode;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, Statx, StatxAttributes, StatxFlags, openat, statx, unlinkat,
};
use rustix::io::Errno;

use super::probes::compile::COMPILED;
use super::probes::files::{CREATED, LOOKED_AT, READY, WRITTEN};
use super::probes::job::{TREE, TREE_MADE};
use super::probes::list::LISTED;
use super::{Language, TaskError};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const LISTING_BYTES: usize = 32 << 10;
/// More are counted, not listed.
const LEFTOVERS_MAX: usize = 1000;

/// Removes the directory `watch` of a watch in `target` with what tasks made in it; returns what had to stay and why. A
/// target without one is clean already. May hang as long as the file system does.
///
/// # Errors
/// If the directory cannot be looked at, or is not this user's.
pub fn remove_probe_files(target: &Path, watch: &str) -> Result<Vec<Leftover>, TaskError> {
    let path = target.join(watch);
    let plain =
        CString::new(watch).ok().filter(|_| !matches!(watch, "" | "." | "..") && !watch.contains('/'));
    let Some(name) = plain else {
        return Err(failed("remove", &path, Errno::INVAL));
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat(CWD, target, flags, Mode::empty()).map_err(|error| failed("open", target, error))?;
    let directory = match Unproven::open(parent.as_fd(), &name).and_then(Unproven::recognise) {
        Ok(directory) => directory,
        Err(Refusal::System { errno: Errno::NOENT, .. }) => return Ok(Vec::new()),
        Err(why) => {
            let message = format!("cannot remove {}: it is {why}", path.display());
            return Err(TaskError { failure: FailureCode::from(why.errno()), message });
        }
    };
    let own = attributes(directory.as_fd(), c"").map_err(|error| failed("look at", &path, error))?;
    let mut removal = Removal { device: device_of(&own), leftovers: Vec::new(), unlisted: 0 };
    removal.remove_entries(directory.as_fd(), &path, Inside::Watch);
    removal.remove_directory(parent.as_fd(), &name, &path);
    Ok(removal.into_leftovers())
}

/// Where an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Watch,
    Task,
    Files,
}

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    File,
    Directory(Inside),
    Foreign,
}

impl Inside {
    fn made(self, name: &[u8]) -> Made {
        match self {
            Self::Watch | Self::Task if is_owner_file(name) => Made::File,
            Self::Watch => Made::Directory(Self::Task),
            Self::Task if name == CREATED.as_bytes() => Made::Directory(Self::Files),
            Self::Task if is_numbered(name, LISTED) || is_numbered(name, TREE) => {
                Made::Directory(Self::Files)
            }
            Self::Task if is_task_file(name) => Made::File,
            Self::Files if is_numbered(name, "file-") => Made::File,
            Self::Task | Self::Files => Made::Foreign,
        }
    }
}

fn is_task_file(name: &[u8]) -> bool {
    let sources = [Language::C.file_name(), Language::Fortran.file_name()];
    let is_made_once = |name: &[u8]| {
        name == LOOKED_AT.as_bytes()
            || is_numbered(name, "read-")
            || sources.iter().any(|source| name == source.as_bytes())
    };
    if let Some(made) = name.strip_suffix(READY.as_bytes()) {
        return is_made_once(made) || is_numbered(made, LISTED) || made == TREE_MADE.as_bytes();
    }
    name == WRITTEN.to_bytes() || name == COMPILED.as_bytes() || is_made_once(name)
}

/// `prefix` and a number without needless zeros.
fn is_numbered(name: &[u8], prefix: &str) -> bool {
    name.strip_prefix(prefix.as_bytes()).is_some_and(|digits| {
        (digits == b"0" || digits.first().is_some_and(|first| (b'1'..=b'9').contains(first)))
            && digits.len() <= 20
            && digits.iter().all(u8::is_ascii_digit)
    })
}

struct Removal {
    device: (u32, u32),
    leftovers: Vec<Leftover>,
    unlisted: u64,
}

impl Removal {
    fn remove_entries(&mut self, directory: BorrowedFd<'_>, path: &Path, inside: Inside) {
        match names_in(directory) {
            Ok(names) => names.iter().for_each(|name| self.remove_entry(directory, path, inside, name)),
            Err(error) => self.keep(path.to_owned(), format!("it cannot be listed: {error}")),
        }
    }

    fn remove_entry(&mut self, directory: BorrowedFd<'_>, path: &Path, inside: Inside, name: &CStr) {
        let path = path.join(name.to_string_lossy().as_ref());
        let found = match attributes(directory, name) {
            Ok(found) => found,
            Err(Errno::NOENT) => return,
            Err(error) => return self.keep(path, format!("it cannot be looked at: {error}")),
        };
        let file_type = FileType::from_raw_mode(u32::from(found.stx_mode));
        match (inside.made(name.to_bytes()), file_type) {
            (Made::File, FileType::RegularFile) => match unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => self.keep(path, format!("it cannot be removed: {error}")),
            },
            (Made::Directory(inside), FileType::Directory) => match self.open_unmounted(directory, name) {
                Ok(child) => {
                    self.remove_entries(child.as_fd(), &path, inside);
                    self.remove_directory(directory, name, &path);
                }
                Err(reason) => self.keep(path, reason),
            },
            _ => self.keep(path, "iolag makes nothing like it".to_owned()),
        }
    }

    fn open_unmounted(&self, parent: BorrowedFd<'_>, name: &CStr) -> Result<OwnedFd, String> {
        let child = openat(parent, name, DIRECTORY, Mode::empty())
            .map_err(|error| format!("it cannot be opened: {error}"))?;
        let found =
            attributes(child.as_fd(), c"").map_err(|error| format!("it cannot be looked at: {error}"))?;
        // A mount of the same file system has the same device; kernels from 5.8 tell it by an attribute.
        let is_mount =
            device_of(&found) != self.device || found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
        if is_mount { Err("another file system is mounted there".to_owned()) } else { Ok(child) }
    }

    /// A directory stays silently where something in it had to stay.
    fn remove_directory(&mut self, parent: BorrowedFd<'_>, name: &CStr, path: &Path) {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(_) if self.leftovers.iter().any(|leftover| Path::new(&leftover.path).starts_with(path)) => {}
            Err(error) => self.keep(path.to_owned(), format!("it cannot be removed: {error}")),
        }
    }

    fn keep(&mut self, path: PathBuf, reason: String) {
        if self.leftovers.len() < LEFTOVERS_MAX {
            self.leftovers.push(Leftover { path: path.display().to_string(), reason });
        } else {
            self.unlisted += 1;
        }
    }

    fn into_leftovers(mut self) -> Vec<Leftover> {
        if self.unlisted > 0 {
            let path = format!("{} more", self.unlisted);
            self.leftovers.push(Leftover { path, reason: "for reasons like the ones before".to_owned() });
        }
        self.leftovers
    }
}

/// All names at once: entries may be passed over while others are being removed.
fn names_in(directory: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut space = vec![MaybeUninit::uninit(); LISTING_BYTES];
    let mut entries = RawDir::new(directory, &mut space);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Attributes of an entry, of a link itself; of the open directory for an empty name.
fn attributes(directory: BorrowedFd<'_>, name: &CStr) -> Result<Statx, Errno> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    statx(directory, name, flags, StatxFlags::BASIC_STATS)
}

fn device_of(attributes: &Statx) -> (u32, u32) {
    (attributes.stx_dev_major, attributes.stx_dev_minor)
}

fn failed(action: &str, path: &Path, error: Errno) -> TaskError {
    TaskError {
        failure: FailureCode::from(error),
        message: format!("cannot {action} the directory {}: {error}", path.display()),
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_tasks_are_known_and_others_are_not() {
        for name in [
            "file",
            "file.ready",
            "set-up.ready",
            "written",
            "program",
            "program.c",
            "program.f90.ready",
            "read-0",
        ] {
            assert_eq!(Inside::Task.made(name.as_bytes()), Made::File, "{name}");
        }
        for name in [
            "read-00",
            "read-",
            "thesis.tex",
            "written.ready",
            ".ready",
            "file-0",
            "listed-x",
            "set-up",
            "core",
        ] {
            assert_eq!(Inside::Task.made(name.as_bytes()), Made::Foreign, "{name}");
        }
        assert_eq!(Inside::Task.made(b"listed-3500"), Made::Directory(Inside::Files));
        assert_eq!(Inside::Task.made(b"set-up-39"), Made::Directory(Inside::Files));
        assert_eq!(Inside::Files.made(b"file-499"), Made::File);
        assert_eq!(Inside::Files.made(b"file"), Made::Foreign);
        let owner = format!(".owner-{:032x}", 4711);
        for inside in [Inside::Watch, Inside::Task] {
            assert_eq!(inside.made(owner.as_bytes()), Made::File);
        }
        assert_eq!(Inside::Files.made(owner.as_bytes()), Made::Foreign);
    }

    proptest! {
        #[test]
        fn no_name_makes_it_panic(name in prop::collection::vec(any::<u8>(), 0..40)) {
            for inside in [Inside::Watch, Inside::Task, Inside::Files] {
                let _ = inside.made(&name);
            }
        }
    }
}
