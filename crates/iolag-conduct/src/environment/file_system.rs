//! The file system under a target.
//!
//! [`capture`] asks the file system itself (statx, statvfs, its striping tool) and hangs if the file system does: it is
//! for a process that may hang. So is [`identify`], which asks it for no more than which mount it is, and starts no tool that could be
//! left behind. [`presume`] reads the kernel's table of mounts only and never hangs, at the price of
//! following no symbolic link.

use std::path::{Path, PathBuf};

use iolag_model::{FileSystem, MonotonicClock};
use rustix::fs::{AtFlags, CWD, StatVfs, StatxFlags, statvfs, statx};

use super::mounts::{self, Device, Mount, mount_of};
use super::{file_system_kinds, striping};

/// The file system of `target`, asked of the file system itself; `proc` and `sys` are /proc and /sys. An automount is
/// triggered. May block for as long as the file system does; its striping tool is given 5 s.
///
/// What cannot be found out is absent or empty, also if the target does not exist: then its mount is that of its path.
pub fn capture(target: &Path, proc: &Path, sys: &Path) -> FileSystem {
    let identity = Identity::of(target);
    // Before the mount table is read: an automount appears there only now.
    let space = statvfs(target).ok();
    let mounts = mounts::capture(proc);
    let path = resolve(target);
    let mount = mount_of(&mounts, identity.mount_id, identity.device, &path);
    let mut file_system = describe(mount, &identity, proc, sys);
    if let Some(space) = space {
        record_space(&mut file_system, &space);
    }
    let tool_directories = striping::TOOL_DIRECTORIES.map(Path::new);
    let limit = striping::Limit::STANDARD;
    file_system.striping =
        striping::capture(&file_system.kind, &path, &tool_directories, limit, &MonotonicClock);
    file_system
}

/// [`capture`] without what is free and without striping.
pub fn identify(target: &Path, proc: &Path, sys: &Path) -> FileSystem {
    let identity = Identity::of(target);
    let mounts = mounts::capture(proc);
    describe(mount_of(&mounts, identity.mount_id, identity.device, &resolve(target)), &identity, proc, sys)
}

/// The file system that `target` (absolute) lies on by its path alone, from kernel tables: nothing of it is touched.
/// It is another one than [`capture`] finds if a symbolic link leads elsewhere or an automount has not happened yet.
pub fn presume(target: &Path, proc: &Path, sys: &Path) -> FileSystem {
    let mounts = mounts::capture(proc);
    describe(mount_of(&mounts, None, None, target), &Identity::default(), proc, sys)
}

/// What the kernel says of the file itself.
#[derive(Debug, Default)]
struct Identity {
    /// Id of the mount, from Linux 5.8 on.
    mount_id: Option<u64>,
    device: Option<Device>,
}

impl Identity {
    fn of(target: &Path) -> Self {
        let Ok(found) = statx(CWD, target, AtFlags::empty(), StatxFlags::MNT_ID) else {
            return Self::default();
        };
        let knows_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        Self {
            mount_id: knows_mount.then_some(found.stx_mnt_id),
            device: Some(Device { major: found.stx_dev_major, minor: found.stx_dev_minor }),
        }
    }
}

/// The absolute path without symbolic links; as it stands if it cannot be resolved.
fn resolve(target: &Path) -> PathBuf {
    target.canonicalize().or_else(|_| std::path::absolute(target)).unwrap_or_else(|_| target.to_owned())
}

fn describe(mount: Option<&Mount>, identity: &Identity, proc: &Path, sys: &Path) -> FileSystem {
    let device = identity.device.or(mount.map(|mount| mount.device));
    let mut file_system = FileSystem {
        mount_id: identity.mount_id.or(mount.map(|mount| mount.mount_id)),
        device: device.map_or_else(String::new, |device| device.to_string()),
        ..FileSystem::default()
    };
    if let Some(mount) = mount {
        file_system.kind = mount.kind.clone();
        file_system.mount_point = mount.mount_point.to_string_lossy().into_owned();
        file_system.source = mount.source.clone();
        file_system.options = mount.options();
        file_system.client_version = file_system_kinds::client_version(&mount.kind, proc, sys);
    }
    file_system
}

/// A file system that reports a size of zero, in bytes or in inodes (btrfs), does not count them.
fn record_space(file_system: &mut FileSystem, space: &StatVfs) {
    if space.f_blocks > 0 {
        file_system.free_bytes = space.f_bavail.checked_mul(space.f_frsize);
        file_system.size_bytes = space.f_blocks.checked_mul(space.f_frsize);
    }
    file_system.free_inodes = (space.f_files > 0).then_some(space.f_favail);
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    fn machine() -> (Tree, Tree) {
        let proc =
            Tree::with(&[("self/mountinfo", include_str!("../../../iolag-keeper/src/mounts/mountinfo.txt"))]);
        let sys = Tree::with(&[
            ("fs/lustre/version", "2.15.3\n"),
            ("module/beegfs/version", "7.4.2\n"),
            ("module/mmfs26/version", "5.1.9\n"),
        ]);
        (proc, sys)
    }

    #[test]
    fn the_file_system_of_a_path_is_described_without_touching_it() {
        let (proc, sys) = machine();
        for (target, kind, mount_point, mount_id, device, version) in [
            ("/scratch/me", "lustre", "/scratch", 64, "0:46", Some("2.15.3")),
            ("/home/me/x", "nfs4", "/home/me", 72, "0:52", None),
            ("/home/other", "autofs", "/home", 71, "0:47", None),
            ("/mnt/beegfs", "beegfs", "/mnt/beegfs", 75, "0:55", Some("7.4.2")),
            ("/gpfs/fs1/a", "gpfs", "/gpfs/fs1", 74, "0:54", Some("5.1.9")),
            ("/run/user/1000/doc portal/a", "fuse.portal", "/run/user/1000/doc portal", 80, "0:60", None),
            ("/etc", "ext4", "/", 27, "253:0", None),
        ] {
            let found = presume(Path::new(target), proc.path(), sys.path());
            assert_eq!((found.kind.as_str(), found.mount_point.as_str()), (kind, mount_point));
            assert_eq!((found.mount_id, found.device.as_str()), (Some(mount_id), device), "{target}");
            assert_eq!(found.client_version.as_deref(), version, "{target}");
            assert_eq!((found.free_bytes, found.striping), (None, None), "{target}");
        }
    }

    #[test]
    fn secrets_do_not_reach_the_record() {
        let (proc, sys) = machine();
        let smb = presume(Path::new("/mnt/smb"), proc.path(), sys.path());
        assert_eq!(smb.source, "//me:***@nas/share");
        assert!(smb.options.contains("username=me,password=***,uid=0"), "{}", smb.options);
    }

    #[test]
    fn a_real_directory_is_found_by_the_kernels_id() {
        let directory = tempfile::tempdir().unwrap();
        let found = capture(directory.path(), Path::new("/proc"), Path::new("/sys"));
        let expected =
            presume(&directory.path().canonicalize().unwrap(), Path::new("/proc"), Path::new("/sys"));
        assert_eq!((&found.kind, &found.mount_point), (&expected.kind, &expected.mount_point));
        assert_eq!((found.mount_id, &found.options), (expected.mount_id, &expected.options));
        let (free_bytes, size_bytes) = (found.free_bytes.unwrap(), found.size_bytes.unwrap());
        assert!(free_bytes <= size_bytes && size_bytes > 0);
    }

    #[test]
    fn identifying_finds_the_same_mount_and_asks_for_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        for target in [directory.path(), &link] {
            let (proc, sys) = (Path::new("/proc"), Path::new("/sys"));
            let (all, found) = (capture(target, proc, sys), identify(target, proc, sys));
            let unasked =
                FileSystem { free_bytes: None, size_bytes: None, free_inodes: None, striping: None, ..all };
            assert_eq!(found, unasked);
        }
    }

    #[test]
    fn a_symbolic_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        let found = capture(&link, Path::new("/proc"), Path::new("/sys"));
        assert_eq!((found.kind.as_str(), found.mount_point.as_str()), ("proc", "/proc"));
        assert_eq!(
            (found.size_bytes, found.free_inodes),
            (None, None),
            "proc counts neither bytes nor inodes"
        );
    }

    #[test]
    fn a_symbolic_link_is_followed_also_where_the_kernel_gives_no_known_id() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap().join("real");
        let link = directory.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mountinfo = format!(
            "999999998 1 4095:1 / / rw - ext4 root rw\n999999999 999999998 4095:2 / {} rw - xfs data rw\n",
            real.display()
        );
        let proc = Tree::with(&[("self/mountinfo", &mountinfo)]);
        let found = capture(&link, proc.path(), Path::new("/sys"));
        assert_eq!((found.kind.as_str(), found.source.as_str()), ("xfs", "data"));
        assert!(found.size_bytes.is_some(), "the space is that of the real directory");
    }

    #[test]
    fn what_does_not_exist_has_the_mount_of_its_path_and_nothing_more() {
        let found = capture(Path::new("/no/such/place"), Path::new("/proc"), Path::new("/sys"));
        assert_eq!(found.mount_point, "/");
        assert_eq!((found.free_bytes, found.size_bytes), (None, None));
        let empty = Tree::with(&[]);
        let nothing = capture(Path::new("/no/such/place"), empty.path(), empty.path());
        assert_eq!(nothing, FileSystem::default());
    }
}
