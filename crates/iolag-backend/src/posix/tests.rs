//! What conformance cannot ask of every backend: bad targets, links, mounts, clean-up.

mod claims;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use iolag_model::{ClientId, ErrorClass, FailureCode, Verification};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

use super::*;
use crate::{Completion, ObjectKey, Request};

fn backend(target: &Path) -> PosixBackend {
    PosixBackend::new(target.to_owned(), WORKING_NAME).unwrap()
}

fn options() -> SessionOptions {
    SessionOptions::new(ClientId(0), 0, 1, 4096)
}

fn ask(session: &mut dyn Session, operation: Operation, index: u64, bytes: u64) -> Completion {
    let request = Request::new(operation, ObjectKey { rank: 0, dataset: 0, index }, bytes);
    session.prepare(&request);
    let completion = session.execute(&request);
    session.inspect(&request, completion)
}

/// A working set of `objects` objects of 100 bytes; returns its target.
fn working_set(objects: u64) -> (TempDir, PosixBackend) {
    let target = tempdir().unwrap();
    let backend = backend(target.path());
    backend.create_place(&crate::conformance::maker()).unwrap();
    let mut session = backend.open_session(&options()).unwrap();
    assert!(ask(session.as_mut(), Operation::MakeDirectory, 0, 0).is_ok());
    for index in 0..objects {
        assert!(ask(session.as_mut(), Operation::Create, index, 100).is_ok());
    }
    (target, backend)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A small tmpfs that is unmounted when dropped.
struct Mount(TempDir);

impl Mount {
    /// `None`, and a line that says why, where mounting is not possible.
    fn tmpfs(test: &str, options: &str) -> Option<Self> {
        let directory = tempdir().unwrap();
        let mounted = is_root()
            && Command::new("mount")
                .args(["-t", "tmpfs", "-o", options, "tmpfs"])
                .arg(directory.path())
                .status()
                .is_ok_and(|status| status.success());
        if !mounted {
            println!("SKIPPED {test}: mounting needs root and mount(8)");
        }
        mounted.then_some(Self(directory))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        drop(BindMount(self.path().to_owned()));
    }
}

/// A directory that is mounted a second time, until dropped.
struct BindMount(PathBuf);

impl BindMount {
    /// `None`, and a line that says why, where mounting is not possible.
    fn new(test: &str, from: &Path, to: &Path) -> Option<Self> {
        let mounted = is_root()
            && Command::new("mount")
                .arg("--bind")
                .args([from, to])
                .status()
                .is_ok_and(|status| status.success());
        if !mounted {
            println!("SKIPPED {test}: mounting needs root and mount(8)");
        }
        mounted.then(|| Self(to.to_owned()))
    }
}

impl Drop for BindMount {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(&self.0).status();
        assert!(status.is_ok_and(|status| status.success()), "{} stays mounted", self.0.display());
    }
}

#[test]
fn a_bad_target_gives_one_sentence() {
    let root = tempdir().unwrap();
    let file = root.path().join("file");
    fs::write(&file, "").unwrap();
    for (target, expected) in [
        (root.path().join("missing"), "missing: not found; check the spelling, or create it first"),
        (file, "is not a directory: name a directory to measure in"),
    ] {
        let error = backend(&target).create_place(&crate::conformance::maker()).unwrap_err().to_string();
        assert!(error.ends_with(expected) && !error.contains('\n'), "{error}");
    }
    for name in ["", ".", "..", "a/b", "a\0b", &"x".repeat(256)] {
        assert!(PosixBackend::new(root.path().to_owned(), name).is_err(), "{name:?}");
    }
}

#[test]
fn an_unwritable_target_is_refused() {
    let target = tempdir().unwrap();
    fs::set_permissions(target.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let error = std::thread::scope(|scope| {
        let tried = scope.spawn(|| {
            if is_root() {
                // SAFETY: the raw system call changes the effective user of this thread alone, which ends here.
                let answer = unsafe { libc::syscall(libc::SYS_setresuid, -1, 12345, -1) };
                assert_eq!(answer, 0);
            }
            backend(target.path()).create_place(&crate::conformance::maker()).unwrap_err().to_string()
        });
        tried.join().unwrap()
    });
    assert!(error.contains("permission denied; choose a directory that you may write to"), "{error}");
}

#[test]
fn a_read_only_target_is_refused() {
    let Some(mount) = Mount::tmpfs("a_read_only_target_is_refused", "ro,size=64k") else { return };
    let error = backend(mount.path()).create_place(&crate::conformance::maker()).unwrap_err().to_string();
    assert!(error.contains("read-only; choose a target that is mounted for writing"), "{error}");
}

#[test]
fn a_full_target_is_refused_and_left_as_it_was() {
    let Some(mount) = Mount::tmpfs("a_full_target_is_refused_and_left_as_it_was", "size=64k") else { return };
    // It is to fill up: the error is the purpose.
    let _ = fs::write(mount.path().join("filler"), vec![1; 1 << 20]);
    let error = backend(mount.path()).create_place(&crate::conformance::maker()).unwrap_err().to_string();
    assert!(error.contains("no space left; free some space"), "{error}");
    assert!(!mount.path().join(WORKING_NAME).exists(), "the working directory was left");
}

#[test]
fn a_target_that_fills_up_fails_the_operation_and_can_be_cleaned() {
    let name = "a_target_that_fills_up_fails_the_operation_and_can_be_cleaned";
    let Some(mount) = Mount::tmpfs(name, "size=256k") else { return };
    let backend = backend(mount.path());
    backend.create_place(&crate::conformance::maker()).unwrap();
    let mut session = backend.open_session(&options()).unwrap();
    assert!(ask(session.as_mut(), Operation::MakeDirectory, 0, 0).is_ok());
    let full = (0..1000)
        .map(|index| ask(session.as_mut(), Operation::Create, index, 4096))
        .find(|completion| !completion.is_ok())
        .unwrap();
    assert_eq!(full.code.class(), ErrorClass::NoSpace);
    assert_eq!(backend.remove_place().unwrap(), []);
}

#[test]
fn the_working_directory_is_closed_to_others() {
    let (target, _) = working_set(0);
    let mode = fs::metadata(target.path().join(WORKING_NAME)).unwrap().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[test]
fn an_empty_directory_that_others_may_write_to_is_refused() {
    let target = tempdir().unwrap();
    let working = target.path().join(WORKING_NAME);
    fs::create_dir(&working).unwrap();
    fs::set_permissions(&working, fs::Permissions::from_mode(0o777)).unwrap();
    let error = backend(target.path()).create_place(&crate::conformance::maker()).unwrap_err().to_string();
    assert!(error.contains("is a directory that others may write to"), "{error}");
    if is_root() {
        fs::set_permissions(&working, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::chown(&working, Some(12345), None).unwrap();
        let error =
            backend(target.path()).create_place(&crate::conformance::maker()).unwrap_err().to_string();
        assert!(error.contains("is a directory of another user"), "{error}");
    }
}

#[test]
fn a_link_or_a_file_as_working_directory_is_refused_everywhere() {
    let elsewhere = tempdir().unwrap();
    fs::create_dir(elsewhere.path().join("0_0")).unwrap();
    fs::write(elsewhere.path().join("0_0/file-0"), "precious").unwrap();
    let target = tempdir().unwrap();
    symlink(elsewhere.path(), target.path().join(WORKING_NAME)).unwrap();
    let linked = backend(target.path());
    let errors = [
        linked.create_place(&crate::conformance::maker()).unwrap_err(),
        linked.reopen_place().unwrap_err(),
        linked.open_session(&options()).map(|_| ()).unwrap_err(),
        linked.inventory(0, 0).unwrap_err(),
        linked.remove_place().unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("is a symbolic link, not what iolag made there"), "{error}");
    }
    assert_eq!(fs::read(elsewhere.path().join("0_0/file-0")).unwrap(), b"precious");
    fs::remove_file(target.path().join(WORKING_NAME)).unwrap();
    fs::write(target.path().join(WORKING_NAME), "").unwrap();
    let error = linked.create_place(&crate::conformance::maker()).unwrap_err().to_string();
    assert!(error.contains("is a file, not what iolag made there"), "{error}");
}

#[test]
fn a_linked_dataset_is_refused_and_not_followed() {
    let (target, backend) = working_set(1);
    let elsewhere = tempdir().unwrap();
    fs::write(elsewhere.path().join("file-0"), "precious").unwrap();
    symlink(elsewhere.path(), target.path().join(WORKING_NAME).join("1_0")).unwrap();
    for error in
        [backend.reopen_place().unwrap_err(), backend.open_session(&options()).map(|_| ()).unwrap_err()]
    {
        assert!(error.to_string().contains("1_0 is a symbolic link"), "{error}");
    }
    assert!(backend.inventory(1, 0).is_err());
    let leftovers = backend.remove_place().unwrap();
    assert_eq!(leftovers.len(), 1, "{leftovers:?}");
    assert!(leftovers[0].path.ends_with("1_0") && leftovers[0].reason.contains("a symbolic link"));
    assert_eq!(fs::read(elsewhere.path().join("file-0")).unwrap(), b"precious");
}

#[test]
fn a_linked_object_is_not_followed() {
    let (target, backend) = working_set(0);
    let elsewhere = target.path().join("precious");
    fs::write(&elsewhere, "precious").unwrap();
    let link = target.path().join(WORKING_NAME).join("0_0/file-0");
    symlink(&elsewhere, &link).unwrap();
    let mut session = backend.open_session(&options()).unwrap();
    for operation in [
        Operation::Create,
        Operation::Read,
        Operation::Write,
        Operation::CallOpen,
        Operation::CallCreate,
        Operation::StreamWrite,
        Operation::StreamRead,
    ] {
        let completion = ask(session.as_mut(), operation, 0, 8);
        assert_eq!(completion.code, FailureCode::from_errno(libc::ELOOP), "{operation}");
    }
    let leftovers = backend.remove_place().unwrap();
    assert_eq!(leftovers.len(), 1, "{leftovers:?}");
    assert_eq!(fs::read(&elsewhere).unwrap(), b"precious");
}

#[test]
fn another_directory_of_the_same_name_is_not_touched() {
    let (target, backend) = working_set(1);
    let working = target.path().join(WORKING_NAME);
    fs::rename(&working, target.path().join("moved")).unwrap();
    fs::create_dir_all(working.join("0_0")).unwrap();
    fs::write(working.join("0_0/file-0"), "precious").unwrap();
    assert!(matches!(backend.remove_place(), Err(BackendError::Moved { .. })));
    for error in
        [backend.reopen_place().unwrap_err(), backend.open_session(&options()).map(|_| ()).unwrap_err()]
    {
        assert!(
            error.to_string().contains("another directory than the one that this run made")
                || error.to_string().contains("nothing shows which run made it"),
            "{error}"
        );
    }
    assert_eq!(fs::read(working.join("0_0/file-0")).unwrap(), b"precious");
}

#[test]
fn a_working_directory_that_somebody_moves_is_told_and_one_that_is_removed_is_not() {
    let (directory, backend) = working_set(1);
    let (from, to) = (directory.path().join(WORKING_NAME), directory.path().join("mine"));
    backend.refuse_moved().unwrap();
    fs::rename(&from, &to).unwrap();
    // Whether something has its name meanwhile or nothing.
    for _ in 0..2 {
        let error = backend.remove_place().unwrap_err();
        assert!(
            matches!(&error, BackendError::Moved { now, .. } if *now == to.display().to_string()),
            "{error}"
        );
        fs::create_dir_all(&from).unwrap();
    }
    assert!(to.join("0_0").exists());
    fs::remove_dir_all(&to).unwrap();
    backend.refuse_moved().unwrap();
}

#[test]
fn clean_up_removes_a_tree_of_check_and_leaves_the_rest() {
    let (target, backend) = working_set(3);
    let working = target.path().join(WORKING_NAME);
    let precious = target.path().join("precious");
    fs::write(&precious, "precious").unwrap();
    fs::create_dir_all(working.join("check-compile/a/b")).unwrap();
    fs::write(working.join("check-compile/a/b/main.c"), "").unwrap();
    symlink(&precious, working.join("check-compile/link")).unwrap();
    symlink(target.path(), working.join("check-compile/a/up")).unwrap();
    fs::write(working.join("0_0/file-007"), "").unwrap();
    fs::create_dir(working.join("0_0/file-9")).unwrap();
    fs::create_dir(working.join("0_01")).unwrap();
    fs::write(working.join("check-file"), "").unwrap();
    let mut leftovers = backend.remove_place().unwrap();
    leftovers.sort_by(|a, b| a.path.cmp(&b.path));
    let left: Vec<String> =
        leftovers.iter().map(|left| left.path.rsplit_once("iolag-work/").unwrap().1.to_owned()).collect();
    assert_eq!(left, ["0_0/file-007", "0_0/file-9", "0_01", "check-file"], "{leftovers:?}");
    assert!(!working.join("check-compile").exists() && !working.join("0_0/file-0").exists());
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    for name in ["0_0/file-9", "0_01"] {
        fs::remove_dir(working.join(name)).unwrap();
    }
    for name in ["0_0/file-007", "check-file"] {
        fs::remove_file(working.join(name)).unwrap();
    }
    assert_eq!(backend.remove_place().unwrap(), [], "what is half removed can be removed");
    assert!(!working.exists());
}

#[test]
fn clean_up_waits_for_what_a_file_system_keeps_of_open_files() {
    let (target, backend) = working_set(3);
    let kept = target.path().join("iolag-work/0_0/.fuse_hidden0000000100000001");
    fs::write(&kept, "").unwrap();
    let closing = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(120));
        fs::remove_file(kept).unwrap();
    });
    assert_eq!(backend.remove_place().unwrap(), []);
    closing.join().unwrap();
    assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0);

    let (target, backend) = working_set(3);
    let held = target.path().join("iolag-work/0_0/.nfs000000000000000100000001");
    fs::write(held, "").unwrap();
    let left = backend.remove_place().unwrap();
    assert!(left.len() == 1 && left[0].path.ends_with("0_0"), "{left:?}");
    assert!(left[0].reason.contains("not empty"), "{left:?}");
}

#[test]
fn clean_up_does_not_dig_without_end() {
    let (target, backend) = working_set(0);
    let mut deep = target.path().join(WORKING_NAME).join("check-deep");
    for _ in 0..40 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let leftovers = backend.remove_place().unwrap();
    assert_eq!(leftovers.len(), 1);
    assert!(leftovers[0].reason.contains("directories deep"), "{leftovers:?}");
}

#[test]
fn leftovers_without_number_are_counted_not_listed() {
    let (target, backend) = working_set(5);
    for number in 0..1200 {
        fs::write(target.path().join(WORKING_NAME).join(format!("0_0/notes-{number}")), "").unwrap();
    }
    let leftovers = backend.remove_place().unwrap();
    assert_eq!(leftovers.len(), 1001);
    assert_eq!(leftovers.last().unwrap().path, "200 more");
}

#[test]
fn clean_up_crosses_no_mount_point() {
    let (target, backend) = working_set(1);
    let working = target.path().join(WORKING_NAME);
    // The same file system, mounted a second time: only the attribute tells.
    let precious = target.path().join("precious");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("file-0"), "precious").unwrap();
    fs::create_dir_all(working.join("check-a/mounted")).unwrap();
    fs::create_dir(working.join("5_5")).unwrap();
    let name = "clean_up_crosses_no_mount_point";
    let Some(inner) = BindMount::new(name, &precious, &working.join("check-a/mounted")) else { return };
    let Some(dataset) = BindMount::new(name, &precious, &working.join("5_5")) else { return };
    let leftovers = backend.remove_place().unwrap();
    assert_eq!(leftovers.len(), 2, "{leftovers:?}");
    assert!(leftovers.iter().all(|left| left.reason.contains("another file system is mounted there")));
    assert_eq!(fs::read(precious.join("file-0")).unwrap(), b"precious");
    drop((inner, dataset));
    assert_eq!(backend.remove_place().unwrap(), []);
}

#[test]
fn a_target_that_vanishes_fails_the_operations_only() {
    let (target, backend) = working_set(1);
    let mut session = backend.open_session(&options()).unwrap();
    fs::remove_dir_all(target.path()).unwrap();
    for operation in [Operation::Stat, Operation::Create, Operation::List, Operation::MakeDirectory] {
        let completion = ask(session.as_mut(), operation, 0, 1);
        assert_eq!(completion.code.class(), ErrorClass::NotFound, "{operation}");
    }
    assert!(backend.remove_place().unwrap_err().to_string().contains("not found"));
}

#[test]
fn an_object_longer_than_the_buffer_is_moved_in_pieces() {
    let (target, backend) = working_set(0);
    let mut session = backend.open_session(&options()).unwrap();
    assert_eq!(ask(session.as_mut(), Operation::Create, 0, 10_001), Completion::ok(10_001));
    assert_eq!(ask(session.as_mut(), Operation::Read, 0, 10_001), Completion::ok(10_001));
    let bytes = fs::read(target.path().join(WORKING_NAME).join("0_0/file-0")).unwrap();
    assert_eq!(bytes.len(), 10_001);
    let too_long = SessionOptions { bytes_max: 1 << 40, verification: Verification::Content, ..options() };
    let error = backend.open_session(&too_long).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("too long to compare their content"), "{error}");
}

/// What stands in a directory of the working directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thing {
    File,
    Directory,
    Link,
}

fn thing() -> impl Strategy<Value = (&'static str, &'static str, Thing)> {
    (
        prop::sample::select(vec!["0_0", "17_3", "check-x", "data", "00_1"]),
        prop::sample::select(vec!["file-0", "file-12", "file-012", "check-y", "notes"]),
        prop::sample::select(vec![Thing::File, Thing::Directory, Thing::Link]),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn clean_up_removes_exactly_what_is_ours(things in prop::collection::vec(thing(), 0..12)) {
        let (target, backend) = working_set(0);
        let working = target.path().join(WORKING_NAME);
        let precious = target.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file-0"), "precious").unwrap();
        let mut made = Vec::new();
        for (top, name, thing) in things {
            let path = working.join(top).join(name);
            fs::create_dir_all(working.join(top)).unwrap();
            let is_new = match thing {
                Thing::File => fs::File::create_new(&path).is_ok(),
                Thing::Directory => fs::create_dir(&path).is_ok(),
                Thing::Link => symlink(&precious, &path).is_ok(),
            };
            if is_new {
                made.push((top, name, thing, path));
            }
        }
        let leftovers = backend.remove_place().unwrap();
        for (top, name, thing, path) in made {
            let is_ours = match top {
                "0_0" | "17_3" => matches!(name, "file-0" | "file-12") && thing == Thing::File,
                "check-x" => true,
                _ => false,
            };
            prop_assert_eq!(path.symlink_metadata().is_err(), is_ours, "{} {:?}", path.display(), thing);
            let path = path.display().to_string();
            let is_told = leftovers.iter().any(|left| path.starts_with(&left.path));
            prop_assert_eq!(is_told, !is_ours, "{}", path);
        }
        prop_assert_eq!(working.exists(), !leftovers.is_empty());
        prop_assert_eq!(fs::read(precious.join("file-0")).unwrap(), b"precious");
    }
}
