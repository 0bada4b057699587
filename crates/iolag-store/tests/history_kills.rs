//! kill -9 of a writer at random moments: what was acknowledged is there, what was not is there whole or not at all.
//!
//! One test alone in its process: a child is forked, and no other thread may hold a lock of SQLite's meanwhile.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[allow(dead_code, reason = "the other test program uses the rest")]
#[path = "history/arbitrary.rs"]
mod arbitrary;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use iolag_keeper::{Child, Orphanage};
use iolag_model::{HistoryRecord, Nanoseconds, Outcome, WallSpan};
use iolag_store::history::{Access, History, SqliteHistory};
use rustix::process::Signal;

use arbitrary::{key, sample};

const KILLS: u64 = 50;
/// Samples of a batch; each also supersedes the last of the batch before.
const BATCH: u64 = 40;

/// The number of acknowledged batches, in a file that the killed writer and the test share.
struct Ledger(File);

impl Ledger {
    fn set(&self, batches: u64) {
        self.0.write_all_at(&batches.to_le_bytes(), 0).unwrap();
    }

    fn get(&self) -> u64 {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, 0).unwrap();
        u64::from_le_bytes(bytes)
    }
}

fn batch(number: u64) -> Vec<HistoryRecord> {
    let list = key("login1", "list");
    let first = number * BATCH;
    let mut samples: Vec<_> =
        (first..first + BATCH).map(|number| sample(&list, number, Outcome::Hung, 60_000_000_000)).collect();
    if first > 0 {
        samples.push(sample(&list, first - 1, Outcome::Late, 61_000_000_000));
    }
    samples.into_iter().map(HistoryRecord::Sample).collect()
}

fn write_until_killed(path: &Path, ledger: &Ledger, begin: u64) -> ! {
    let mut history = SqliteHistory::open(path, Access::Create).unwrap();
    for number in begin.. {
        history.append(&batch(number)).unwrap();
        ledger.set(number + 1);
    }
    unreachable!("numbers do not end");
}

#[test]
fn fifty_kills_lose_nothing_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.sqlite");
    let ledger = Ledger(tempfile::tempfile_in(directory.path()).unwrap());
    ledger.set(0);
    let mut stored = 0;
    for kill in 0..KILLS {
        let begun = ledger.get();
        let mut writer =
            Child::fork("writer", Orphanage::Die, || write_until_killed(&path, &ledger, stored)).unwrap();
        wait_for_moment(kill, begun, &ledger);
        if kill.is_multiple_of(5) && begun > 0 {
            read_beside_the_writer(&path, begun);
        }
        writer.signal(Signal::KILL);
        writer.wait(Nanoseconds::from_seconds(60)).expect("a killed writer ends");
        stored = check(&path, ledger.get());
        // What was stored and not acknowledged any more is known now.
        ledger.set(stored);
    }
    assert!(stored > KILLS, "{stored} batches were written");
}

/// Every other time after a few batches, so that there are some on a busy machine too; then, or at once, after a while, spread evenly over
/// 0 to 29 ms.
fn wait_for_moment(kill: u64, begun: u64, ledger: &Ledger) {
    let limit = Instant::now() + Duration::from_secs(90);
    if kill.is_multiple_of(2) {
        while ledger.get() < begun + kill % 7 + 1 {
            assert!(Instant::now() < limit, "the writer writes nothing");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    std::thread::sleep(Duration::from_micros(kill * 7919 % 29_000));
}

fn read_beside_the_writer(path: &Path, acknowledged: u64) {
    let mut history = SqliteHistory::open(path, Access::ReadOnly).unwrap();
    let samples = history.samples(&key("login1", "list"), WallSpan::ALL).unwrap().len() as u64;
    assert!(samples >= acknowledged * BATCH && samples.is_multiple_of(BATCH), "{samples}");
}

/// Returns how many batches are stored, each as a whole.
fn check(path: &Path, acknowledged: u64) -> u64 {
    // Killed before it was made.
    if !path.exists() {
        return 0;
    }
    let mut history = SqliteHistory::open(path, Access::Create).unwrap();
    let columns = history.samples(&key("login1", "list"), WallSpan::ALL).unwrap();
    let stored = columns.len() as u64 / BATCH;
    assert_eq!(columns.len() as u64, stored * BATCH, "a batch is there whole or not at all");
    assert!(
        stored == acknowledged || stored == acknowledged + 1,
        "{stored} stored, {acknowledged} acknowledged"
    );
    let late = columns.outcome.iter().filter(|outcome| **outcome == Outcome::Late).count() as u64;
    assert_eq!(late, stored.saturating_sub(1));
    drop(history);
    let connection = rusqlite::Connection::open(path).unwrap();
    let verdict: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    stored
}
