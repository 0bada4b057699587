//! Streams and trees on real file systems: what is written is what is read, each way of reading and writing works or is refused in a sentence, a tree
//! is the same tree everywhere, and nothing is left.

use std::fs;
use std::path::Path;

use iolag_fixtures::{DiskFormat, GlusterMount, LoopMount, SshfsMount, TmpfsMount};
use serde_json::Value;

use crate::user::{User, text};

const PHASES: &str = "write,read,rewrite,random-read,random-write";

#[test]
fn streams_and_trees_work_on_ext4() {
    let Some(mount) = LoopMount::ext4(32) else { return };
    works_on(mount.path(), "ext4");
}

#[test]
fn streams_and_trees_work_on_xfs() {
    let Some(mount) = LoopMount::new(DiskFormat::Xfs, 320) else { return };
    works_on(mount.path(), "xfs");
}

#[test]
fn streams_and_trees_work_on_btrfs() {
    let Some(mount) = LoopMount::new(DiskFormat::Btrfs, 192) else { return };
    works_on(mount.path(), "btrfs");
}

#[test]
fn streams_and_trees_work_on_tmpfs() {
    let Some(mount) = TmpfsMount::new(32 << 20) else { return };
    works_on(mount.path(), "tmpfs");
}

#[test]
fn streams_and_trees_work_on_sshfs() {
    let Some(mount) = SshfsMount::start() else { return };
    works_on(mount.path(), "fuse.sshfs");
}

#[test]
fn streams_and_trees_work_on_glusterfs() {
    let Some(mount) = GlusterMount::start() else { return };
    works_on(&mount.path(), "fuse.glusterfs");
}

fn works_on(mount: &Path, kind: &str) {
    let user = User::new();
    let directory = mount.join("streams");
    fs::create_dir(&directory).unwrap();
    let target = directory.to_str().unwrap();
    let buffered = stream(&user, target, &["--caches", "cold"]).expect("the page cache is everywhere");
    assert_eq!(user.record()["targets"][0]["file_system"]["kind"], kind);
    caches_are_cold_or_doubted(&buffered);
    for more in [&["--io", "dsync"][..], &["--engine", "io_uring", "--depth", "4"]] {
        assert!(stream(&user, target, more).is_some(), "{more:?}");
    }
    stream(&user, target, &["--io", "direct"]);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "nothing is left");
    same_tree_as_at_home(&user, mount);
}

/// All phases, with every block that is read compared with what was written. Only reading and writing past the cache may be refused, with its reason.
fn stream(user: &User, target: &str, more: &[&str]) -> Option<Value> {
    let words = ["bench", "stream", target, "-n", "2", "-s", "1MiB", "-b", "128KiB", "--phases", PHASES];
    let said = user.iolag(&[&words[..], &["--verify", "--format", "json", "-q"], more].concat());
    if more == ["--io", "direct"] && said.code != 0 {
        assert!([3, 4].contains(&said.code), "{said:?}");
        assert!(
            format!("{}{}", said.output, said.errors).to_lowercase().contains("invalid argument"),
            "{said:?}"
        );
        return None;
    }
    assert_eq!(said.code, 0, "{more:?}: {said:?}");
    let run: Value = serde_json::from_str(&said.output).unwrap();
    let phases = run["phases"].as_array().unwrap().iter();
    let moved: Vec<_> = phases.map(|phase| (text(phase, "phase"), phase["bytes"].as_u64())).collect();
    let all = PHASES.split(',').map(|phase| (phase, Some(2 << 20)));
    assert_eq!(moved, all.collect::<Vec<_>>(), "{more:?}");
    for row in run["stages"].as_array().unwrap().iter().flat_map(|stage| stage["rows"].as_array().unwrap()) {
        assert_eq!(row["summary"]["errors"].as_array().map(Vec::len), Some(0), "{more:?}: {row}");
    }
    Some(run)
}

/// What is in memory all the same, or nobody can tell, is a doubt above the numbers.
fn caches_are_cold_or_doubted(run: &Value) {
    let stages = run["stages"].as_array().unwrap().iter();
    let caches: Vec<&Value> =
        stages.map(|stage| &stage["caches"]).filter(|caches| !caches.is_null()).collect();
    assert_eq!(caches.len(), PHASES.split(',').count());
    let is_cold = |caches: &&Value| {
        let bytes = |name: &str| caches[name].as_u64();
        matches!((bytes("held_bytes"), bytes("resident_bytes")), (Some(held), Some(left)) if left * 100 <= held)
    };
    let doubts = run["trust"].to_string();
    let is_told = doubts.contains("caches were to be cold") || doubts.contains("nobody could tell");
    assert!(caches.iter().all(is_cold) || is_told, "{doubts}: {caches:?}");
}

fn same_tree_as_at_home(user: &User, mount: &Path) {
    let trees = [user.path("tree"), mount.join("tree")];
    let told = trees.map(|tree| {
        for directory in ["a", "a/deep"] {
            fs::create_dir_all(tree.join(directory)).unwrap();
        }
        for number in 0..12_u8 {
            let directory = ["", "a", "a/deep"][usize::from(number) % 3];
            let content = [number].repeat(usize::from(number) * 5000);
            fs::write(tree.join(directory).join(format!("file-{number}")), content).unwrap();
        }
        let words = ["bench", "tree", tree.to_str().unwrap(), "-n", "2", "--format", "json", "-q"];
        let run: Value = serde_json::from_str(&user.fine(&words).output).unwrap();
        let read = run["tree"]["stages"][1].clone();
        assert_eq!((&read["files"], &read["changed"]), (&12.into(), &0.into()), "{read}");
        (run["tree"]["found"].clone(), read["bytes"].clone(), read["checksum"].clone())
    });
    assert_eq!(told[0], told[1]);
}
