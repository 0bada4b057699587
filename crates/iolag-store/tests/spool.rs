//! The spool under damage, repeated writers and a full disk.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod support;

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use iolag_fixtures::TmpfsMount;
use iolag_model::{AttemptId, Detail, DetailKind, FailureCode, Outcome, RunState, Sample};
use iolag_store::{
    Block, Directory, Recovery, SpoolNumber, SpoolReader, SpoolWriter, Store, StoreError, recover_run, spools,
};
use proptest::prelude::*;
use support::{Client, record, run_id};
use zerocopy::IntoBytes;

const SPOOL: SpoolNumber = SpoolNumber(3);

/// Everything that the reader yields, and how many bytes it dropped.
fn read_all(directory: &Directory) -> (Vec<Sample>, Vec<Detail>, u64) {
    let mut reader = SpoolReader::open(directory, &run_id(1), SPOOL).unwrap();
    let (mut samples, mut details) = (Vec::new(), Vec::new());
    while let Some(block) = reader.next_block().unwrap() {
        match block {
            Block::Samples(more) => samples.extend_from_slice(more),
            Block::Details(more) => details.extend_from_slice(more),
        }
    }
    assert_eq!(reader.samples(), samples.len() as u64);
    (samples, details, reader.dropped_bytes())
}

fn detail(number: u64, length: usize) -> Detail {
    Detail { attempt: AttemptId(number), kind: DetailKind::Subject, text: "x".repeat(length) }
}

#[test]
fn what_was_appended_is_read_in_order_with_blocks_of_every_size() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut writer = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
    let mut client = Client::new(5);
    let (mut samples, mut details) = (Vec::new(), Vec::new());
    for count in [0, 1, 84, 85, 21_844, 21_845, 50_000] {
        let more = client.take(count);
        writer.append(&more).unwrap();
        samples.extend(more);
    }
    for (number, length) in [(1, 0), (2, 4096), (3, 17)] {
        let more = vec![detail(number, length); 300];
        writer.append_details(&more).unwrap();
        details.extend(more);
    }
    assert_eq!(writer.samples(), samples.len() as u64);
    let bytes = writer.bytes();
    writer.finish().unwrap();
    assert_eq!(directory.path().join(SPOOL.file_name()).metadata().unwrap().len(), bytes);
    assert_eq!(spools(&directory).unwrap(), [SPOOL]);
    assert!(read_all(&directory) == (samples, details, 0));
}

#[test]
fn samples_with_unknown_numbers_are_refused_and_a_second_writer_is_kept_out() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut writer = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
    let mut samples = Client::new(0).take(10);
    // What a stray write into shared memory does to the operation's number.
    samples[9].as_mut_bytes()[40] = 255;
    let error = writer.append(&samples).unwrap_err();
    assert!(matches!(error, StoreError::Sample { .. }) && writer.samples() == 0, "{error}");
    assert!(matches!(SpoolWriter::resume(&directory, &run_id(1), SPOOL), Err(StoreError::Locked { .. })));
    assert!(SpoolWriter::create(&directory, &run_id(1), SPOOL).is_err());
}

#[test]
fn a_second_writer_goes_on_where_the_first_was_killed_and_doubles_nothing() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut all = Client::new(2).take(1000);
    // Of several operations that a client has in flight a later one may end first.
    all.chunks_mut(4).for_each(<[Sample]>::reverse);
    let mut first = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
    first.append(&all[..300]).unwrap();
    first.append(&all[300..450]).unwrap();
    // Killed here: the second append is in the file, the ring's tail was not yet advanced; then a torn block.
    drop(first);
    let file = OpenOptions::new().append(true).open(directory.path().join(SPOOL.file_name())).unwrap();
    file.write_all_at(&[0x69; 5000], file.metadata().unwrap().len()).unwrap();

    let (mut second, resumed) = SpoolWriter::resume(&directory, &run_id(1), SPOOL).unwrap();
    assert_eq!((resumed.samples, resumed.dropped_bytes), (450, 5000));
    let stored = resumed.stored_of([&all[300..], &[]]);
    assert_eq!(stored, 150);
    for older in [140, 150, 160] {
        let (older, newer) = all[300..].split_at(older);
        assert_eq!(resumed.stored_of([older, newer]), 150, "across the end of the ring");
    }
    assert_eq!(
        resumed.stored_of([&all[450..], &[]]),
        0,
        "the last one that is stored does not wait any more"
    );
    assert_eq!(resumed.stored_of([&Client::new(3).take(9), &[]]), 0, "of another client");
    second.append(&all[300 + stored..]).unwrap();
    second.finish().unwrap();
    assert!(read_all(&directory) == (all, Vec::new(), 0));
}

#[test]
fn another_run_or_spool_is_never_taken_for_this_one() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut writer = SpoolWriter::create(&directory, &run_id(2), SPOOL).unwrap();
    writer.append(&Client::new(0).take(10)).unwrap();
    drop(writer);
    let (samples, _, dropped) = read_all(&directory);
    assert!(samples.is_empty() && dropped == 4096);
}

#[test]
fn a_newer_spool_is_an_error_and_not_damage() {
    let place = tempfile::tempdir().unwrap();
    let directory = Directory::open(place.path()).unwrap();
    let mut writer = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
    writer.append(&Client::new(0).take(10)).unwrap();
    drop(writer);
    let path = directory.path().join(SPOOL.file_name());
    let file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut header = [0; 56];
    file.read_exact_at(&mut header, 0).unwrap();
    header[8] = 2;
    file.write_all_at(&header, 0).unwrap();
    file.write_all_at(&crc32fast::hash(&header).to_le_bytes(), 56).unwrap();
    let mut reader = SpoolReader::open(&directory, &run_id(1), SPOOL).unwrap();
    let error = reader.next_block().unwrap_err().to_string();
    assert!(
        error.ends_with("it has a newer format (2.1); this iolag reads up to 1.1: use a newer iolag"),
        "{error}"
    );
}

#[test]
fn a_full_disk_is_told_and_what_was_appended_stays_readable() {
    let Some(place) = TmpfsMount::new(256 << 10) else { return };
    let path = place.path();
    let directory = Directory::open(path).unwrap();
    let mut writer = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
    let all = Client::new(0).take(20_000);
    let error = all.chunks(1000).find_map(|chunk| writer.append(chunk).err()).unwrap();
    let text = error.to_string();
    assert!(matches!(error, StoreError::Full { .. }) && text.contains("os error 28"), "{text}");
    assert!(text.contains("ring-3.spool"), "{text}");
    let kept = writer.samples() as usize;
    assert!(kept > 0 && kept < all.len());
    // Small appends still fit in what the failed one gave back, and none is lost or doubled.
    writer.append(&all[kept..kept + 1]).unwrap();
    drop(writer);
    let (samples, _, dropped) = read_all(&directory);
    assert!(samples == all[..kept + 1] && dropped == 0);
}

#[test]
fn a_disk_that_fills_while_encoding_keeps_the_spool_and_the_record() {
    let Some(place) = TmpfsMount::new(256 << 10) else { return };
    let path = place.path();
    let store = Store::open(path).unwrap();
    let mut record = record(&run_id(1), 1, 1);
    let run = store.create_run(&record).unwrap();
    let spool = run.create_spool().unwrap();
    let mut writer = SpoolWriter::create(&spool, run.id(), SPOOL).unwrap();
    let samples = Client::new(0).take(4000);
    writer.append(&samples).unwrap();
    drop(writer);
    let filler = path.join("filler");
    let _ = std::fs::write(&filler, vec![1; 1 << 20]);
    record.state = RunState::Complete;
    let error = run.finish(&mut record, &spool).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(matches!(run.record().unwrap().state, RunState::Running { .. }));
    // With space again, the next command has everything.
    std::fs::remove_file(&filler).unwrap();
    assert!(matches!(recover_run(&run, |_| false).unwrap(), Recovery::Encoded { samples: 4000, .. }));
    assert!(run.samples().unwrap().map(|stored| stored.unwrap().sample).eq(samples));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever happens to the file, its readable part is a prefix of what was written.
    #[test]
    fn damage_anywhere_leaves_a_prefix(
        counts in prop::collection::vec(1_usize..300, 1..6),
        cut in 0.0..1.0_f64,
        flip in prop::option::of((0.0..1.0_f64, 1_u8..)),
    ) {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::open(place.path()).unwrap();
        let mut writer = SpoolWriter::create(&directory, &run_id(1), SPOOL).unwrap();
        let mut client = Client::new(1);
        let mut samples = Vec::new();
        let mut details = Vec::new();
        let mut ends = vec![0];
        for count in counts {
            let mut more = client.take(count);
            more[0] = more[0].with_outcome(Outcome::Hung, FailureCode::NONE);
            writer.append(&more).unwrap();
            samples.extend(more);
            let more = [detail(count as u64, count)];
            writer.append_details(&more).unwrap();
            details.extend(more);
            ends.push(samples.len());
        }
        let bytes = writer.bytes();
        writer.finish().unwrap();

        let file = OpenOptions::new().read(true).write(true).open(directory.path().join(SPOOL.file_name())).unwrap();
        let kept_bytes = if flip.is_none() { (bytes as f64 * cut) as u64 } else { bytes };
        file.set_len(kept_bytes).unwrap();
        if let Some((place, mask)) = flip {
            let at = (bytes as f64 * place) as u64;
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ mask], at).unwrap();
        }
        let (read, read_details, dropped) = read_all(&directory);
        prop_assert!(samples.starts_with(&read) && details.starts_with(&read_details));
        prop_assert!(ends.contains(&read.len()));
        prop_assert!(dropped <= kept_bytes);

        // A writer that resumes cuts exactly what the reader dropped.
        let (writer, resumed) = SpoolWriter::resume(&directory, &run_id(1), SPOOL).unwrap();
        prop_assert_eq!(resumed.samples, read.len() as u64);
        prop_assert_eq!(resumed.dropped_bytes, dropped);
        prop_assert_eq!(writer.bytes(), kept_bytes - dropped);
    }
}
