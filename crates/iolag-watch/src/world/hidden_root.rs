//! Whether a directory is the real root's, seen from a user namespace in which root has no number.
//!
//! There (`unshare -Ur`, Apptainer) everything of users without a number shows the overflow number, 65534: root's /dev/shm like
//! a stranger's directory. What tells them apart is the table of mounts: tmpfs writes the owner that its topmost directory was made
//! with as `uid=`, with the number outside all namespaces, unless that is 0. One without it was made for the real root, and only root
//! can have given it away since.

use std::path::Path;

use iolag_keeper::mounts::{Mount, covering};

use crate::MountTable;

/// Whether `path`, whose owner shows as `owner`, is the topmost directory of a tmpfs that was made for the real root, who has no number
/// in this user namespace. What `proc` does not tell is not so.
pub(crate) fn is_hidden_root(owner: u32, path: &Path, proc: &Path) -> bool {
    let read = |name: &str| std::fs::read_to_string(proc.join(name)).unwrap_or_default();
    let is_overflow = read("sys/kernel/overflowuid").trim().parse() == Ok(owner);
    is_overflow
        && hides_root(&read("self/uid_map"), owner)
        && covering(MountTable::read_below(proc).mounts(), path).is_some_and(|mount| is_roots(mount, path))
}

/// Whether root outside has no number here, and nobody has the number `overflow`: where somebody has, it cannot be told who is meant.
fn hides_root(uid_map: &str, overflow: u32) -> bool {
    let numbers = |line: &str| -> Option<[u64; 3]> {
        let fields: Vec<u64> = line.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
        fields.try_into().ok()
    };
    // A namespace without any number has an empty map, and so has a /proc that is not there: then it is not known.
    let ranges: Option<Vec<_>> = uid_map.lines().map(numbers).collect();
    ranges.is_some_and(|ranges| {
        let is_fine = |[inside, outside, length]: &[u64; 3]| {
            *outside > 0 && !(*inside..inside.saturating_add(*length)).contains(&u64::from(overflow))
        };
        !ranges.is_empty() && ranges.iter().all(is_fine)
    })
}

/// Not a part of a file system, which may be anybody's.
fn is_roots(mount: &Mount, path: &Path) -> bool {
    let is_given = mount.file_system_options.split(',').any(|option| option.starts_with("uid="));
    mount.kind == "tmpfs" && mount.mount_point == path && mount.root == Path::new("/") && !is_given
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "         0       1001          1\n";

    fn proc(uid_map: &str, mount: &str) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("sys/kernel/overflowuid", "65534\n"),
            ("self/uid_map", uid_map),
            ("self/mountinfo", &format!("20 1 8:1 / / rw - ext4 /dev/vda rw\n{mount}\n")),
        ] {
            let path = proc.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        proc
    }

    fn is_hidden(owner: u32, uid_map: &str, mount: &str) -> bool {
        is_hidden_root(owner, Path::new("/dev/shm"), proc(uid_map, mount).path())
    }

    #[test]
    fn a_memory_file_system_that_was_made_for_root_is_told_from_others() {
        const MADE: &str = "30 20 0:25 / /dev/shm rw - tmpfs tmpfs rw,size=64k";
        assert!(is_hidden(65534, OWN, MADE));
        assert!(is_hidden(65534, "0 100000 60000\n", MADE));
        assert!(!is_hidden(1002, OWN, MADE), "its owner is known");
        assert!(!is_hidden(65534, "0 0 4294967295\n", MADE), "that is the user with this number");
        assert!(!is_hidden(65534, "0 0 1\n", MADE), "root has a number, so this is another's");
        assert!(!is_hidden(65534, "0 100000 65536\n", MADE), "it may be the user with this number");
        assert!(!is_hidden(65534, "", MADE), "nothing is known");
        for other in [
            "30 20 0:25 / /dev/shm rw - tmpfs tmpfs rw,size=64k,uid=1002",
            "30 20 0:25 /mallory /dev/shm rw - tmpfs tmpfs rw",
            "30 20 0:25 / /dev rw - tmpfs tmpfs rw",
            "30 20 8:2 / /dev/shm rw - ext4 /dev/vdb rw",
        ] {
            assert!(!is_hidden(65534, OWN, other), "{other}");
        }
    }
}
