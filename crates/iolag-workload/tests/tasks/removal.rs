//! What probes made is removed, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use iolag_workload::{TaskOutput, TaskSpec, remove_probe_files};

use crate::support::{names, probe, shell_command};

const WATCH: &str = "iolag-watch-0-node1-296230c0";

fn probe_everything(target: &Path) {
    for name in TaskSpec::builtin_names() {
        let place = target.join(WATCH).join(name);
        fs::create_dir_all(&place).expect("the target is writable");
        let spec = match TaskSpec::from_name(name).expect("it is built in") {
            TaskSpec::List { output, .. } => TaskSpec::List { files: 12, output },
            other => other,
        };
        // Without a compiler one of them cannot be prepared.
        let _ = probe(&place, &spec);
    }
    // As a probe leaves it that was ended.
    fs::write(target.join(WATCH).join("create/created/file-7"), "left").expect("the target is writable");
}

#[test]
fn everything_that_tasks_make_is_removed() {
    let target = tempfile::tempdir().unwrap();
    fs::write(target.path().join("thesis.tex"), "mine").unwrap();
    probe_everything(target.path());
    assert_eq!(remove_probe_files(target.path(), WATCH).unwrap(), []);
    assert_eq!(names(target.path()), ["thesis.tex"]);
    assert_eq!(remove_probe_files(target.path(), WATCH).unwrap(), [], "a clean target stays clean");
}

#[test]
fn what_others_put_there_stays_and_is_told() {
    let (target, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("file-1"), "precious").unwrap();
    probe_everything(target.path());
    let watch = target.path().join(WATCH);
    let command = watch.join("mine");
    fs::create_dir(&command).unwrap();
    probe(&command, &shell_command("echo x > result", TaskOutput::Discard)).unwrap();
    fs::write(watch.join("note"), "a file where directories are").unwrap();
    symlink(outside.path(), watch.join("link")).unwrap();
    symlink(outside.path(), watch.join("stat/created")).unwrap();
    fs::create_dir(watch.join("stat/written")).unwrap();
    let left = remove_probe_files(target.path(), WATCH).unwrap();
    let mut paths: Vec<_> =
        left.iter().map(|left| left.path.strip_prefix(&format!("{}/", watch.display())).unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["link", "mine/result", "note", "stat/created", "stat/written"]);
    assert_eq!(names(&watch), ["link", "mine", "note", "stat"]);
    assert_eq!(names(outside.path()), ["file-1"]);
}

#[test]
fn links_strange_names_and_other_owners_are_refused() {
    let (target, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(outside.path().join("stat")).unwrap();
    symlink(outside.path(), target.path().join(WATCH)).unwrap();
    assert!(remove_probe_files(target.path(), WATCH).is_err());
    assert_eq!(names(outside.path()), ["stat"]);
    for name in ["", ".", "..", "a/b", "a\0b"] {
        assert!(remove_probe_files(target.path(), name).is_err(), "{name:?}");
    }
    fs::remove_file(target.path().join(WATCH)).unwrap();
    fs::create_dir(target.path().join(WATCH)).unwrap();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    fs::set_permissions(target.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let refused = crate::killed::in_child(|| {
        // SAFETY: changes this process only; its user becomes one who owns nothing.
        unsafe { libc::syscall(libc::SYS_setresuid, 4711, 4711, 4711) };
        fs::set_permissions(target.path(), fs::Permissions::from_mode(0o777)).expect_err("not the owner");
        i32::from(remove_probe_files(target.path(), WATCH).is_err())
    });
    assert_eq!(refused, Some(1));
    assert_eq!(names(target.path()), [WATCH]);
}

/// As it stays where a process is killed that looks whose its files are.
const OWNER: &str = ".owner-00000000000000000000000000000001";

#[test]
fn root_removes_what_it_made_as_whomever_and_not_what_another_user_planted() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let target = tempfile::tempdir().unwrap();
    fs::set_permissions(target.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let watch = target.path().join(WATCH);
    fs::create_dir_all(watch.join("stat")).unwrap();
    fs::write(watch.join("stat/file"), "").unwrap();
    fs::write(watch.join(OWNER), "").unwrap();
    let everything = [&watch, &watch.join("stat"), &watch.join("stat/file"), &watch.join(OWNER)];
    for planted in everything {
        chown(planted, Some(65534), None).unwrap();
    }
    let refused = remove_probe_files(target.path(), WATCH).unwrap_err();
    assert_eq!(refused.failure.errno(), Some(1));
    assert!(refused.message.contains("it is a directory of another user"), "{}", refused.message);
    assert!(refused.message.contains(&watch.display().to_string()), "{}", refused.message);
    assert_eq!(names(&watch), [OWNER, "stat"]);

    let as_mapped = |user: u32| {
        let path = target.path().to_owned();
        let remove = move || {
            // SAFETY: of this thread only, which stays root but makes files as another user, as with root squash.
            unsafe { libc::setfsuid(user) };
            remove_probe_files(&path, WATCH)
        };
        std::thread::spawn(remove).join().unwrap()
    };
    assert!(as_mapped(4711).is_err());
    assert_eq!(names(&watch), [OWNER, "stat"]);
    fs::set_permissions(&watch, fs::Permissions::from_mode(0o777)).unwrap();
    assert_eq!(as_mapped(65534).unwrap_err().failure.errno(), Some(1), "others may have put something there");
    fs::set_permissions(&watch, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(as_mapped(65534).unwrap(), []);
    assert!(names(target.path()).is_empty());
}
