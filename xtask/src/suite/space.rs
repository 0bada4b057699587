//! The mount namespace that a test runs in, and what is mounted there that was not before.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::processes::Process;

const MEMORY: &str = "/dev/shm";
const CONNECTIONS: &str = "/sys/fs/fuse/connections";

/// Where a test runs, and which mounts were there first.
pub struct Space {
    before: BTreeSet<Mount>,
    kind: SpaceKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpaceKind {
    /// A namespace of the test alone.
    Own,
    /// The runner's: this is not root, so tests mount nothing.
    Shared,
}

/// One line of a mount table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Mount {
    id: u64,
    point: PathBuf,
    kind: String,
    /// The minor device number, which is the number of a FUSE connection.
    minor: u32,
}

impl Space {
    /// Moves this process into a mount namespace of its own, where that is permitted.
    ///
    /// To be called before any thread is started: a namespace belongs to a thread and those that it starts.
    pub fn enter() -> Self {
        // SAFETY: a mount namespace of its own takes no descriptor from anybody.
        let is_own = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }.is_ok()
            && mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE).is_ok();
        if is_own && fs::read_dir(CONNECTIONS).is_ok_and(|mut entries| entries.next().is_none()) {
            // Without it a dead connection is ended by the end of its file server.
            let _ = mount(c"fusectl", CONNECTIONS, c"fusectl", MountFlags::empty(), None);
        }
        if is_own {
            // What tests keep in memory goes with them, and is in nobody's way.
            let _ =
                mount(c"iolag-tests", MEMORY, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777");
        }
        let kind = if is_own { SpaceKind::Own } else { SpaceKind::Shared };
        Self { before: mounts_of("self"), kind }
    }

    /// Aborts the FUSE connections that were mounted since, here or in a namespace of one of `processes`: whoever waits for them goes on.
    pub fn abort_fuse(&self, processes: &[Process]) {
        if self.kind == SpaceKind::Shared {
            return;
        }
        let old: BTreeSet<u32> =
            self.before.iter().filter(|mount| mount.is_fuse()).map(|mount| mount.minor).collect();
        let mut mounts = mounts_of("self");
        for process in processes {
            mounts.append(&mut mounts_of(&Pid::as_raw_pid(process.id).to_string()));
        }
        let connections: BTreeSet<u32> =
            mounts.iter().filter(|mount| mount.is_fuse()).map(|mount| mount.minor).collect();
        for number in connections.difference(&old) {
            // It may have ended meanwhile.
            let _ = fs::write(Path::new(CONNECTIONS).join(number.to_string()).join("abort"), "1");
        }
    }

    /// The files that a test left in memory.
    pub fn files_in_memory(&self) -> Option<String> {
        (self.kind == SpaceKind::Own)
            .then(|| names_in(Path::new(MEMORY)))
            .flatten()
            .map(|names| format!("files in memory: {names}"))
    }

    /// Takes out of the tree what is still mounted, and names it.
    pub fn unmount_rest(&self) -> Vec<String> {
        if self.kind == SpaceKind::Shared {
            return Vec::new();
        }
        let mounts = mounts_of("self");
        mounts
            .difference(&self.before)
            .map(|left| {
                // It goes with the namespace at the latest.
                let _ = unmount(&left.point, UnmountFlags::DETACH | UnmountFlags::NOFOLLOW);
                format!("mount {} ({})", left.point.display(), left.kind)
            })
            .collect()
    }
}

/// The names in a directory, if there are any.
pub fn names_in(directory: &Path) -> Option<String> {
    let entries = fs::read_dir(directory).ok()?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    (!names.is_empty()).then(|| names.join(", "))
}

impl Mount {
    /// `36 35 0:52 / /mnt rw shared:1 - fuse.sshfs source options` (proc_pid_mountinfo(5)).
    fn parse(line: &str) -> Option<Self> {
        let (head, tail) = line.split_once(" - ")?;
        let mut fields = head.split(' ');
        let id = fields.next()?.parse().ok()?;
        let minor = fields.nth(1)?.split_once(':')?.1.parse().ok()?;
        let point = PathBuf::from(OsString::from_vec(unescaped(fields.nth(1)?.as_bytes())));
        Some(Self { id, point, kind: tail.split(' ').next()?.to_owned(), minor })
    }

    fn is_fuse(&self) -> bool {
        self.kind == "fuse" || self.kind.starts_with("fuse.")
    }
}

/// The mounts that a process sees; none if it is gone.
fn mounts_of(process: &str) -> BTreeSet<Mount> {
    let table = fs::read(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    String::from_utf8_lossy(&table).lines().filter_map(Mount::parse).collect()
}

/// Spaces and their like stand as `\040` in the kernel's tables.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let digits =
            tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_mount_table_is_read() {
        let mount = Mount::parse("36 35 0:52 / /mnt/a\\040b rw shared:1 - fuse.sshfs host: rw").unwrap();
        let expected = Mount { id: 36, point: "/mnt/a b".into(), kind: "fuse.sshfs".to_owned(), minor: 52 };
        assert_eq!(mount, expected);
        assert!(mount.is_fuse());
        assert!(!Mount::parse("36 35 0:52 / /sys/fs/fuse rw - fusectl none rw").unwrap().is_fuse());
        assert_eq!(Mount::parse("36 35"), None);
    }

    #[test]
    fn this_process_sees_a_root() {
        assert!(mounts_of("self").iter().any(|mount| mount.point == Path::new("/")));
        assert!(mounts_of("0").is_empty());
    }
}
