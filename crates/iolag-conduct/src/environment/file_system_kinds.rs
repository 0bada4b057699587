//! What is known of a file system by its type alone, as the kernel names it in mountinfo.

use std::path::{Path, PathBuf};

use iolag_model::ServedBy;

use super::read_at_most;

/// Types whose data lives on another machine. A file system in user space counts by its subtype (`fuse.sshfs`).
const NETWORK: &[&str] = &[
    "9p",
    "acfs",
    "afs",
    "auristorfs",
    "beegfs",
    "beegfs_nodev",
    "ceph",
    "cifs",
    "coda",
    "cvfs",
    "fhgfs",
    "gfs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "lustre_tgt",
    "mmfs",
    "ncp",
    "ncpfs",
    "nfs",
    "nfs3",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "pvfs2",
    "quobyte",
    "scoutfs",
    "smb2",
    "smb3",
    "smbfs",
    "wekafs",
    "fuse.alluxio-fuse",
    "fuse.blobfuse",
    "fuse.blobfuse2",
    "fuse.ceph",
    "fuse.ceph-fuse",
    "fuse.curlftpfs",
    "fuse.cvmfs2",
    "fuse.davfs",
    "fuse.dfuse",
    "fuse.eosxd",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.goofys",
    "fuse.gpfs",
    "fuse.juicefs",
    "fuse.lizardfs",
    "fuse.mfs",
    "fuse.moosefs",
    "fuse.mount-s3",
    "fuse.quobyte",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.seaweedfs",
    "fuse.sshfs",
    "fuse.xrootdfs",
];

/// Whether a file system of this type reaches its data over a network. Types that may or may not (autofs, overlay,
/// virtiofs, a FUSE type that is not listed) count as local: the list says only what is sure.
pub fn is_network(kind: &str) -> bool {
    NETWORK.contains(&kind)
}

/// Types whose data is on a device, as far as the kernel knows.
const DEVICE: &[&str] = &[
    "bcachefs", "btrfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660", "jfs", "nilfs2",
    "ntfs3", "reiserfs", "squashfs", "udf", "vfat", "xfs", "zfs",
];

/// Who answers what is asked of a file system of this type.
pub fn served_by(kind: &str) -> ServedBy {
    match kind {
        kind if kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.") => ServedBy::Process,
        kind if is_network(kind) => ServedBy::Servers,
        kind if is_memory(kind) || DEVICE.contains(&kind) => ServedBy::ThisMachine,
        _ => ServedBy::Unknown,
    }
}

/// Whether a file system of this type keeps its data in memory only.
pub fn is_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" | "hugetlbfs")
}

/// The version of the client that serves `kind`, from the files that its kernel module leaves under `sys` (/sys) and
/// `proc` (/proc); `None` if it leaves none, as most modules of the kernel itself: there the kernel's version says it.
pub(super) fn client_version(kind: &str, proc: &Path, sys: &Path) -> Option<String> {
    version_files(kind, proc, sys).iter().find_map(|path| read_version(path))
}

fn version_files(kind: &str, proc: &Path, sys: &Path) -> Vec<PathBuf> {
    let module = |name: &str| sys.join("module").join(name).join("version");
    match kind {
        "lustre" => vec![sys.join("fs/lustre/version"), proc.join("fs/lustre/version"), module("lustre")],
        "nfs4" => vec![module("nfsv4"), module("nfs")],
        "nfs" | "nfs3" => vec![module("nfsv3"), module("nfs")],
        "gpfs" | "mmfs" => vec![module("mmfs26"), module("mmfslinux"), module("mmfs"), module("gpfs")],
        "beegfs" | "beegfs_nodev" => vec![module("beegfs")],
        "cifs" | "smb3" => vec![module("cifs")],
        "afs" => vec![module("openafs"), module("libafs"), module("kafs")],
        "wekafs" => vec![module("wekafsio"), module("wekafsgw")],
        "pvfs2" | "orangefs" => vec![module("orangefs"), module("pvfs2")],
        "zfs" => vec![module("zfs")],
        kind if kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse.") => vec![module("fuse")],
        // A type's name becomes part of a path only if it is a plain word.
        kind if is_plain_word(kind) => vec![module(kind)],
        _ => Vec::new(),
    }
}

fn is_plain_word(kind: &str) -> bool {
    !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The first line; of a file with labelled lines, as old Lustre clients have (`lustre: 2.10.8`), that of Lustre.
fn read_version(path: &Path) -> Option<String> {
    const VERSION_BYTES: u64 = 4096;
    const VERSION_CHARACTERS: usize = 256;
    let content = read_at_most(path, VERSION_BYTES)?;
    let text = String::from_utf8_lossy(&content);
    let labelled = text.lines().find_map(|line| line.strip_prefix("lustre:"));
    let version = labelled.or_else(|| text.lines().next())?.trim();
    (!version.is_empty()).then(|| version.chars().take(VERSION_CHARACTERS).collect())
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Tree;
    use super::*;

    #[test]
    fn types_are_told_apart() {
        for kind in
            ["nfs", "nfs4", "lustre", "ceph", "gpfs", "beegfs", "cifs", "afs", "fuse.sshfs", "fuse.glusterfs"]
        {
            assert!(is_network(kind) && !is_memory(kind), "{kind}");
        }
        for kind in ["ext4", "xfs", "btrfs", "zfs", "overlay", "autofs", "fuse", "fuse.encfs", "nfsd", ""] {
            assert!(!is_network(kind) && !is_memory(kind), "{kind}");
        }
        for kind in ["tmpfs", "ramfs", "devtmpfs"] {
            assert!(is_memory(kind) && !is_network(kind), "{kind}");
        }
    }

    #[test]
    fn who_answers_is_said_only_where_it_is_sure() {
        for (kind, answers) in [
            ("nfs4", ServedBy::Servers),
            ("fuse.sshfs", ServedBy::Process),
            ("fuse", ServedBy::Process),
            ("ext4", ServedBy::ThisMachine),
            ("tmpfs", ServedBy::ThisMachine),
            ("overlay", ServedBy::Unknown),
            ("virtiofs", ServedBy::Unknown),
        ] {
            assert_eq!(served_by(kind), answers, "{kind}");
        }
    }

    #[test]
    fn lustre_tells_its_version_in_three_ways() {
        let empty = Tree::with(&[]);
        let recent =
            Tree::with(&[("fs/lustre/version", "2.15.3_1_gabcdef\n"), ("module/lustre/version", "other\n")]);
        let old =
            Tree::with(&[("fs/lustre/version", "lustre: 2.10.8\nkernel: patchless_client\nbuild: 2.10.8\n")]);
        let module = Tree::with(&[("module/lustre/version", "2.12.9\n")]);
        assert_eq!(
            client_version("lustre", empty.path(), recent.path()).as_deref(),
            Some("2.15.3_1_gabcdef")
        );
        assert_eq!(client_version("lustre", old.path(), empty.path()).as_deref(), Some("2.10.8"));
        assert_eq!(client_version("lustre", empty.path(), module.path()).as_deref(), Some("2.12.9"));
        assert_eq!(client_version("lustre", empty.path(), empty.path()), None);
    }

    #[test]
    fn other_clients_tell_theirs_by_their_module() {
        let proc = Tree::with(&[]);
        for (kind, file) in [
            ("beegfs", "module/beegfs/version"),
            ("gpfs", "module/mmfs26/version"),
            ("cifs", "module/cifs/version"),
            ("ceph", "module/ceph/version"),
            ("nfs4", "module/nfsv4/version"),
            ("fuse.sshfs", "module/fuse/version"),
            ("panfs", "module/panfs/version"),
        ] {
            let sys = Tree::with(&[(file, "7.4.1\n")]);
            assert_eq!(client_version(kind, proc.path(), sys.path()).as_deref(), Some("7.4.1"), "{kind}");
        }
    }

    #[test]
    fn a_type_is_never_a_way_out_of_the_tree() {
        let sys = Tree::with(&[
            ("module/here/version", "1\n"),
            ("version", "outside\n"),
            ("module/version", "above\n"),
        ]);
        for kind in ["..", "../", "here/../..", ".", "", "/"] {
            assert_eq!(client_version(kind, sys.path(), sys.path()), None, "{kind}");
        }
    }
}
