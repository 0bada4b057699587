//! What SQLite has of its own: the file, its versions, its locks, its failures.

use std::cell::Cell;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use iolag_fixtures::{FuseMount, LoopMount};
use iolag_model::{HistoryRecord, Outcome, WallSpan};
use iolag_store::history::{
    Access, History, HistoryError, SqliteHistory, is_server, open_history, shown_place,
};
use rusqlite::Connection;

use crate::arbitrary::{key, sample};
use crate::conformance;

#[test]
fn sqlite_is_a_history() {
    let directory = tempfile::tempdir().unwrap();
    let number = Cell::new(0);
    let open = || -> Box<dyn History> {
        number.set(number.get() + 1);
        let path = directory.path().join(format!("history-{}.sqlite", number.get()));
        Box::new(SqliteHistory::open(&path, Access::Create).unwrap())
    };
    conformance::check(&open, 64);
}

fn samples(count: u64) -> Vec<HistoryRecord> {
    let list = key("login1", "list");
    (0..count)
        .map(|number| HistoryRecord::Sample(sample(&list, number, Outcome::Ok, 5_000_000 + number)))
        .collect()
}

fn create(path: &Path) -> SqliteHistory {
    SqliteHistory::open(path, Access::Create).unwrap()
}

fn count(history: &mut dyn History) -> usize {
    history.samples(&key("login1", "list"), WallSpan::ALL).unwrap().len()
}

#[test]
fn the_file_is_its_owners_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let mut history = create(&path);
    history.append(&samples(10)).unwrap();
    let mut files = 0;
    for entry in directory.path().read_dir().unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        files += 1;
    }
    assert_eq!(files, 3, "the file, its log, and the index of that");
    assert_eq!(history.path(), path.canonicalize().unwrap());
}

#[test]
fn only_files_are_opened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    drop(create(&path));
    let (link, dangling) = (directory.path().join("link"), directory.path().join("dangling"));
    symlink(&path, &link).unwrap();
    symlink(directory.path().join("nowhere"), &dangling).unwrap();
    for (place, what) in
        [(&link, "symbolic link"), (&dangling, "symbolic link"), (&directory.path().to_owned(), "directory")]
    {
        for access in [Access::ReadOnly, Access::ReadWrite, Access::Create] {
            let message = SqliteHistory::open(place, access).unwrap_err().to_string();
            assert!(message.contains(what), "{message}");
        }
    }
    let missing = directory.path().join("missing");
    for access in [Access::ReadOnly, Access::ReadWrite] {
        let error = SqliteHistory::open(&missing, access).unwrap_err();
        assert!(matches!(error, HistoryError::Missing { .. }), "{error}");
    }
    let error = SqliteHistory::open(&missing.join("history"), Access::Create).unwrap_err();
    assert!(matches!(error, HistoryError::Missing { .. }), "{error}");
    assert!(!missing.exists() && !directory.path().join("nowhere").exists());
}

#[test]
fn a_fuse_mount_is_refused() {
    let backing = tempfile::tempdir().unwrap();
    let Some(mount) = FuseMount::start(backing.path()) else { return };
    let error = SqliteHistory::open(&mount.path().join("history"), Access::Create).unwrap_err();
    assert!(matches!(error, HistoryError::NetworkFileSystem { file_system: "FUSE", .. }), "{error}");
    assert_eq!(backing.path().read_dir().unwrap().count(), 0);
}

#[test]
fn readers_read_while_a_writer_writes_and_write_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let mut writer = create(&path);
    writer.append(&samples(5)).unwrap();
    let mut reader = SqliteHistory::open(&path, Access::ReadOnly).unwrap();
    assert_eq!(count(&mut reader), 5);
    let held = Connection::open(&path).unwrap();
    held.execute_batch("BEGIN IMMEDIATE; UPDATE series SET unit = 'half done'").unwrap();
    assert_eq!(count(&mut reader), 5, "a transaction that is under way hinders no reader");
    assert_eq!(reader.series().unwrap()[0].unit, "");
    held.execute_batch("ROLLBACK").unwrap();
    writer.append(&samples(9)).unwrap();
    assert_eq!(count(&mut reader), 9);
    let error = reader.append(&samples(10)).unwrap_err();
    assert!(matches!(error, HistoryError::ReadOnly { .. }) && !error.is_passing(), "{error}");
}

#[test]
fn a_consistent_state_is_exported_while_a_writer_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let mut writer = create(&path);
    writer.append(&samples(5)).unwrap();
    let mut reader = SqliteHistory::open(&path, Access::ReadOnly).unwrap();
    let mut seen = 0;
    reader
        .records(WallSpan::ALL, &mut |_| {
            if seen == 0 {
                writer.append(&samples(9)).unwrap();
            }
            seen += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 5);
    let error =
        reader.records(WallSpan::ALL, &mut |_| Err(std::io::ErrorKind::BrokenPipe.into())).unwrap_err();
    assert!(matches!(error, HistoryError::Sink { .. }), "{error}");
    assert_eq!(count(&mut reader), 9, "an export that was ended leaves no transaction behind");
}

#[test]
fn a_locked_history_takes_nothing_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let mut history =
        SqliteHistory::open_with_patience(&path, Access::Create, Duration::from_millis(300)).unwrap();
    history.append(&samples(3)).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begin = Instant::now();
    let error = history.append(&samples(8)).unwrap_err();
    assert!(matches!(error, HistoryError::Busy { .. }) && error.is_passing(), "{error}");
    assert!(begin.elapsed() >= Duration::from_millis(250), "others are waited for");
    assert_eq!(count(&mut history), 3);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(history.append(&samples(8)).unwrap().changed, 5);
    assert_eq!(count(&mut history), 8);
}

#[test]
fn a_full_disk_keeps_what_was_acknowledged() {
    let Some(mount) = LoopMount::ext4(6) else { return };
    let somebody_elses = mount.path().join("ballast");
    std::fs::write(&somebody_elses, vec![1; 2 << 20]).unwrap();
    let path = mount.path().join("history.sqlite");
    let mut history = create(&path);
    let list = key("login1", "list");
    let batch = |number: u64| -> Vec<_> {
        (number * 100..number * 100 + 100)
            .map(|number| HistoryRecord::Sample(sample(&list, number, Outcome::Ok, number)))
            .collect()
    };
    let error = history.append(&samples(60_000)).unwrap_err();
    assert!(matches!(error, HistoryError::Full { .. }) && count(&mut history) == 0, "{error}");
    let mut acknowledged = 0;
    let error = loop {
        assert!(acknowledged < 10_000, "the disk never fills");
        match history.append(&batch(acknowledged)) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, HistoryError::Full { .. }) && error.is_passing(), "{error}");
    assert!(acknowledged > 10, "{acknowledged}");
    assert_eq!(count(&mut history) as u64, acknowledged * 100);
    drop(history);
    mount.fill().unwrap();
    let error = SqliteHistory::open(&path, Access::ReadWrite).unwrap_err();
    assert!(matches!(error, HistoryError::Full { .. }), "{error}");
    std::fs::remove_file(&somebody_elses).unwrap();
    let mut history = SqliteHistory::open(&path, Access::ReadWrite).unwrap();
    assert_eq!(count(&mut history) as u64, acknowledged * 100);
    let verdict: String =
        Connection::open(&path).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    history.append(&batch(acknowledged)).unwrap();
    assert_eq!(count(&mut history) as u64, acknowledged * 100 + 100);
}

#[test]
fn looking_takes_no_space_and_says_so_if_somebody_writes_meanwhile() {
    let Some(mount) = LoopMount::ext4(6) else { return };
    let ballast = mount.path().join("ballast");
    std::fs::write(&ballast, vec![1; 2 << 20]).unwrap();
    let path = mount.path().join("50%41 of #1?.sqlite");
    create(&path).append(&samples(50)).unwrap();
    mount.fill().unwrap();
    let mut reader = SqliteHistory::open(&path, Access::ReadOnly).unwrap();
    assert_eq!(count(&mut reader), 50);
    let error = reader.append(&samples(60)).unwrap_err();
    assert!(matches!(error, HistoryError::Full { .. }), "{error}");

    std::fs::remove_file(&ballast).unwrap();
    let mut writer = create(&path);
    writer.append(&samples(70)).unwrap();
    let error = reader.samples(&key("login1", "list"), WallSpan::ALL).unwrap_err();
    assert!(matches!(error, HistoryError::Changed { .. }) && error.is_passing(), "{error}");
    let mut next = SqliteHistory::open(&path, Access::ReadOnly).unwrap();
    assert_eq!(count(&mut next), 70);
    drop((reader, next, writer));
    assert_eq!(count(&mut create(&path)), 70, "nothing of what was read unlocked got into the file");
}

#[test]
fn a_file_that_is_not_ours_to_write_is_looked_at_unless_a_log_belongs_to_it() {
    let Some(mount) = LoopMount::ext4(6) else { return };
    let path = mount.path().join("history.sqlite");
    create(&path).append(&samples(5)).unwrap();
    mount.remount_read_only().unwrap();
    assert_eq!(count(&mut SqliteHistory::open(&path, Access::ReadOnly).unwrap()), 5);

    mount.remount_writable().unwrap();
    let mut writer = create(&path);
    writer.append(&samples(9)).unwrap();
    let log = mount.path().join("history.sqlite-wal");
    let kept = std::fs::read(&log).unwrap();
    drop(writer);
    std::fs::write(&log, kept).unwrap();
    mount.remount_read_only().unwrap();
    let error = SqliteHistory::open(&path, Access::ReadOnly).unwrap_err();
    assert!(error.to_string().contains("its log needs a directory that you may write to"), "{error}");
}

/// A history of some pages, closed, one of whose leaves holds nonsense.
fn damaged(path: &Path) -> Vec<u8> {
    let mut history = create(path);
    history.append(&samples(5000)).unwrap();
    drop(history);
    let mut bytes = std::fs::read(path).unwrap();
    for page in 40..60 {
        bytes[page * 4096..page * 4096 + 4096].fill(0xa5);
    }
    std::fs::write(path, &bytes).unwrap();
    bytes
}

#[test]
fn damage_is_told_and_nothing_is_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let bytes = damaged(&path);
    let mut history = SqliteHistory::open(&path, Access::ReadOnly).unwrap();
    let error = history.samples(&key("login1", "list"), WallSpan::ALL).unwrap_err();
    assert!(matches!(error, HistoryError::Damaged { .. }) && !error.is_passing(), "{error}");
    drop(history);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);

    let text = directory.path().join("text");
    std::fs::write(&text, "This is no database.\n".repeat(100)).unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite, Access::Create] {
        let message = SqliteHistory::open(&text, access).unwrap_err().to_string();
        assert!(message.contains("is damaged") && message.contains("docs/history.md"), "{message}");
    }
    assert!(std::fs::read(&text).unwrap().starts_with(b"This is no database."));
}

#[test]
fn a_file_is_checked_after_an_unclean_end_and_only_then() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    damaged(&path);
    let open = || SqliteHistory::open(&path, Access::ReadWrite);
    drop(open().expect("a clean end needs no check"));
    // A log without anybody who has it open, as a killed writer leaves it.
    let log = directory.path().join("history.sqlite-wal");
    std::fs::write(&log, [0; 64]).unwrap();
    let error = open().unwrap_err();
    assert!(matches!(error, HistoryError::Damaged { .. }), "{error}");
    let _ = std::fs::remove_file(&log);
    // With a living reader the log is as it should be.
    let holder = open().unwrap();
    holder_writes(&path);
    assert!(log.metadata().unwrap().len() > 0);
    open().expect("somebody has it open: nobody was killed");
    drop(holder);
}

fn holder_writes(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("UPDATE series SET unit = 's'").unwrap();
}

#[test]
fn files_of_other_programs_are_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("bookmarks.sqlite");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = std::fs::read(&path).unwrap();
    for access in [Access::ReadOnly, Access::ReadWrite, Access::Create] {
        let error = SqliteHistory::open(&path, access).unwrap_err();
        assert!(matches!(error, HistoryError::Foreign { .. }), "{error}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_place_is_a_path_or_a_url() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let mut history = open_history(path.to_str().unwrap(), Access::Create).unwrap();
    assert!(history.hosts().unwrap().is_empty());
    assert_eq!(shown_place("/var/lib/iolag"), "/var/lib/iolag");
    assert!(is_server("postgresql://x") && !is_server("/postgres"));
    let error = open_history("mysql://me:geheim@host/x", Access::Create).err().unwrap();
    assert!(matches!(error, HistoryError::Place { .. }) && !error.to_string().contains("geheim"), "{error}");
}

#[test]
fn the_view_for_people_shows_seconds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    create(&path).append(&samples(1)).unwrap();
    let row = Connection::open(&path).unwrap().query_row(
        "SELECT task, duration_s, outcome, censored, intended_utc FROM samples",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
    );
    let expected: (String, f64, String, bool, String) =
        ("list".into(), 0.005, "ok".into(), false, "2023-11-14 22:13:20".into());
    assert_eq!(row.unwrap(), expected);
}
