//! The spool against a model, damage, full file systems and too many records.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use iolag_fixtures::TmpfsMount;
use iolag_model::{
    Event, EventSource, HistoryRecord, HistorySample, Nanoseconds, Outcome, ProbeId, SeriesKey, WallTime,
};
use iolag_watch::{Backing, Keeping, RuntimeDirectory, RuntimeError, Spool, SpoolLimits, SpoolLosses};
use proptest::prelude::*;

fn runtime(path: &Path) -> RuntimeDirectory {
    RuntimeDirectory::open_on(&path.join("runtime"), Backing::Anything).unwrap()
}

fn sample(number: u64, outcome: Outcome) -> HistoryRecord {
    HistoryRecord::Sample(HistorySample::new(
        SeriesKey {
            host: "node".into(),
            target: "/scratch".into(),
            task: "list".into(),
            part: String::new(),
        },
        ProbeId(number),
        WallTime(number as i64),
        Nanoseconds(number),
        outcome,
    ))
}

fn event(number: u64, text_bytes: usize) -> HistoryRecord {
    HistoryRecord::Event(Event {
        id: format!("{number:x}"),
        host: "node".into(),
        kind: "line\nfeed \u{1F4A5} \"quoted\"".into(),
        text: "x".repeat(text_bytes),
        ..Event::of_all(EventSource::Watch, WallTime(number as i64))
    })
}

fn numbers(records: &[HistoryRecord]) -> Vec<u64> {
    let number = |record: &HistoryRecord| match record {
        HistoryRecord::Sample(sample) => sample.probe.0,
        HistoryRecord::Event(event) => u64::from_str_radix(&event.id, 16).unwrap(),
        other => panic!("not made here: {other:?}"),
    };
    records.iter().map(number).collect()
}

fn append_all(spool: &mut Spool, records: impl Iterator<Item = HistoryRecord>) {
    for record in records {
        spool.append(&record);
    }
}

fn file_bytes(directory: &RuntimeDirectory) -> u64 {
    directory.path().join("spool").metadata().unwrap().len()
}

#[test]
fn what_was_appended_is_there_again_and_what_was_removed_is_not() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let (mut spool, left_over) = Spool::open(&directory).unwrap();
    assert!(left_over.is_empty() && spool.pending().is_empty());
    for number in 0..10 {
        assert_eq!(spool.append(&event(number, 100)), Keeping::Spooled);
    }
    spool.remove_first(4);
    drop(spool);
    let (mut spool, left_over) = Spool::open(&directory).unwrap();
    assert_eq!(left_over, (4..10).map(|number| event(number, 100)).collect::<Vec<_>>());
    assert_eq!(spool.pending(), left_over);
    spool.append(&event(10, 1));
    spool.remove_first(7);
    assert_eq!(file_bytes(&directory), 0, "an empty spool takes no memory");
    spool.append(&event(11, 1));
    assert_eq!(
        numbers(&Spool::open(&directory).unwrap().1),
        [11],
        "a number after a removal is not taken for removed"
    );
    assert_eq!((spool.trouble(), spool.losses()), (None, SpoolLosses::default()));
}

#[test]
fn what_waits_in_another_runtime_directory_is_taken_over_once() {
    let (place, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (directory, older) = (runtime(place.path()), runtime(other.path()));
    append_all(&mut Spool::open(&older).unwrap().0, (0..3).map(|number| event(number, 50)));
    let (mut spool, _) = Spool::open(&directory).unwrap();
    spool.append(&event(3, 50));
    assert_eq!(spool.take_over(&older).unwrap(), 3);
    assert_eq!(spool.take_over(&older).unwrap(), 0);
    assert_eq!(numbers(spool.pending()), [3, 0, 1, 2]);
    assert_eq!(file_bytes(&older), 0);
    // What does not find room stays where it is, too.
    append_all(&mut Spool::open(&older).unwrap().0, [event(4, 5000)].into_iter());
    let limits = SpoolLimits { file_bytes_max: 2000, records_max: 100 };
    drop(spool);
    let (mut spool, _) = Spool::open_with(&directory, limits).unwrap();
    assert_eq!((spool.take_over(&older).unwrap(), spool.unspooled()), (1, 1));
    assert_eq!(numbers(&Spool::open(&older).unwrap().1), [4]);
}

#[test]
fn removed_records_give_their_memory_back() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let (mut spool, _) = Spool::open(&directory).unwrap();
    for number in 0..2000 {
        spool.append(&event(number, 1000));
        if number >= 20 {
            spool.remove_first(1);
        }
        assert!(file_bytes(&directory) < 300_000, "{} bytes for 20 records", file_bytes(&directory));
    }
    assert_eq!(numbers(&Spool::open(&directory).unwrap().1), (1980..2000).collect::<Vec<_>>());
}

#[test]
fn a_torn_end_is_cut_off_and_the_spool_goes_on_behind_what_is_whole() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let (mut spool, _) = Spool::open(&directory).unwrap();
    append_all(&mut spool, (0..3).map(|number| event(number, 50)));
    drop(spool);
    let path = directory.path().join("spool");
    let whole = std::fs::read(&path).unwrap();
    let last = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for torn_bytes in 1..whole.len() - last {
        std::fs::write(&path, &whole[..last + torn_bytes]).unwrap();
        let (mut spool, left_over) = Spool::open(&directory).unwrap();
        assert_eq!(numbers(&left_over), [0, 1]);
        assert_eq!(spool.losses().torn_bytes, torn_bytes as u64);
        spool.append(&event(7, 1));
        assert_eq!(numbers(&Spool::open(&directory).unwrap().1), [0, 1, 7]);
    }
}

#[test]
fn any_flipped_bit_ends_the_file_there() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let (mut spool, _) = Spool::open(&directory).unwrap();
    append_all(&mut spool, (0..3).map(|number| sample(number, Outcome::Ok)));
    drop(spool);
    let path = directory.path().join("spool");
    let whole = std::fs::read(&path).unwrap();
    let line_bytes = whole.len() / 3;
    for at in (0..whole.len()).step_by(3) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 7);
        std::fs::write(&path, &damaged).unwrap();
        let (_, left_over) = Spool::open(&directory).unwrap();
        assert_eq!(left_over.len(), at / line_bytes, "byte {at}");
    }
}

#[test]
fn a_line_of_a_newer_iolag_is_an_error_and_not_damage() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let payload = br#"{"record":"of another kind"}"#;
    let head = format!("r2 {:016x} {:08x} ", 5, payload.len());
    let mut checked = head.clone().into_bytes();
    checked.extend(payload);
    let mut line = format!("{head}{:08x} ", crc32fast::hash(&checked)).into_bytes();
    line.extend(payload);
    line.push(b'\n');
    std::fs::write(directory.path().join("spool"), &line).unwrap();
    let error = Spool::open(&directory).unwrap_err();
    assert!(matches!(error, RuntimeError::Damaged { .. }));
    assert!(error.to_string().contains("at byte 0 was written by a newer iolag"), "{error}");
    assert_eq!(std::fs::read(directory.path().join("spool")).unwrap(), line, "and it is left as it is");
}

#[test]
fn what_the_file_has_no_room_for_waits_in_memory_and_moves_up() {
    let place = tempfile::tempdir().unwrap();
    let directory = runtime(place.path());
    let limits = SpoolLimits { file_bytes_max: 4000, ..SpoolLimits::STANDARD };
    let (mut spool, _) = Spool::open_with(&directory, limits).unwrap();
    let spooled = (0..10).filter(|number| spool.append(&event(*number, 800)) == Keeping::Spooled).count();
    assert_eq!(spooled, 4);
    assert!(file_bytes(&directory) <= 4000);
    let trouble = spool.trouble().unwrap();
    assert!(
        trouble.starts_with("6 records wait in memory alone") && trouble.contains("the 4000 bytes"),
        "{trouble}"
    );
    spool.remove_first(4);
    assert_eq!(numbers(spool.pending()), [4, 5, 6, 7, 8, 9]);
    assert_eq!(numbers(&Spool::open(&directory).unwrap().1), [4, 5, 6, 7], "they moved up");
    spool.remove_first(5);
    assert_eq!(spool.trouble(), None);
    assert_eq!(numbers(&Spool::open(&directory).unwrap().1), [9]);
}

#[test]
fn a_full_file_system_loses_nothing_as_long_as_the_watch_lives() {
    let Some(mount) = TmpfsMount::new(256 << 10) else { return };
    let directory = RuntimeDirectory::open(&mount.path().join("runtime")).unwrap();
    let (mut spool, _) = Spool::open(&directory).unwrap();
    let mut spooled = 0;
    for number in 0..400 {
        let keeping = spool.append(&event(number, 1000));
        assert!(keeping == Keeping::MemoryOnly || spooled == number, "once it is full, order is kept");
        spooled += u64::from(keeping == Keeping::Spooled);
    }
    assert!((100..300).contains(&spooled), "{spooled}");
    assert!(spool.trouble().unwrap().contains("No space left on device"), "{:?}", spool.trouble());
    assert_eq!(numbers(spool.pending()), (0..400).collect::<Vec<_>>());
    assert_eq!(numbers(&Spool::open(&directory).unwrap().1), (0..spooled).collect::<Vec<_>>());
    assert!(directory.replace_file("status.json", &[b'x'; 9000]).is_err());
    assert_eq!(
        directory.read_file("status.json.new", 1).unwrap(),
        None,
        "what could not be written is removed"
    );

    let first = numbers(spool.hand_over(300));
    assert_eq!(first, (0..300).collect::<Vec<_>>());
    spool.remove_first(300);
    assert_eq!(spool.trouble(), None);
    assert_eq!(numbers(&Spool::open(&directory).unwrap().1), (300..400).collect::<Vec<_>>());
}

#[test]
fn a_line_for_half_of_which_there_was_space_is_not_left_in_the_way() {
    let Some(mount) = TmpfsMount::new(256 << 10) else { return };
    let directory = RuntimeDirectory::open(&mount.path().join("runtime")).unwrap();
    let ballast = mount.path().join("ballast");
    std::fs::write(&ballast, [b'x'; 100 << 10]).unwrap();
    let (mut spool, _) = Spool::open(&directory).unwrap();
    let mut count = 0;
    while spool.append(&event(count, 3000)) == Keeping::Spooled {
        count += 1;
    }
    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(spool.append(&event(count + 1, 3000)), Keeping::Spooled);
    let (reopened, left_over) = Spool::open(&directory).unwrap();
    assert_eq!(numbers(&left_over), (0..count + 2).collect::<Vec<_>>());
    assert_eq!(reopened.losses().torn_bytes, 0);
}

#[test]
fn without_space_to_rewrite_the_file_it_stands_and_nothing_is_left_beside_it() {
    let Some(mount) = TmpfsMount::new(256 << 10) else { return };
    let directory = RuntimeDirectory::open(&mount.path().join("runtime")).unwrap();
    let (mut spool, _) = Spool::open(&directory).unwrap();
    let mut count = 0;
    while spool.append(&event(count, 3000)) == Keeping::Spooled {
        count += 1;
    }
    let removed = count * 3 / 5;
    spool.remove_first(removed as usize);
    assert_eq!(directory.read_file("spool.new", 1).unwrap(), None);
    assert_eq!(numbers(spool.pending()), (removed..=count).collect::<Vec<_>>());
    drop(spool);
    // Whether the mark still had space decides if the removed ones come back; none of the others may be missing.
    let left_over = numbers(&Spool::open(&directory).unwrap().1);
    let first = left_over[0];
    assert!(first == 0 || first == removed, "{first} of {removed}");
    assert_eq!(left_over, (first..count).collect::<Vec<_>>());
}

#[test]
fn too_many_records_lose_skipped_slots_first_and_it_is_told() {
    let place = tempfile::tempdir().unwrap();
    let limits = SpoolLimits { records_max: 640, ..SpoolLimits::STANDARD };
    let (mut spool, _) = Spool::open_with(&runtime(place.path()), limits).unwrap();
    for number in 0..640 {
        let outcome = if number % 2 == 0 { Outcome::Skipped } else { Outcome::Ok };
        spool.append(&sample(number, outcome));
    }
    assert_eq!(spool.losses().records(), 0);
    spool.append(&event(640, 1));
    assert_eq!(spool.losses(), SpoolLosses { skipped: 11, ..SpoolLosses::default() });
    assert_eq!(numbers(&spool.pending()[..13]), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 22, 23]);
    let trouble = spool.trouble().unwrap();
    assert!(trouble.starts_with("11 records were dropped, since more than 640 waited"), "{trouble}");
    append_all(&mut spool, (641..1700).map(|number| event(number, 1)));
    let losses = spool.losses();
    assert_eq!((losses.skipped, losses.samples), (320, 320));
    assert!(losses.others > 0);
    assert_eq!(losses.records() + spool.pending().len() as u64, 1700, "every one is there or told");
    assert_eq!(*numbers(spool.pending()).last().unwrap(), 1699);
}

#[test]
fn what_the_history_is_being_given_is_not_dropped_meanwhile() {
    let place = tempfile::tempdir().unwrap();
    let limits = SpoolLimits { records_max: 100, ..SpoolLimits::STANDARD };
    let directory = runtime(place.path());
    let (mut spool, _) = Spool::open_with(&directory, limits).unwrap();
    append_all(&mut spool, (0..100).map(|number| sample(number, Outcome::Skipped)));
    assert_eq!(numbers(spool.hand_over(60)), (0..60).collect::<Vec<_>>());
    append_all(&mut spool, (100..150).map(|number| sample(number, Outcome::Skipped)));
    assert_eq!(spool.losses().skipped, 50);
    assert_eq!(numbers(&spool.pending()[..60]), (0..60).collect::<Vec<_>>());
    spool.remove_first(60);
    assert_eq!(numbers(spool.pending()), (110..150).collect::<Vec<_>>());
    assert_eq!(*numbers(&Spool::open(&directory).unwrap().1).last().unwrap(), 149);
}

/// What may happen to a spool.
#[derive(Debug, Clone)]
enum Step {
    Append { text_bytes: usize },
    Remove { count: usize },
    Reopen { junk: Vec<u8> },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..200_usize).prop_map(|text_bytes| Step::Append { text_bytes }),
        2 => (10_000..40_000_usize).prop_map(|text_bytes| Step::Append { text_bytes }),
        4 => (0..6_usize).prop_map(|count| Step::Remove { count }),
        1 => proptest::collection::vec(any::<u8>(), 0..60).prop_map(|junk| Step::Reopen { junk }),
    ];
    proptest::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The model: numbers in order, of which a known count is acknowledged. Reopening keeps a beginning that has all of those.
    #[test]
    fn any_life_of_a_spool_equals_the_model(steps in steps(), file_bytes_max in prop_oneof![Just(64_u64 << 20), 200..120_000_u64]) {
        let place = tempfile::tempdir().unwrap();
        let directory = runtime(place.path());
        let limits = SpoolLimits { file_bytes_max, ..SpoolLimits::STANDARD };
        let mut spool = Spool::open_with(&directory, limits).unwrap().0;
        let (mut model, mut acknowledged, mut next): (Vec<u64>, usize, u64) = (Vec::new(), 0, 0);
        for step in steps {
            match step {
                Step::Append { text_bytes } => {
                    model.push(next);
                    if spool.append(&event(next, text_bytes)) == Keeping::Spooled {
                        acknowledged = model.len();
                    }
                    next += 1;
                }
                Step::Remove { count } => {
                    spool.remove_first(count);
                    model.drain(..count.min(model.len()));
                    acknowledged = acknowledged.saturating_sub(count);
                }
                Step::Reopen { junk } => {
                    drop(spool);
                    let mut file = OpenOptions::new().append(true).open(directory.path().join("spool")).unwrap();
                    file.write_all(&junk).unwrap();
                    let (opened, left_over) = Spool::open_with(&directory, limits).unwrap();
                    prop_assert_eq!(opened.losses().torn_bytes, junk.len() as u64);
                    prop_assert!(left_over.len() >= acknowledged);
                    model.truncate(left_over.len());
                    acknowledged = model.len();
                    prop_assert_eq!(numbers(&left_over), &model[..]);
                    spool = opened;
                }
            }
            prop_assert_eq!(numbers(spool.pending()), &model[..]);
            prop_assert_eq!(spool.losses().records(), 0);
        }
        let all_acknowledged = spool.trouble().is_none();
        let left_over = numbers(&Spool::open(&directory).unwrap().1);
        prop_assert!(model.starts_with(&left_over) && left_over.len() >= acknowledged);
        prop_assert!(!all_acknowledged || left_over == model);
    }

    #[test]
    fn arbitrary_bytes_are_an_empty_spool(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let place = tempfile::tempdir().unwrap();
        let directory = runtime(place.path());
        std::fs::write(directory.path().join("spool"), &bytes).unwrap();
        let (mut spool, left_over) = Spool::open(&directory).unwrap();
        prop_assert!(left_over.is_empty());
        spool.append(&event(3, 3));
        prop_assert_eq!(numbers(&Spool::open(&directory).unwrap().1), [3]);
    }

    #[test]
    fn a_spool_with_a_damaged_place_keeps_what_is_before_it(
        count in 1..12_u64, at in any::<proptest::sample::Index>(), bytes in proptest::collection::vec(any::<u8>(), 1..9),
    ) {
        let place = tempfile::tempdir().unwrap();
        let directory = runtime(place.path());
        let mut spool = Spool::open(&directory).unwrap().0;
        let ends: Vec<u64> = (0..count).map(|number| { spool.append(&event(number, number as usize)); file_bytes(&directory) }).collect();
        let path = directory.path().join("spool");
        let mut text = std::fs::read(&path).unwrap();
        let at = at.index(text.len());
        let end = (at + bytes.len()).min(text.len());
        text.splice(at..end, bytes);
        std::fs::write(&path, &text).unwrap();
        let left_over = Spool::open(&directory).unwrap().1;
        let whole = ends.iter().filter(|end| **end <= at as u64).count() as u64;
        prop_assert!(left_over.len() as u64 >= whole);
        prop_assert_eq!(numbers(&left_over), (0..left_over.len() as u64).collect::<Vec<_>>());
    }
}
