//! Limits that a shell sets: a sentence with what to change, and neither a bug nor a death without a word.

use std::os::unix::process::CommandExt;

use iolag_fixtures::skip_unless_root;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::user::{Said, User, said};

/// Nobody of this machine.
const USER: u32 = 61_234;

/// iolag with a limit, as an option of `ulimit`.
fn limited(user: &User, limit: &str, arguments: &[&str]) -> Said {
    let mut command = user.command("sh");
    let script = format!("ulimit {limit} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_iolag")]).args(arguments);
    said(command)
}

#[test]
fn too_few_descriptors_are_a_sentence_and_no_bug() {
    let user = User::new();
    let target = user.directory("target");
    for arguments in [
        &["bench", "metadata", &target][..],
        &["check", &target],
        &["ping", &target],
        &["watch", &target, "--once"],
        &["list"],
        &["show"],
        &["note", "something"],
        &["cleanup"],
    ] {
        let said = limited(&user, "-n 4", arguments);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.errors.contains("Too many open files"), "{arguments:?}: {said:?}");
        assert!(said.errors.contains("more open files (ulimit -n)"), "{arguments:?}: {said:?}");
    }
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
}

#[test]
fn too_few_processes_are_a_sentence_and_no_bug() {
    if skip_unless_root() {
        return;
    }
    // The program where that user reaches it, and a home that is its own.
    let place = tempfile::Builder::new().prefix("iolag-limits-").tempdir_in("/tmp").unwrap();
    let program = place.path().join("iolag");
    std::fs::copy(env!("CARGO_BIN_EXE_iolag"), &program).unwrap();
    std::os::unix::fs::chown(place.path(), Some(USER), Some(USER)).unwrap();
    let target = place.path().to_str().unwrap();
    for arguments in [&["check", target][..], &["ping", target], &["list"], &["note", "something"]] {
        let mut command = std::process::Command::new(&program);
        command.args(arguments).env("HOME", place.path()).current_dir(place.path()).uid(USER).gid(USER);
        // SAFETY: between fork and exec only a system call is made.
        unsafe {
            command.pre_exec(|| {
                let none = Rlimit { current: Some(1), maximum: Some(1) };
                setrlimit(Resource::Nproc, none).map_err(Into::into)
            });
        }
        let said = said(command);
        assert_eq!(said.code, 2, "{arguments:?}: {said:?}");
        assert!(said.errors.contains("more processes (ulimit -u"), "{arguments:?}: {said:?}");
    }
}

#[test]
fn a_limit_of_file_sizes_kills_nobody_without_a_word() {
    let user = User::new();
    let target = user.directory("target");
    let bench = ["-q", "bench", "metadata", &target, "-D1", "-P10", "-I5", "-R1"];
    // Below the size of the program, which is copied into memory.
    let said = limited(&user, "-f 60000", &bench);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.output.contains("(ulimit -f)"), "{said:?}");
    // Below that of what is shared.
    let said = limited(&user, "-f 10", &bench);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.errors.contains("shared memory") && said.errors.contains("larger files (ulimit -f)"),
        "{said:?}"
    );
    for arguments in [&["list"][..], &["check", &target, "--budget", "2s"], &["ping", &target, "-n1"]] {
        let said = limited(&user, "-f 0", arguments);
        assert!((0..=4).contains(&said.code), "{arguments:?}: {said:?}");
    }
}
