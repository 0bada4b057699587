//! kill -9 of a writer at random moments: nothing that was acknowledged is lost, nothing is doubled.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use iolag_keeper::{Child, Orphanage};
use iolag_model::{Event, EventSource, HistoryRecord, Nanoseconds, WallTime};
use iolag_watch::{Backing, Keeping, RuntimeDirectory, Spool};
use rustix::process::Signal;

const KILLS: u64 = 200;

/// A ledger of four numbers in a file that the killed writer and the test share.
struct Ledger(File);

/// Records are numbered from 0; each entry is a number of records.
#[derive(Clone, Copy)]
enum Entry {
    AppendBegun,
    Appended,
    RemovalBegun,
    Removed,
}

impl Ledger {
    fn set(&self, entry: Entry, number: u64) {
        self.0.write_all_at(&number.to_le_bytes(), entry as u64 * 8).unwrap();
    }

    fn get(&self, entry: Entry) -> u64 {
        let mut bytes = [0; 8];
        self.0.read_exact_at(&mut bytes, entry as u64 * 8).unwrap();
        u64::from_le_bytes(bytes)
    }
}

fn record(number: u64) -> HistoryRecord {
    HistoryRecord::Event(Event {
        id: number.to_string(),
        host: "node".into(),
        // Sizes from a line to several pages, so that a write is often under way.
        text: "x".repeat((number * 7919 % 12_289) as usize),
        ..Event::of_all(EventSource::Watch, WallTime(number as i64))
    })
}

fn number_of(record: &HistoryRecord) -> u64 {
    let HistoryRecord::Event(event) = record else { panic!("not made here: {record:?}") };
    event.id.parse().unwrap()
}

/// Appends and removes without end, from what an earlier writer left.
fn write_until_killed(directory: &Path, ledger: &Ledger) -> ! {
    let directory = RuntimeDirectory::open_on(directory, Backing::Anything).unwrap();
    let (mut spool, left_over) = Spool::open(&directory).unwrap();
    let mut next = left_over.last().map_or(ledger.get(Entry::Removed), |last| number_of(last) + 1);
    let mut removed = left_over.first().map_or(next, number_of);
    loop {
        ledger.set(Entry::AppendBegun, next + 1);
        assert_eq!(spool.append(&record(next)), Keeping::Spooled);
        next += 1;
        ledger.set(Entry::Appended, next);
        // From time to time some, sometimes all: marks, rewriting and emptying are all met.
        let count = match next % 97 {
            0 => spool.pending().len(),
            13 | 47 | 60 => spool.pending().len() / 2,
            _ => 0,
        };
        if count > 0 {
            ledger.set(Entry::RemovalBegun, removed + count as u64);
            spool.hand_over(count);
            spool.remove_first(count);
            removed += count as u64;
            ledger.set(Entry::Removed, removed);
        }
    }
}

#[test]
fn two_hundred_kills_lose_nothing_that_was_acknowledged() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("runtime");
    let ledger = Ledger(tempfile::tempfile_in(place.path()).unwrap());
    ledger.0.set_len(32).unwrap();
    let mut survived = 0;
    for kill in 0..KILLS {
        let begun = ledger.get(Entry::Appended);
        let mut writer =
            Child::fork("writer", Orphanage::Die, || write_until_killed(&path, &ledger)).unwrap();
        wait_for_moment(kill, begun, &ledger, &mut writer);
        writer.signal(Signal::KILL);
        writer.wait(Nanoseconds::from_seconds(60)).expect("a killed writer ends");
        survived += check(&path, &ledger, kill);
    }
    assert!(ledger.get(Entry::Removed) > 1000, "{} records went through", ledger.get(Entry::Removed));
    assert!(survived > KILLS, "{survived} records were found after kills");
}

/// Every other time after a number of appends, so that there are some on a busy machine too; then, or at once, after a while: both
/// sequences are spread evenly, over 0 to 150 appends and over 0 to 13 ms.
fn wait_for_moment(kill: u64, begun: u64, ledger: &Ledger, writer: &mut Child) {
    if kill % 2 == 1 {
        while ledger.get(Entry::Appended) < begun + kill * 31 % 151 {
            assert_eq!(writer.wait(Nanoseconds(50_000)), None, "the writer goes on until it is killed");
        }
        std::thread::sleep(Duration::from_micros(kill * 79 % 131));
    } else {
        std::thread::sleep(Duration::from_micros(kill * 7_919 % 13_001));
    }
}

/// Compares what a killed writer left with the ledger; returns how many records it left.
fn check(path: &Path, ledger: &Ledger, kill: u64) -> u64 {
    let directory = RuntimeDirectory::open_on(path, Backing::Anything).unwrap();
    let (_, left_over) = Spool::open(&directory).unwrap();
    for (place, found) in left_over.iter().enumerate() {
        let number = number_of(&left_over[0]) + place as u64;
        assert_eq!(*found, record(number), "kill {kill}: in order, whole, none missing, none twice");
    }
    let removed =
        ledger.get(Entry::Removed)..=ledger.get(Entry::RemovalBegun).max(ledger.get(Entry::Removed));
    let appended =
        ledger.get(Entry::Appended)..=ledger.get(Entry::AppendBegun).max(ledger.get(Entry::Appended));
    match (left_over.first(), left_over.last()) {
        (Some(first), Some(last)) => {
            assert!(
                removed.contains(&number_of(first)),
                "kill {kill}: begins with {}, removed {removed:?}",
                number_of(first)
            );
            assert!(
                appended.contains(&(number_of(last) + 1)),
                "kill {kill}: ends with {}, appended {appended:?}",
                number_of(last)
            );
        }
        _ => assert!(
            removed.end() >= appended.start(),
            "kill {kill}: empty, but removed {removed:?} of {appended:?}"
        ),
    }
    // What the next writer finds is what the ledger says from now on.
    let next = left_over.last().map_or_else(|| *appended.start(), |last| number_of(last) + 1);
    let first = left_over.first().map_or(next, number_of);
    for (entry, number) in [
        (Entry::AppendBegun, next),
        (Entry::Appended, next),
        (Entry::RemovalBegun, first),
        (Entry::Removed, first),
    ] {
        ledger.set(entry, number);
    }
    left_over.len() as u64
}
