//! `iolag bench tree` as it is typed and by a plan: what was found, read and summed, what was left out, and that nothing in the tree changed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use iolag_fixtures::{BindMount, TmpfsMount};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};

use crate::user::User;

/// 30 files in 4 directories, with everything that people have in trees.
fn grow(root: &Path) {
    for directory in ["a", "a/deep", "b", "empty"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    for number in 0..26_usize {
        let directory = ["", "a", "a/deep", "b"][number % 4];
        let text = [b'0' + number as u8].repeat(number * 1000);
        fs::write(root.join(directory).join(format!("file-{number}")), text).unwrap();
    }
    fs::write(root.join(OsStr::from_bytes(b"b/caf\xe9")), b"no text").unwrap();
    fs::write(root.join("b/two\nlines"), b"").unwrap();
    File::create(root.join("hole")).unwrap().set_len(3 << 20).unwrap();
    fs::write(root.join("a/closed"), b"nobody").unwrap();
    symlink("/etc/passwd", root.join("a/out")).unwrap();
    symlink("..", root.join("a/deep/up")).unwrap();
    symlink("nowhere", root.join("b/dangling")).unwrap();
    UnixListener::bind(root.join("socket")).unwrap();
    mknodat(CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
}

const FILES: u64 = 30;
const BYTES: u64 = 325 * 1000 + 7 + (3 << 20) + 6;
const NAMES: u64 = FILES + 4 + 3 + 2;

fn grown(user: &User) -> String {
    let root = user.directory("tree");
    grow(Path::new(&root));
    root
}

fn document(user: &User, words: &[&str]) -> Value {
    let all = [&["bench", "tree"], words, &["--format", "json", "-q"]].concat();
    serde_json::from_str(&user.fine(&all).output).unwrap()
}

fn phase<'a>(run: &'a Value, name: &str) -> &'a Value {
    let phases = run["phases"].as_array().unwrap();
    phases.iter().find(|phase| phase["phase"] == name).unwrap_or_else(|| panic!("{name}: {run:#}"))
}

/// What find(1) would tell of every name in a tree, and when it was accessed and changed last.
fn every_name(root: &Path) -> Vec<(PathBuf, u64, i64, i64, i64, u32)> {
    let (mut left, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(path) = left.pop() {
        let told = fs::symlink_metadata(&path).unwrap();
        let changes = (told.atime_nsec() ^ told.atime(), told.mtime_nsec() ^ told.mtime());
        found.push((path.clone(), told.len(), changes.0, changes.1, told.ctime_nsec(), told.mode()));
        if told.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

#[test]
fn all_of_a_tree_is_found_asked_for_and_read_by_any_number_of_clients_and_nothing_in_it_changes() {
    let user = User::new();
    let root = grown(&user);
    // The walk of this test comes first: it sets the times of directories.
    every_name(Path::new(&root));
    let before = every_name(Path::new(&root));
    assert_eq!(before.len() as u64, NAMES + 1, "and the tree itself");
    let mut checksums = Vec::new();
    for clients in ["1", "2", "4"] {
        let run = document(&user, &[&root, "-n", clients, "--phases", "stat,sum,combined,sum"]);
        let found = json!({"files": FILES, "directories": 4, "links": 3, "special": 2, "mount_points": 0, "unread_directories": 0});
        assert_eq!(run["tree"]["found"], found, "{clients}");
        for (name, handled, bytes) in
            [("walk", 5, 0), ("stat", NAMES, 0), ("sum", FILES, BYTES), ("combined", NAMES, BYTES)]
        {
            let phase = phase(&run, name);
            assert_eq!((&phase["handled"], &phase["bytes"]), (&handled.into(), &bytes.into()), "{phase}");
            assert!(phase["handled_per_second"].as_f64().unwrap() > 0.0);
            // Who waits for the others takes a processor for it, which is no work.
            let [taken, time] = ["processor_time_ns", "time_ns"].map(|key| phase[key].as_u64().unwrap());
            let most = clients.parse::<u64>().unwrap() * (time + 30_000);
            assert!(taken > 0 && taken <= most, "{clients}: {phase}");
            assert_eq!(phase["processors"].is_null(), time < 5_000_000, "{phase}");
        }
        let stages = run["tree"]["stages"].as_array().unwrap();
        let told: Vec<_> =
            stages.iter().map(|stage| (&stage["names"], &stage["size_bytes"], &stage["files"])).collect();
        let (names, all, files, none) = (NAMES.into(), BYTES.into(), FILES.into(), 0.into());
        assert_eq!(told[..3], [(&names, &all, &none), (&none, &none, &files), (&names, &all, &files)]);
        checksums.extend(stages[1..].iter().map(|stage| stage["checksum"].clone()));
        assert!(stages.iter().all(|stage| stage["changed"] == 0 && stage["access_times"] == 0));
    }
    assert!(checksums.iter().all(|checksum| *checksum == checksums[0]), "{checksums:?}");
    assert_eq!(every_name(Path::new(&root)), before);
    let told = user.fine(&["show", "last"]).output;
    for expected in [
        "The tree has 30 files, 4 directories, 3 symbolic links, 2 special files below it.",
        "Left out: 3 symbolic links (not followed), 2 special files (not opened).",
        &format!("Sum read 30 files of 3.31 MiB, checksum {}.", checksums[0].as_str().unwrap()),
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let said = user.fine(&["cleanup", "last"]).output;
    assert!(said.contains("has left nothing on its targets"), "{said}");
    assert!(user.record()["targets"][0]["working_place"].is_null());
}

#[test]
fn equal_trees_have_equal_checksums_and_a_byte_is_a_difference() {
    let user = User::new();
    let (one, other) = (grown(&user), user.directory("other"));
    grow(Path::new(&other));
    let checksum =
        |root: &str| document(&user, &[root, "--phases", "sum"])["tree"]["stages"][0]["checksum"].clone();
    assert_eq!(checksum(&one), checksum(&other));
    let mut text = fs::read(Path::new(&other).join("b/file-3")).unwrap();
    text[17] ^= 1;
    fs::write(Path::new(&other).join("b/file-3"), text).unwrap();
    assert_ne!(checksum(&one), checksum(&other));
}

#[test]
fn what_may_not_be_read_is_a_failure_that_is_told_and_the_rest_is_measured() {
    let user = User::new();
    let root = grown(&user);
    let of_root = |name: &str| Path::new(&root).join(name);
    fs::set_permissions(of_root("a/closed"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(of_root("a/deep"), fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read all the same, as root may, is told so by the storage.
    let target = match File::open(of_root("a/closed")).is_ok() {
        true => format!("faulty:tree.list:eacces@#3,tree.read:eacces@#2:{root}"),
        false => root.clone(),
    };
    let run = document(&user, &[&target, "--phases", "sum"]);
    fs::set_permissions(of_root("a/deep"), fs::Permissions::from_mode(0o755)).unwrap();
    let read = phase(&run, "sum")["handled"].as_u64().unwrap();
    assert_eq!(read, run["tree"]["found"]["files"].as_u64().unwrap() - 1, "{run:#}");
    let findings = run["findings"].to_string();
    assert!(findings.contains("tree.read") && findings.contains("tree.list"), "{findings}");
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains(&format!("Sum succeeded for {read} of {}.", read + 1)), "{told}");
}

#[test]
fn what_is_mounted_below_is_told_and_not_entered_also_where_it_is_the_tree_itself() {
    let user = User::new();
    let root = grown(&user);
    let Some(other) = TmpfsMount::new(1 << 20) else { return };
    fs::write(other.path().join("far"), b"away").unwrap();
    let _mounts = [(other.path(), "empty"), (Path::new(&root), "a/deep")]
        .map(|(source, place)| BindMount::new(source, &Path::new(&root).join(place)).unwrap());
    let run = document(&user, &[&root]);
    let found = &run["tree"]["found"];
    assert_eq!((&found["mount_points"], &found["directories"]), (&2.into(), &2.into()), "{found}");
    // Those of a/deep are below what is mounted there.
    assert_eq!((&found["files"], phase(&run, "sum")["handled"].clone()), (&24.into(), 24.into()));
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains("Left out: 2 mount points below"), "{told}");
}

#[test]
fn a_phase_ends_with_its_time_and_says_how_much_it_did() {
    let user = User::new();
    let root = grown(&user);
    let target = format!("delayed:tree.stat=20ms,tree.read=20ms:{root}");
    let run = document(&user, &[&target, "-w", "100ms"]);
    for name in ["stat", "sum"] {
        let handled = phase(&run, name)["handled"].as_u64().unwrap();
        assert!((1..=6).contains(&handled), "{name}: {handled}");
    }
    let endings = |run: &Value| ["walk", "stat", "sum"].map(|name| phase(run, name)["ending"].clone());
    assert_eq!(endings(&run), ["done", "time-limit", "time-limit"]);
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains(" of one processor."), "{told}");
    for all in [NAMES, FILES] {
        assert!(told.contains(&format!(" of {all} until its time was up.")), "{told}");
    }
    // So does the walk; what it found until then is all that there is.
    let target = format!("delayed:tree.list=60ms:{root}");
    let run = document(&user, &[&target, "-w", "100ms"]);
    assert_eq!(endings(&run), ["time-limit", "done", "done"]);
    let told = user.fine(&["show", "last"]).output;
    assert!(told.contains("The walk read 2 directories until its time was up: the tree has more"), "{told}");
}

#[test]
fn targets_are_compared_by_rates_and_a_campaign_goes_on_where_it_ended() {
    let user = User::new();
    let root = grown(&user);
    let slow = format!("delayed:tree.stat=3ms,tree.read=3ms:{root}");
    let words = ["bench", "tree", &root, &slow, "--repeat", "2", "-n", "1,2"];
    let said = user.fine(&words);
    assert!(said.output.contains("the rate") && said.output.contains("tree.stat"), "{said:?}");
    let campaign = user.record()["campaign"].as_str().unwrap().to_owned();
    let again = user.fine(&[&words[..], &["--resume", &campaign]].concat());
    assert!(again.errors.contains("8 of 8 runs are already complete"), "{again:?}");
    let page = user.path("page.html");
    user.fine(&["report", "last", "-o", page.to_str().unwrap()]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Trees") && page.contains("--phases stat,sum --clients"), "{page}");
}

#[test]
fn a_plan_says_what_is_typed() {
    let user = User::new();
    let root = grown(&user);
    let plan = |keys: &str| {
        fs::write(user.path("plan.toml"), format!("[[bench]]\nworkload = \"tree\"\n{keys}")).unwrap();
        user.iolag(&["run", "plan.toml", &root, "-q"])
    };
    let said = plan("clients = [2]\nphases = [\"combined\", \"stat\"]\ntime-limit = \"9s\"\n");
    assert_eq!(said.code, 0, "{said:?}");
    let expected =
        json!({"kind": "tree", "phases": ["combined", "stat"], "time_limit_ns": 9_000_000_000_u64});
    assert_eq!(user.record()["spec"]["workload"], expected);
    let said = plan("phases = [\"write\"]\n");
    assert!(
        said.code == 2
            && said.errors.contains("plan.toml:3: \"write\": expected one of: stat, sum, combined"),
        "{said:?}"
    );
}

#[test]
fn caches_are_dropped_before_each_phase_or_that_is_told() {
    let user = User::new();
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    grow(directory.path());
    let run = document(&user, &[directory.path().to_str().unwrap(), "--caches", "cold"]);
    let doubts = run["trust"].to_string();
    match run["stages"][2]["caches"]["is_done"].as_bool() {
        Some(true) => {
            let caches = &run["stages"][2]["caches"];
            assert_eq!(caches["held_bytes"], BYTES, "{caches}");
            assert!(caches["resident_bytes"].as_u64().unwrap() < BYTES, "{caches}");
        }
        _ => assert!(doubts.contains("the caches could not be made what they were to be"), "{doubts}"),
    }
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let user = User::new();
    let root = grown(&user);
    let file = format!("{root}/hole");
    let empty = format!("{root}/empty");
    let absent = format!("{root}/absent");
    for (words, code, expected) in [
        (&[file.as_str()][..], 3, "it is not a directory"),
        (&[&absent], 3, "it does not exist"),
        (&["memory:"], 2, "memory: has no tree of files that could be read: name a directory"),
        (&[&root, "--phases", ""], 2, "expected one of: stat, sum, combined"),
        (&[&root, "--caches", "warm"], 2, "give each phase twice"),
        (&[&root, "--working-name", "x"], 2, "leave out the working name"),
        (&[&root, "--bystander", "create"], 2, "leave create out of --bystander"),
        (&[&root, "--format", "md-workbench"], 2, "is for iolag bench metadata"),
        (&[user.path("").to_str().unwrap()], 2, "name a store elsewhere with --store"),
    ] {
        let said = user.iolag(&[&["bench", "tree"], words].concat());
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.errors.contains(expected), "{words:?}: {said:?}");
    }
    let help = user.fine(&["bench", "tree", "--help"]).output;
    for refused in ["warm", "--working-name", "memory:", "md-workbench"] {
        assert!(!help.contains(refused), "{refused} is offered: {help}");
    }
    let said = user.iolag(&["bench", "tree", &empty]);
    assert!(
        said.code == 4 && said.output.contains("the tree is empty: there is nothing to ask for"),
        "{said:?}"
    );
}
