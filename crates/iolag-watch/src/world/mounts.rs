//! Which mount a target lies on, and whether that changed: from the kernel's table alone, so that a hung mount is told too.
//!
//! Invariants: no system call is made on a path that is asked about. Limits: paths are taken as they are written, absolute and without
//! symbolic links; an automount shows only after somebody has gone there.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use iolag_keeper::mounts::{Device, Mount, covering, parse_mountinfo, text_of};

/// The mounts of this process at one moment.
#[derive(Debug)]
pub struct MountTable {
    source: Option<File>,
    mounts: Vec<Mount>,
    generation: u64,
}

/// A mount, told from every other one that was at its place before or comes after it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MountIdentity {
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// The kernel's id of it, reused after an unmount.
    pub mount_id: u64,
    /// Device of the file system; bind mounts of one file system share it.
    pub device: Device,
    /// Type, with a subtype for some: ext4, nfs4, fuse.sshfs.
    pub kind: String,
    /// Options of mount and file system in one list, secrets removed.
    pub options: String,
    /// What is mounted, secrets removed; may be empty.
    pub source: String,
}

impl MountTable {
    /// The present table of this process; empty if the kernel shows none.
    pub fn read() -> Self {
        Self::read_below(Path::new("/proc"))
    }

    /// [`MountTable::read`] with another directory in the place of /proc.
    pub fn read_below(proc: &Path) -> Self {
        let mut table =
            Self { source: File::open(proc.join("self/mountinfo")).ok(), mounts: Vec::new(), generation: 0 };
        table.mounts = table.read_mounts();
        table
    }

    /// Readable as an exception (POLLPRI) when something was mounted or unmounted; the kernel says so once, to
    /// whoever polls first. Then [`MountTable::refresh`] is due.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    /// Reads the table again and returns its generation. If it cannot be read, the former one stands.
    pub fn refresh(&mut self) -> u64 {
        let mounts = self.read_mounts();
        // Every process has a root, so an empty table was not read: what was known stays.
        if !mounts.is_empty() && mounts != self.mounts {
            self.mounts = mounts;
            self.generation += 1;
        }
        self.generation
    }

    /// A number that grows whenever a refreshed table differs from the one before.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The mount that answers for `path`: absolute, without symbolic links and `..`.
    pub fn mount_of(&self, path: &Path) -> Option<MountIdentity> {
        covering(&self.mounts, path).map(MountIdentity::of)
    }

    /// The mount with the kernel's id `mount_id`, if it is in the table.
    pub fn identity_of(&self, mount_id: u64) -> Option<MountIdentity> {
        self.mounts.iter().find(|mount| mount.mount_id == mount_id).map(MountIdentity::of)
    }

    /// Whether nothing is mounted at this mount point, and no automount waits there to be gone to.
    pub fn is_missing(&self, mount_point: &Path) -> bool {
        self.mount_of(mount_point).is_some_and(|mount| mount.is_beneath(mount_point))
    }

    /// The mounts in the kernel's order.
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    fn read_mounts(&mut self) -> Vec<Mount> {
        let Some(source) = &mut self.source else { return Vec::new() };
        if source.seek(SeekFrom::Start(0)).is_err() {
            return Vec::new();
        }
        parse_mountinfo(text_of(source))
    }
}

impl MountIdentity {
    /// Whether it is what shows where nothing is mounted at `mount_point`: the mount of a directory above.
    pub fn is_beneath(&self, mount_point: &Path) -> bool {
        self.mount_point != mount_point && mount_point.starts_with(&self.mount_point) && self.kind != "autofs"
    }

    fn of(mount: &Mount) -> Self {
        Self {
            mount_point: mount.mount_point.clone(),
            mount_id: mount.mount_id,
            device: mount.device,
            kind: mount.kind.clone(),
            options: mount.options(),
            source: mount.source.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "1 0 8:1 / / rw - ext4 a rw\n";
    const SCRATCH: &str = "2 1 0:30 / /scratch rw,nosuid - nfs4 me:hunter2@filer:/export rw,vers=4.2\n";

    #[test]
    fn a_changed_table_is_another_generation_and_an_unreadable_one_is_not() {
        let proc = tempfile::tempdir().unwrap();
        std::fs::create_dir(proc.path().join("self")).unwrap();
        let write = |text: &str| std::fs::write(proc.path().join("self/mountinfo"), text).unwrap();
        write(ROOT);
        let mut table = MountTable::read_below(proc.path());
        assert_eq!((table.generation(), table.refresh(), table.mounts().len()), (0, 0, 1));
        assert_eq!(table.mount_of(Path::new("/scratch/x")).unwrap().mount_id, 1);

        write(&format!("{ROOT}{SCRATCH}"));
        assert_eq!(table.refresh(), 1);
        let expected = MountIdentity {
            mount_point: "/scratch".into(),
            mount_id: 2,
            device: Device { major: 0, minor: 30 },
            kind: "nfs4".into(),
            options: "rw,nosuid,vers=4.2".into(),
            source: "me:***@filer:/export".into(),
        };
        assert_eq!(table.mount_of(Path::new("/scratch/x")), Some(expected.clone()));
        assert_eq!(table.mount_of(Path::new("/scratch/../x")), None);

        write("");
        assert_eq!(table.refresh(), 1);
        assert_eq!(table.mount_of(Path::new("/scratch")), Some(expected));
        assert_eq!(MountTable::read_below(Path::new("/nowhere")).mount_of(Path::new("/")), None);
    }
}
