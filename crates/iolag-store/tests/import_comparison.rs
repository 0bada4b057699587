//! What an import would change in a history: what is new, what contradicts it, and that nothing is stored twice.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod import_support;

use import_support::{import, options};
use iolag_model::{
    Batch, BatchId, HistoryRecord, Outcome, Series, SeriesKey, SeriesKind, WallSpan, WallTime,
};
use iolag_store::history::{Access, History, SqliteHistory};
use iolag_store::import::{Comparison, Import, ImportForm, ImportOptions, parse_time_zone};
use proptest::prelude::*;

/// A history in a file that is gone with the test.
struct Scene {
    _directory: tempfile::TempDir,
    history: SqliteHistory,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let history = SqliteHistory::open(&directory.path().join("history.sqlite"), Access::Create).unwrap();
        Self { _directory: directory, history }
    }

    fn compare(&mut self, import: &Import) -> Comparison {
        Comparison::of(import, &[], Some(&mut self.history)).unwrap()
    }

    /// Stores what is new or different.
    fn store(&mut self, import: &Import, id: u64) {
        let comparison = self.compare(import);
        let records: Vec<_> = comparison.records(import, &batch(id, None)).map(Result::unwrap).collect();
        self.history.append(&records).unwrap();
    }

    fn undo(&mut self, id: u64) {
        self.history.append(&[HistoryRecord::Batch(batch(id, Some(WallTime(9))))]).unwrap();
    }

    fn durations_ms(&mut self, key: &SeriesKey) -> Vec<u64> {
        let columns = self.history.samples(key, WallSpan::ALL).unwrap();
        columns.duration_ns.iter().map(|ns| ns.0 / 1_000_000).collect()
    }
}

fn batch(id: u64, undone: Option<WallTime>) -> Batch {
    Batch {
        id: BatchId(id),
        made: WallTime::from_seconds(1_800_000_000 + id as i64),
        file: "sample.csv".into(),
        hash: String::new(),
        options: String::new(),
        author: String::new(),
        undone,
    }
}

fn counts(comparison: &Comparison) -> (u64, u64, u64) {
    (comparison.new, comparison.different, comparison.known)
}

#[test]
fn other_values_at_known_moments_are_told_with_examples_and_the_latest_import_counts() {
    let mut scene = Scene::new();
    let first = import("time,list\n1700000000,0.1\n1700000900,0.2\n1700001800,0.3\n", &options());
    let second =
        import("time,list\n1700000000,0.15\n1700000900,0.05\n1700001800,0.3\n1700002700,0.4\n", &options());
    let key = first.series[0].series.key.clone();
    assert_eq!(counts(&scene.compare(&first)), (3, 0, 0));
    scene.store(&first, 1);
    assert_eq!(counts(&scene.compare(&first)), (0, 0, 3));
    assert!(scene.compare(&first).is_empty());

    let comparison = scene.compare(&second);
    assert_eq!(counts(&comparison), (1, 2, 1));
    let example = &comparison.examples[1];
    assert_eq!((&example.series, example.time), (&key, WallTime::from_seconds(1_700_000_900)));
    assert_eq!((example.known.duration_ns.0, example.read.duration_ns.0), (200_000_000, 50_000_000));
    scene.store(&second, 2);
    assert_eq!(scene.durations_ms(&key), [150, 50, 300, 400], "also the faster one");
    scene.undo(2);
    assert_eq!(scene.durations_ms(&key), [100, 200, 300], "as before");
    assert_eq!(counts(&scene.compare(&second)), (1, 2, 1), "what was undone is not known");
}

#[test]
fn few_moments_are_found_among_many_that_are_known() {
    let mut scene = Scene::new();
    let line =
        |minute: i64, more: i64, ms: i64| format!("{} 0.{ms:03}\n", 1_700_000_000 + minute * 60 + more);
    let many: String = (0..10_000).map(|minute| line(minute, 0, minute % 1000)).collect();
    scene.store(&import(&many, &options()), 1);
    let few: String = (0..10_000)
        .step_by(97)
        .flat_map(|minute| {
            let is_other = minute > 9_000;
            [line(minute, 0, (minute + i64::from(is_other)) % 1000), line(minute, 30, 5)]
        })
        .collect();
    // From 9 021 on, 11 are others; behind each of the 104 comes one that is new.
    assert_eq!(counts(&scene.compare(&import(&few, &options()))), (104, 11, 93));
}

#[test]
fn files_of_one_command_are_compared_with_each_other() {
    let first = import("time,list\n1700000000,0.1\n", &options());
    let second = import("time,list\n1700000000,0.2\n1700000900,0.2\n", &options());
    assert_eq!(counts(&Comparison::of(&second, &[&first], None).unwrap()), (1, 1, 0));
    // The latest file says what will be known.
    assert_eq!(counts(&Comparison::of(&first, &[&first, &second], None).unwrap()), (0, 1, 0));
}

#[test]
fn another_outcome_or_value_is_a_difference_too() {
    let mut scene = Scene::new();
    let text = "time,list,jobs,state\n1700000000,0.1,3,ok\n1700000900,0.1,4,ok\n";
    let with = |text: &str| {
        let mut options = options();
        options.values = ["list=list", "jobs=jobs[jobs]"].map(|value| value.parse().unwrap()).to_vec();
        options.status_column = Some("state".parse().unwrap());
        import(text, &options)
    };
    scene.store(&with(text), 1);
    let comparison = scene.compare(&with(&text.replace("0.1,3,ok", "0.1,5,timeout")));
    assert_eq!(comparison.different, 2, "{comparison:?}");
    let told = comparison.examples.iter().map(|one| (one.unit.as_str(), one.read.value, one.read.outcome));
    let expected = [("", None, Outcome::Timeout), ("jobs", Some(5.0), Outcome::Timeout)];
    for one in told {
        assert!(expected.contains(&one), "{one:?}");
    }
}

/// The column `list` in this unit.
fn list_in(unit: &str, text: &str) -> Import {
    let values = vec![format!("list=list[{unit}]").parse().unwrap()];
    import(text, &ImportOptions { values, ..options() })
}

#[test]
fn durations_and_values_are_not_mixed_in_a_series() {
    let mut scene = Scene::new();
    scene.store(&list_in("s", "time,list\n1700000000,0.1\n"), 1);
    // Also at moments that nothing is known of.
    let other = scene.compare(&list_in("jobs", "time,list\n1700000900,3\n")).other_quantity.unwrap();
    assert_eq!(
        (other.series.task.as_str(), other.known.as_str(), other.read.as_str()),
        ("list", "durations", "values in jobs")
    );
    assert_eq!(scene.compare(&list_in("s", "time,list\n1700000900,0.3\n")).other_quantity, None);
}

#[test]
fn what_was_undone_describes_its_series_no_longer() {
    let mut scene = Scene::new();
    scene.store(&list_in("jobs", "time,list\n1700000000,3\n"), 1);
    scene.undo(1);
    let right = list_in("s", "time,list\n1700000000,0.1\n");
    assert_eq!(scene.compare(&right).other_quantity, None);
    scene.store(&right, 2);
    let described = scene.history.series().unwrap();
    assert_eq!(described.len(), 1);
    assert_eq!((described[0].kind, described[0].unit.as_str()), (SeriesKind::ImportedDuration, ""));
    let before = scene.history.newest_change().unwrap();
    scene.store(&right, 3);
    assert_eq!(
        (scene.history.series().unwrap(), scene.history.newest_change().unwrap()),
        (described, before)
    );
}

#[test]
fn a_watch_describes_its_series_better_than_an_import() {
    let mut scene = Scene::new();
    let read = import("time,list\n1700000000,0.1\n", &options());
    let watched = Series { kind: SeriesKind::Task, described: WallTime(1), ..read.series[0].series.clone() };
    let comparison = Comparison::of(&read, &[], None).unwrap();
    let mut records: Vec<_> = comparison.records(&read, &batch(1, None)).map(Result::unwrap).collect();
    records.push(HistoryRecord::Series(Series { described: WallTime(i64::MAX), ..watched.clone() }));
    scene.history.append(&records).unwrap();
    scene.store(&import("time,list\n1700000900,0.2\n", &options()), 2);
    assert_eq!(scene.history.series().unwrap()[0].kind, SeriesKind::Task);
}

#[test]
fn a_wrong_time_zone_is_seen_at_moments_that_are_known() {
    let mut scene = Scene::new();
    let rows: String = (0..96)
        .map(|quarter| format!("2008-05-08 {:02}:{:02},{}.5\n", quarter / 4, quarter % 4 * 15, quarter))
        .collect();
    let in_zone = |zone: &str| {
        let zone = Some(parse_time_zone(zone).unwrap());
        import(&format!("time,list\n{rows}"), &ImportOptions { time_zone: zone, ..options() })
    };
    scene.store(&in_zone("+02:00"), 1);
    assert_eq!(counts(&scene.compare(&in_zone("UTC"))), (8, 88, 0));
}

#[test]
fn events_that_are_known_are_not_stored_again_and_go_with_their_import() {
    let mut scene = Scene::new();
    let list = ImportOptions {
        form: Some(ImportForm::EventList),
        time_zone: Some(parse_time_zone("UTC").unwrap()),
        ..options()
    };
    let of = |text: &str| import(text, &list);
    let first = of("time,text\n2008-05-08 14:00,LDAP cache enabled\n");
    let grown = of("time,text\n2008-05-08 14:00,LDAP cache enabled\n2008-05-09 10:00,restart\n");
    scene.store(&first, 1);
    let comparison = scene.compare(&grown);
    assert_eq!((comparison.events, comparison.known), (1, 1));
    scene.store(&grown, 2);
    assert!(scene.compare(&grown).is_empty());
    scene.undo(1);
    let texts: Vec<_> =
        scene.history.events(WallSpan::ALL).unwrap().into_iter().map(|event| event.text).collect();
    assert_eq!(texts, ["restart"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Imports that replace each other, and are undone, leave what the greatest living one says; a nightly import of the same stores nothing.
    #[test]
    fn what_counts_is_what_the_latest_living_import_says(
        files in proptest::collection::vec(proptest::collection::btree_map(0..8_u64, 1..5_u64, 1..8), 1..5),
        undone in proptest::collection::vec(any::<bool>(), 5),
    ) {
        let mut scene = Scene::new();
        let mut key = None;
        for (id, file) in (1..).zip(&files) {
            let rows: String = file.iter().map(|(slot, value)| format!("{},{value}\n", 1_700_000_000 + 900 * slot)).collect();
            let read = import(&format!("time,list\n{rows}"), &options());
            key = Some(read.series[0].series.key.clone());
            scene.store(&read, id);
            prop_assert!(scene.compare(&read).is_empty());
        }
        let mut expected = std::collections::BTreeMap::new();
        let mut known = std::collections::BTreeMap::new();
        for (file, undone) in files.iter().zip(&undone) {
            for (slot, value) in file {
                // A value that was known already is of the import that brought it.
                if known.insert(*slot, *value) != Some(*value) {
                    expected.entry(*slot).or_insert_with(Vec::new).push((*value, *undone));
                }
            }
        }
        for (id, undone) in (1..).zip(&undone).take(files.len()) {
            if *undone {
                scene.undo(id);
            }
        }
        let living = |values: &Vec<(u64, bool)>| values.iter().rev().find(|(_, undone)| !undone).map(|(value, _)| value * 1000);
        let expected: Vec<u64> = expected.values().filter_map(living).collect();
        prop_assert_eq!(scene.durations_ms(&key.unwrap()), expected);
    }
}
