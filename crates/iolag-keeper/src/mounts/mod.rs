//! The table of mounts, /proc/self/mountinfo, as proc(5) describes it. Reading it touches no mounted file system, so it
//! answers also for one that hangs.
//!
//! Invariants: nothing here makes a system call on a path that it is asked about; secrets are removed where text is
//! parsed, so that no later code can print them.
//!
//! Limits: paths are taken as they are written, so they are to be absolute and without symbolic links.

mod escapes;
mod redaction;

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

pub use escapes::unescape;
pub use redaction::{redact_options, redact_source};

/// Of a table longer than this (some 100,000 mounts) only the beginning is read.
const MOUNTINFO_BYTES_MAX: u64 = 16 << 20;

/// Number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// Kind of device; 0 where the kernel made the device up for a file system without one.
    pub major: u32,
    /// Which one.
    pub minor: u32,
}

impl fmt::Display for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.major, self.minor)
    }
}

/// One line of mountinfo, secrets removed from its source and options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Kernel's id of this mount, reused after an unmount.
    pub mount_id: u64,
    /// The mount that this one is mounted on.
    pub parent_id: u64,
    /// Device of the file system.
    pub device: Device,
    /// Which directory of the file system is mounted.
    pub root: PathBuf,
    /// Where it is mounted, seen from the process's root.
    pub mount_point: PathBuf,
    /// Options of the mount, as the kernel writes them (still with its \ooo escapes).
    pub mount_options: String,
    /// Optional fields: propagation, `shared:1`, `master:2`.
    pub optional_fields: Vec<String>,
    /// Type, with a subtype for some: ext4, nfs4, fuse.sshfs. Empty if the line breaks off before it.
    pub kind: String,
    /// What is mounted; may be empty.
    pub source: String,
    /// Options of the file system, as the kernel writes them (still with its \ooo escapes).
    pub file_system_options: String,
}

impl Mount {
    /// Options of the mount and of the file system in one list, as /proc/mounts shows them: `ro` or `rw` first (`ro` if
    /// either says so), then the mount's, then the file system's, none twice.
    pub fn options(&self) -> String {
        let all = || self.mount_options.split(',').chain(self.file_system_options.split(','));
        let mut options = Vec::new();
        options.extend(["ro", "rw"].into_iter().find(|access| all().any(|option| option == *access)));
        for option in all().filter(|option| !matches!(*option, "" | "ro" | "rw")) {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        options.join(",")
    }
}

/// The mounts of this process, from `proc` (/proc); empty if there is no such table. Of a table of more than 16 MiB (some
/// 100,000 mounts) only the beginning is read.
pub fn capture(proc: &Path) -> Vec<Mount> {
    File::open(proc.join("self/mountinfo"))
        .map_or_else(|_| Vec::new(), |table| parse_mountinfo(text_of(table)))
}

/// The text of an open mountinfo file, from where it stands up to 16 MiB; what cannot be read is missing.
pub fn text_of(table: impl Read) -> Vec<u8> {
    let mut text = Vec::new();
    // A line cut off by a failure is passed over by the parser.
    let _ = table.take(MOUNTINFO_BYTES_MAX).read_to_end(&mut text);
    text
}

/// The mounts in the text of a mountinfo file, in its order. Lines without the first five fields are passed over; what is
/// missing after them is empty. Takes bytes, since a mount point may be any bytes.
pub fn parse_mountinfo(text: impl AsRef<[u8]>) -> Vec<Mount> {
    text.as_ref().split(|byte| *byte == b'\n').filter_map(parse_line).collect()
}

/// The mount of a file: by the kernel's id where it is known (`statx`), else the longest mount point that `path` begins
/// with (an absolute path without symbolic links), first among those on the file's `device`, then the one that
/// [`covering`] finds, then the longest of all. Of two at the same place, the later one covers the earlier.
pub fn mount_of<'mounts>(
    mounts: &'mounts [Mount],
    mount_id: Option<u64>,
    device: Option<Device>,
    path: &Path,
) -> Option<&'mounts Mount> {
    let by_id = mount_id.and_then(|id| mounts.iter().rev().find(|mount| mount.mount_id == id));
    by_id
        .or_else(|| device.and_then(|device| longest(mounts, path, |mount| mount.device == device)))
        .or_else(|| covering(mounts, path))
        .or_else(|| longest(mounts, path, |_| true))
}

/// The mount that answers for `path` (absolute, without symbolic links), found as the kernel walks: from the root down,
/// onto whatever is mounted at each step on the mount that it stands on. So a mount below one that was covered later is
/// not found. Where the table does not show the root (after chroot), the longest mount point that `path` begins with.
/// `None` for a path with `..`, whose place only the file system knows.
pub fn covering<'mounts>(mounts: &'mounts [Mount], path: &Path) -> Option<&'mounts Mount> {
    let Some(root) = mounts.iter().find(|mount| is_root(mounts, mount)) else {
        return longest(mounts, path, |_| true);
    };
    if !path.is_absolute() || path.components().any(|component| component == Component::ParentDir) {
        return None;
    }
    let mut standing = root;
    let mut place = PathBuf::new();
    for component in path.components() {
        place.push(component);
        // Each step goes to a mount on the one before; a damaged table may hold a circle.
        for _ in 0..mounts.len() {
            let is_next = |mount: &&Mount| {
                mount.parent_id == standing.mount_id
                    && mount.mount_id != standing.mount_id
                    && mount.mount_point == place
            };
            match mounts.iter().rev().find(is_next) {
                Some(next) => standing = next,
                None => break,
            }
        }
    }
    Some(standing)
}

/// Whether this is what lies at the bottom of `/`: its parent is not in the table, or is itself.
fn is_root(mounts: &[Mount], mount: &Mount) -> bool {
    let has_parent =
        || mounts.iter().any(|other| other.mount_id == mount.parent_id && other.mount_id != mount.mount_id);
    mount.mount_point == Path::new("/") && !has_parent()
}

/// The longest mount point that `path` begins with; of equal ones the last.
fn longest<'mounts>(
    mounts: &'mounts [Mount],
    path: &Path,
    is_wanted: impl Fn(&Mount) -> bool,
) -> Option<&'mounts Mount> {
    mounts
        .iter()
        .filter(|mount| is_wanted(mount) && path.starts_with(&mount.mount_point))
        // The last of equal ones is what max_by_key returns.
        .max_by_key(|mount| mount.mount_point.components().count())
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`. Fields are separated by one blank
/// each: an empty source leaves two in a row.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mount_id = number(fields.next()?)?;
    let parent_id = number(fields.next()?)?;
    let device = parse_device(fields.next()?)?;
    let root = path(fields.next()?);
    let mount_point = path(fields.next().filter(|field| !field.is_empty())?);
    let mount_options = lossy(fields.next().unwrap_or_default());
    let optional_fields = fields
        .by_ref()
        .take_while(|field| *field != b"-")
        .filter(|field| !field.is_empty())
        .map(lossy)
        .collect();
    let kind = lossy(&unescape(fields.next().unwrap_or_default()));
    let source = lossy(&unescape(fields.next().unwrap_or_default()));
    let file_system_options = lossy(fields.next().unwrap_or_default());
    Some(Mount {
        mount_id,
        parent_id,
        device,
        root,
        mount_point,
        mount_options: redact_options(&mount_options),
        optional_fields,
        kind,
        source: redact_source(&source),
        file_system_options: redact_options(&file_system_options),
    })
}

fn parse_device(field: &[u8]) -> Option<Device> {
    let colon = field.iter().position(|byte| *byte == b':')?;
    let part = |bytes| u32::try_from(number(bytes)?).ok();
    Some(Device { major: part(&field[..colon])?, minor: part(&field[colon + 1..])? })
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    /// Lines as they look on real machines: a Lustre login node, NFS, CephFS, GPFS, BeeGFS, a container, autofs.
    const REAL: &str = include_str!("mountinfo.txt");

    fn at<'mounts>(mounts: &'mounts [Mount], path: &str) -> &'mounts Mount {
        mount_of(mounts, None, None, Path::new(path)).unwrap()
    }

    #[test]
    fn the_example_of_the_manual_is_read_field_by_field() {
        let line = "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n";
        let expected = Mount {
            mount_id: 36,
            parent_id: 35,
            device: Device { major: 98, minor: 0 },
            root: "/mnt1".into(),
            mount_point: "/mnt2".into(),
            mount_options: "rw,noatime".into(),
            optional_fields: vec!["master:1".into()],
            kind: "ext3".into(),
            source: "/dev/root".into(),
            file_system_options: "rw,errors=continue".into(),
        };
        assert_eq!(parse_mountinfo(line), [expected]);
    }

    #[test]
    fn real_lines_give_type_source_and_options() {
        let mounts = parse_mountinfo(REAL);
        assert_eq!(mounts.len(), REAL.lines().count());
        for (path, kind, source, option) in [
            ("/", "ext4", "/dev/mapper/rootvg-root", "errors=remount-ro"),
            ("/scratch/me", "lustre", "10.12.0.1@o2ib:10.12.0.2@o2ib:/scratch", "flock"),
            ("/home/me/src", "nfs4", "filer.example.org:/export/home", "vers=4.2"),
            ("/ceph", "ceph", "10.0.0.1:6789,10.0.0.2:6789:/volumes/a@b", "secret=***"),
            ("/gpfs/fs1", "gpfs", "fs1", "mtime"),
            ("/mnt/beegfs/x", "beegfs", "beegfs_nodev", "cfgFile=/etc/beegfs/beegfs-client.conf"),
            ("/var/lib/containers/merged", "overlay", "overlay", "xino=off"),
            ("/net/other", "autofs", "-hosts", "indirect"),
            ("/tmp/x", "tmpfs", "tmpfs", "size=16g"),
            ("/mnt/ssh", "fuse.sshfs", "me@host.example.org:/data", "user_id=1000"),
            ("/mnt/smb", "cifs", "//me:***@nas/share", "username=me"),
        ] {
            let mount = at(&mounts, path);
            assert_eq!((mount.kind.as_str(), mount.source.as_str()), (kind, source), "{path}");
            assert!(mount.options().split(',').any(|found| found == option), "{path}: {}", mount.options());
        }
    }

    #[test]
    fn no_secret_of_a_real_line_survives() {
        assert!(REAL.contains("hunter2"), "the fixture holds secrets");
        assert!(!format!("{:?}", parse_mountinfo(REAL)).contains("hunter2"));
    }

    #[test]
    fn escapes_optional_fields_and_empty_sources_are_understood() {
        let mounts = parse_mountinfo(
            "40 27 0:50 / /mnt/a\\040b\\011c\\012d\\134e\\043 ro shared:1 master:2 propagate_from:3 - tmpfs  rw,size=1k\n\
             41 27 0:51 / /mnt/x rw - tmpfs\n42 27 0:52 / /mnt/y rw shared:7\n43 27 0:53 / /mnt/z\n44 27 0:54 /\n\
             45 27 x / /mnt/w rw - tmpfs none rw\n\
             46 27 0:55 / /mnt/v rw,nosuid - cifs //nas/a\\040b rw,relatime,nosuid,path=\\040x\n",
        );
        assert_eq!(mounts.iter().map(|mount| mount.mount_id).collect::<Vec<_>>(), [40, 41, 42, 43, 46]);
        assert_eq!(mounts[0].mount_point, Path::new("/mnt/a b\tc\nd\\e#"));
        assert_eq!(mounts[0].optional_fields, ["shared:1", "master:2", "propagate_from:3"]);
        assert_eq!((mounts[0].source.as_str(), mounts[0].options()), ("", "ro,size=1k".to_owned()));
        assert_eq!((mounts[1].kind.as_str(), mounts[1].options()), ("tmpfs", "rw".to_owned()));
        assert_eq!((mounts[2].kind.as_str(), mounts[2].optional_fields.len()), ("", 1));
        assert_eq!(mounts[3].options(), "");
        assert_eq!(mounts[4].source, "//nas/a b");
        assert_eq!(mounts[4].options(), "rw,nosuid,relatime,path=\\040x", "none twice, escapes as they were");
    }

    #[test]
    fn a_mount_is_found_by_id_then_device_then_place() {
        let mounts = parse_mountinfo(
            "1 0 8:1 / / rw - ext4 a rw\n2 1 0:30 / /data rw - autofs b rw\n3 2 0:31 / /data rw - nfs c rw\n\
             4 1 8:2 / /data2 rw - xfs d rw\n5 4 8:3 / /data2/deep rw - xfs e rw\n",
        );
        let find = |id, device: Option<(u32, u32)>, path: &str| {
            let device = device.map(|(major, minor)| Device { major, minor });
            mount_of(&mounts, id, device, Path::new(path)).map(|mount| mount.mount_id)
        };
        assert_eq!(find(Some(2), None, "/data2/deep"), Some(2));
        assert_eq!(find(Some(99), None, "/data2/deep/x"), Some(5), "an unknown id falls back to the place");
        assert_eq!(find(None, None, "/data/x"), Some(3), "the later mount covers the earlier");
        assert_eq!(find(None, None, "/data22"), Some(1), "names are compared whole");
        assert_eq!(find(None, Some((8, 2)), "/data2/deep"), Some(4), "the device decides before the place");
        assert_eq!(find(None, Some((9, 9)), "/data2/deep"), Some(5));
        assert_eq!(find(None, None, "relative"), None);
        assert_eq!(find(None, None, "/data2/../x"), Some(4), "a guess, as good as names are");
    }

    #[test]
    fn the_walk_from_the_root_is_not_deceived_by_what_is_covered() {
        let mounts = parse_mountinfo(
            "1 0 8:1 / / rw - ext4 a rw\n2 1 0:30 / /a/b rw - nfs hidden rw\n3 1 0:31 / /a rw - tmpfs over rw\n\
             4 3 0:32 / /a/c rw - nfs seen rw\n5 1 0:30 / /bound rw - nfs hidden rw\n6 6 0:33 / /self rw - x y rw\n",
        );
        let find = |path: &str| covering(&mounts, Path::new(path)).map(|mount| mount.mount_id);
        assert_eq!(find("/a/b/x"), Some(3), "the mount on /a/b was covered by the later one on /a");
        assert_eq!(find("/a/c"), Some(4));
        assert_eq!(find("/bound/x"), Some(5));
        assert_eq!(mounts[1].device, mounts[4].device, "bind mounts share the device");
        assert_eq!(find("/ab"), Some(1), "names are compared whole");
        assert_eq!(find("/a/c/../.."), None);
        assert_eq!(find("a/c"), None);
        let without_root = &mounts[1..];
        assert_eq!(covering(without_root, Path::new("/a/c/d")).map(|mount| mount.mount_id), Some(4));
        assert_eq!(covering(without_root, Path::new("/x")), None);
        let stacked_root = parse_mountinfo("1 1 0:2 / / rw - rootfs r rw\n2 1 8:1 / / rw - ext4 a rw\n");
        assert_eq!(covering(&stacked_root, Path::new("/x")).map(|mount| mount.mount_id), Some(2));
        let circle =
            parse_mountinfo("1 0 8:1 / / rw - a a rw\n2 1 0:1 / /c rw - a a rw\n2 2 0:1 / /c rw - a a rw\n");
        assert_eq!(covering(&circle, Path::new("/c/d")).map(|mount| mount.mount_id), Some(2));
    }

    #[test]
    fn this_machine_has_a_root() {
        let mounts = capture(Path::new("/proc"));
        assert_eq!(at(&mounts, "/").mount_point, Path::new("/"));
        assert!(mounts.iter().all(|mount| !mount.kind.is_empty() && mount.mount_point.is_absolute()));
        assert!(capture(Path::new("/nowhere")).is_empty());
    }

    /// The escapes that the kernel makes, by its own rule: seq_path escapes blank, tab, newline, backslash and #.
    fn escape(bytes: &[u8]) -> Vec<u8> {
        let escaped = bytes.iter().flat_map(|byte| match byte {
            b' ' | b'\t' | b'\n' | b'\\' | b'#' => format!("\\{byte:03o}").into_bytes(),
            _ => vec![*byte],
        });
        escaped.collect()
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mounts = parse_mountinfo(&bytes);
            let _ = covering(&mounts, Path::new("/a/b"));
            for mount in mounts {
                let _ = mount.options();
            }
        }

        #[test]
        fn mutilated_real_lines_never_panic(
            cut in 0..REAL.len(), place in 0..REAL.len(), bytes in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            let mut text = REAL.as_bytes().to_vec();
            let end = (place + bytes.len()).min(text.len());
            text.splice(place..end, bytes);
            text.truncate(cut);
            let mounts = parse_mountinfo(&text);
            prop_assert!(mounts.len() <= REAL.lines().count() + 8);
        }

        #[test]
        fn any_mount_point_comes_back(name in proptest::collection::vec(1..=255u8, 0..40)) {
            let mut line = b"7 1 0:9 / /".to_vec();
            line.extend(escape(&name));
            line.extend(b" rw - tmpfs none rw");
            let mounts = parse_mountinfo(&line);
            prop_assert_eq!(&mounts[0].mount_point.as_os_str().as_bytes()[1..], &name[..]);
        }
    }
}
