//! Histories that are missing, in the way, damaged, locked or of another time: one sentence each, and nothing is overwritten.

use std::os::unix::fs::symlink;
use std::time::Duration;

use iolag_fixtures::FuseMount;

use crate::user::{User, assert_refused};

const READING: [&[&str]; 2] = [&["show", "history"], &["export", "history"]];
const ALL: [&[&str]; 4] =
    [&["show", "history"], &["export", "history"], &["note", "x"], &["import", "t.csv"]];

fn user_with_history() -> User {
    let user = User::new();
    user.write("t.csv", "time,s\n1210204800,1.5\n1210205700,1.6\n");
    user.fine(&["import", "t.csv"]);
    user
}

/// The command must fail in this way; what `import` shows before it writes is none of the answer.
fn assert_all_refused(user: &User, history: &str, commands: &[&[&str]], parts: &[&str]) {
    for arguments in commands {
        let mut done = user.on(history, arguments);
        if arguments[0] == "import" {
            done.stdout.clear();
        }
        assert_refused(&done, 3, parts);
    }
}

#[test]
fn a_history_that_is_not_there_is_not_made_by_looking() {
    let user = User::new();
    let history = user.history.clone();
    assert_all_refused(&user, &history, &READING, &["no history at", "iolag watch", "--history"]);
    assert!(!std::path::Path::new(&history).exists());
}

#[test]
fn a_link_or_a_directory_is_no_history() {
    let user = user_with_history();
    symlink(&user.history, user.path("link.sqlite")).unwrap();
    let link = user.path("link.sqlite").display().to_string();
    assert_all_refused(&user, &link, &ALL, &["a symbolic link"]);
    let directory = user.path("target").display().to_string();
    assert_all_refused(&user, &directory, &ALL, &["a directory"]);
}

#[test]
fn a_newer_history_is_left_alone() {
    let user = user_with_history();
    let mut bytes = std::fs::read(&user.history).unwrap();
    // The version, in the header of every database of SQLite.
    bytes[60..64].copy_from_slice(&9999_u32.to_be_bytes());
    std::fs::write(&user.history, &bytes).unwrap();
    assert_all_refused(&user, &user.history, &ALL, &["has version 9999", "the iolag that wrote it"]);
    assert!(std::fs::read(&user.history).unwrap() == bytes);
}

#[test]
fn a_damaged_history_is_left_alone() {
    let user = user_with_history();
    let whole = std::fs::read(&user.history).unwrap();
    let mut bytes = whole.clone();
    bytes[4096..].iter_mut().for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7));
    std::fs::write(&user.history, &bytes).unwrap();
    assert_all_refused(&user, &user.history, &READING, &["is damaged"]);
    std::fs::write(
        &user.history,
        "this is no database, but somebody's letter of more than a hundred bytes, which nobody may overwrite",
    )
    .unwrap();
    assert_all_refused(&user, &user.history, &ALL, &[&user.history]);
    assert!(std::fs::read_to_string(&user.history).unwrap().starts_with("this is no database"));
}

#[test]
fn a_locked_history_is_waited_for_and_then_told() {
    let user = user_with_history();
    let other = rusqlite::Connection::open(&user.history).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done = user.iolag(&["note", "x"]);
    assert_refused(&done, 3, &["was locked by another process for more than", "nothing was written"]);
    // Looking needs no lock.
    user.fine(&["show", "history"]);
    other.execute_batch("ROLLBACK").unwrap();
    user.fine(&["note", "x"]);
}

#[test]
fn a_network_file_system_is_refused_and_one_that_hangs_is_not_waited_for() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let user = User::new();
    user.write("t.csv", "time,s\n1210204800,1.5\n1210205700,1.6\n");
    let history = mount.path().join("history.sqlite").display().to_string();
    assert_all_refused(&user, &history, &ALL, &["is on FUSE", "postgres://"]);
    assert_eq!(std::fs::read_dir(backing.path()).unwrap().count(), 0);
    // Ctrl-C ends a command whose child hangs in the kernel.
    mount.hang_all();
    let running = user.scene.start(&["show", "history", "--history", &history]);
    assert!(mount.wait_until_held(1, crate::support::PATIENCE));
    std::thread::sleep(Duration::from_millis(100));
    running.signal(libc::SIGINT);
    let done = running.finish();
    assert_eq!(done.code, Some(4), "{done:?}");
    mount.release();
    user.scene.assert_nobody_is_left();
}

#[test]
fn a_place_that_is_none_is_refused() {
    let user = User::new();
    let done = user.on("postgres://me:s3cret@", &["show", "history"]);
    assert!(!done.stderr.contains("s3cret"), "{}", done.stderr);
    assert_ne!(done.code, Some(0));
    let done = user.on("", &["show", "history"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    // Nobody listens on this port.
    for arguments in ALL {
        user.write("t.csv", "time,s\n1210204800,1.5\n");
        let done = user.on("postgres://me:s3cret@127.0.0.1:9/site", arguments);
        assert_eq!(done.code, Some(3), "{done:?}");
        assert_eq!(done.stderr.trim_end().lines().count(), 1, "{}", done.stderr);
        assert!(
            done.stderr.contains("cannot connect to the history postgres://me@127.0.0.1"),
            "{}",
            done.stderr
        );
        assert!(!done.stderr.contains("s3cret") && !done.stdout.contains("s3cret"), "{done:?}");
    }
}
