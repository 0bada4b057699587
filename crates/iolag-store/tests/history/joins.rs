//! Neither the order of records nor their repetition matters, whichever database keeps them.

use iolag_model::{BatchId, HistoryRecord, HistorySample, WallSpan};
use iolag_store::history::{canonical, merge_records, write_records};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::arbitrary::any_record;
use crate::opened::{Open, content};

/// Runs all of it.
pub fn check(open: &Open<'_>, cases: u32) {
    the_order_of_records_is_of_no_consequence(open, cases);
    exports_of_two_hosts_merge_to_the_same(open, cases / 4);
}

fn the_order_of_records_is_of_no_consequence(open: &Open<'_>, cases: u32) {
    let batches = proptest::collection::vec(any_record(), 1..40).prop_flat_map(|records| {
        (Just(records.clone()), Just(records).prop_shuffle(), 1..40usize, 1..40usize)
    });
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&batches, |(records, shuffled, first, second)| {
        let mut one = open();
        for batch in records.chunks(first) {
            one.append(batch).unwrap();
        }
        let mut other = open();
        for batch in shuffled.chunks(second) {
            other.append(batch).unwrap();
        }
        let expected = content(&mut *one);
        prop_assert_eq!(&content(&mut *other), &expected);
        prop_assert_eq!(one.append(&records).unwrap().changed, 0, "applied twice");
        prop_assert_eq!(&content(&mut *one), &expected);
        // What the model calls better has won.
        let key = |sample: &HistorySample| (sample.series.clone(), sample.probe, sample.batch);
        let mut samples = samples_of(expected.iter().cloned());
        for given in samples_of(records.into_iter().map(canonical)) {
            let kept = samples.iter().find(|kept| key(kept) == key(&given));
            let kept = kept.expect("a sample of each key is kept");
            prop_assert!(!given.supersedes(kept), "{given:?} {kept:?}");
        }
        // Of those of a probe the one of the greatest batch counts that was not undone, and no other.
        let undone: Vec<_> = expected.iter().filter_map(undone_batch).collect();
        samples.retain(|sample| !sample.batch.is_some_and(|batch| undone.contains(&batch)));
        samples.sort_by_key(key);
        samples.dedup_by(|later, earlier| {
            let is_same = (&later.series, later.probe) == (&earlier.series, earlier.probe);
            if is_same {
                std::mem::swap(later, earlier);
            }
            is_same
        });
        // As they were written: what is followed has the names that targets have now.
        let mut counting = Vec::new();
        let mut take = |record| {
            counting.push(record);
            Ok(())
        };
        one.counting_records(WallSpan::ALL, &mut take).unwrap();
        let mut counting = samples_of(counting.into_iter());
        counting.sort_by_key(key);
        prop_assert_eq!(counting, samples);
        Ok(())
    });
    outcome.unwrap();
}

fn samples_of(records: impl Iterator<Item = HistoryRecord>) -> Vec<HistorySample> {
    records
        .filter_map(|record| if let HistoryRecord::Sample(sample) = record { Some(sample) } else { None })
        .collect()
}

fn undone_batch(record: &HistoryRecord) -> Option<BatchId> {
    match record {
        HistoryRecord::Batch(batch) => batch.undone.map(|_| batch.id),
        _ => None,
    }
}

fn exports_of_two_hosts_merge_to_the_same(open: &Open<'_>, cases: u32) {
    let hosts =
        (proptest::collection::vec(any_record(), 0..20), proptest::collection::vec(any_record(), 0..20));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&hosts, |(one, other)| {
        let exports: Vec<Vec<u8>> = [one, other]
            .iter()
            .map(|records| {
                let mut history = open();
                history.append(records).unwrap();
                let mut export = Vec::new();
                write_records(&mut *history, WallSpan::ALL, &mut export).unwrap();
                export
            })
            .collect();
        let merge = |order: &[usize]| {
            let mut history = open();
            for export in order {
                merge_records(&mut *history, &mut &exports[*export][..], "export").unwrap();
            }
            content(&mut *history)
        };
        let forwards = merge(&[0, 1]);
        prop_assert_eq!(&merge(&[1, 0]), &forwards);
        prop_assert_eq!(&merge(&[0, 1, 1, 0, 0]), &forwards);
        Ok(())
    });
    outcome.unwrap();
}
