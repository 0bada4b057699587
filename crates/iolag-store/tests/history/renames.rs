//! Targets that got another name: what is read, and that it is what would be read if they had always been called so.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    Configuration, Event, HistoryRecord, Nanoseconds, Outcome, ProbeId, Rename, SeriesKey, WallSpan, WallTime,
};
use iolag_store::history::{ChangeMark, History, canonical};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::arbitrary::{any_record, any_rename, event, key, outage, sample, series};
use crate::opened::{Open, content};

/// Runs all of it.
pub fn check(open: &Open<'_>, cases: u32) {
    a_target_is_read_under_its_other_name_and_kept_under_its_own(open);
    a_name_goes_through_all_renames_and_back(open);
    a_name_that_has_become_free_may_be_given_again(open);
    of_two_samples_of_a_probe_the_one_counts_that_would_under_one_name(open);
    reading_with_renames_is_reading_what_was_always_called_so(open, cases);
}

fn renamed(old: &str, new: &str, at: i64) -> HistoryRecord {
    HistoryRecord::Rename(Rename {
        host: "login1".into(),
        old: old.into(),
        new: new.into(),
        at: WallTime(at),
        author: "me".into(),
    })
}

fn called(target: &str) -> SeriesKey {
    SeriesKey { target: target.into(), ..key("login1", "list") }
}

fn a_target_is_read_under_its_other_name_and_kept_under_its_own(open: &Open<'_>) {
    let mut history = open();
    let (old, new) = (called("/scratch"), called("work"));
    let (first, last) = (sample(&old, 1, Outcome::Ok, 5), sample(&old, 9, Outcome::Ok, 6));
    let between = sample(&new, 5, Outcome::Ok, 7);
    let other = sample(&key("login2", "list"), 5, Outcome::Ok, 8);
    let configuration = Configuration {
        key: last.configuration.unwrap(),
        host: "login1".into(),
        target: "/scratch".into(),
        first_seen: first.intended,
        facts: BTreeMap::new(),
    };
    let mut later = series(&new);
    later.described = later.described.after(Nanoseconds(1));
    later.description = "the later one".into();
    let records = [
        HistoryRecord::Series(series(&old)),
        HistoryRecord::Series(later.clone()),
        HistoryRecord::Sample(first.clone()),
        HistoryRecord::Sample(last.clone()),
        HistoryRecord::Sample(between.clone()),
        HistoryRecord::Sample(other.clone()),
        HistoryRecord::Configuration(configuration.clone()),
        HistoryRecord::Event(Event { host: "login1".into(), ..event("a1", first.intended) }),
        HistoryRecord::Event(event("b2", first.intended)),
        HistoryRecord::Outage(outage("login1", first.probe.0)),
        renamed("/scratch", "work", 1),
    ];
    history.append(&records).unwrap();
    let keys: Vec<SeriesKey> = history.series().unwrap().into_iter().map(|one| one.key).collect();
    assert_eq!(keys, [new.clone(), key("login2", "list")]);
    assert_eq!(history.series().unwrap()[0], later, "the later description");
    for name in [&new, &old] {
        let columns = history.samples(name, WallSpan::ALL).unwrap();
        assert_eq!(columns.probe, [first.probe, between.probe, last.probe], "in the order of time");
        let covered = history.covered(name, WallSpan::ALL).unwrap();
        assert_eq!(covered, Some(WallSpan { begin: first.intended, end: last.intended }));
    }
    assert_eq!(history.probe("login1", last.probe, WallSpan::ALL).unwrap()[0].series, new);
    let followed = history.changes_after(ChangeMark(0), 10).unwrap().samples;
    assert_eq!(followed.iter().filter(|one| one.series == new).count(), 3);
    let events = history.events(WallSpan::ALL).unwrap();
    // An event of all hosts is not of what one of two calls otherwise.
    assert_eq!([&events[0].target, &events[1].target], ["work", "/scratch"]);
    assert_eq!(history.outages(WallSpan::ALL).unwrap()[0].targets, BTreeSet::from(["work".to_owned()]));
    let present = [Configuration { target: "work".into(), ..configuration.clone() }];
    assert_eq!(history.configurations().unwrap(), present);
    // A watch knows what it called them.
    assert_eq!(history.open_outages("login1").unwrap()[0].targets, BTreeSet::from(["/scratch".to_owned()]));
    assert_eq!(history.present_configurations("login1").unwrap(), [configuration]);
    let kept = content(&mut *history);
    assert!(records.iter().all(|record| kept.contains(record)), "an export has what was written: {kept:#?}");
}

fn a_name_goes_through_all_renames_and_back(open: &Open<'_>) {
    let mut history = open();
    history.append(&[HistoryRecord::Sample(sample(&called("a"), 1, Outcome::Ok, 5))]).unwrap();
    let mut now = |record: HistoryRecord| {
        history.append(&[record]).unwrap();
        history.series().unwrap().into_iter().map(|one| one.key.target).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(now(renamed("b", "c", 5)), "a");
    assert_eq!(now(renamed("a", "b", 3)), "c", "in the order of time, whichever comes first");
    assert_eq!(now(renamed("a", "x", 7)), "c", "it is no longer called so");
    assert_eq!(now(renamed("c", "a", 9)), "a");
    assert_eq!(now(renamed("a", "", 11)), "a", "nothing is no name");
}

fn a_name_that_has_become_free_may_be_given_again(open: &Open<'_>) {
    let mut history = open();
    let (first, second) = (sample(&called("a"), 1, Outcome::Ok, 5), sample(&called("c"), 2, Outcome::Ok, 6));
    let records = [HistoryRecord::Sample(first.clone()), HistoryRecord::Sample(second.clone())];
    history.append(&records).unwrap();
    history.append(&[renamed("a", "b", 1), renamed("c", "a", 2)]).unwrap();
    for (name, probe) in [("b", first.probe), ("a", second.probe), ("c", second.probe)] {
        assert_eq!(history.samples(&called(name), WallSpan::ALL).unwrap().probe, [probe], "{name}");
    }
}

fn of_two_samples_of_a_probe_the_one_counts_that_would_under_one_name(open: &Open<'_>) {
    let mut history = open();
    let (old, new) = (called("a"), called("b"));
    let batched = |key: &SeriesKey, batch: u64, duration_ns: u64| {
        let mut sample = sample(key, 1, Outcome::Ok, duration_ns);
        sample.batch = Some(iolag_model::BatchId(batch));
        HistoryRecord::Sample(sample)
    };
    history.append(&[batched(&old, 1, 90), batched(&new, 2, 50), renamed("a", "b", 1)]).unwrap();
    let durations = |history: &mut dyn History| history.samples(&new, WallSpan::ALL).unwrap().duration_ns;
    assert_eq!(durations(&mut *history), [Nanoseconds(50)], "the later import");
    let mut undone = crate::arbitrary::batch(2, Some(1));
    undone.file = "b.txt".into();
    history.append(&[HistoryRecord::Batch(undone)]).unwrap();
    assert_eq!(durations(&mut *history), [Nanoseconds(90)]);
}

fn reading_with_renames_is_reading_what_was_always_called_so(open: &Open<'_>, cases: u32) {
    let of_one_host = |one| HistoryRecord::Rename(Rename { host: "login1".into(), ..one });
    let renames = proptest::collection::vec(any_rename().prop_map(of_one_host), 0..6);
    let batches = (proptest::collection::vec(any_record(), 1..40), renames)
        .prop_map(|(records, renames)| [records, renames].concat());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&batches, |records| {
        let records = one_edition_of_each_event(records.into_iter().map(canonical).collect());
        let mut as_written = open();
        as_written.append(&records).unwrap();
        let mut as_called = open();
        as_called.append(&called_as_now(&records)).unwrap();
        prop_assert_eq!(read(&mut *as_written), read(&mut *as_called));
        Ok(())
    });
    outcome.unwrap();
}

/// Which of two editions that differ in their targets alone remains depends on what these are called.
fn one_edition_of_each_event(mut records: Vec<HistoryRecord>) -> Vec<HistoryRecord> {
    let mut ids = BTreeSet::new();
    records.retain(|record| !matches!(record, HistoryRecord::Event(event) if !ids.insert(event.id.clone())));
    records
}

/// The records with the names that targets have in the end, without their renames.
fn called_as_now(records: &[HistoryRecord]) -> Vec<HistoryRecord> {
    let mut renames: BTreeMap<(WallTime, String, String), (String, String)> = BTreeMap::new();
    let mut places = BTreeSet::new();
    for record in records {
        match record {
            HistoryRecord::Rename(one) => {
                let key = (one.at, one.host.clone(), one.old.clone());
                let said = (one.new.clone(), one.author.clone());
                let known = renames.entry(key).or_insert_with(|| said.clone());
                *known = said.max(known.clone());
            }
            HistoryRecord::Series(one) => {
                places.insert((one.key.host.clone(), one.key.target.clone()));
            }
            HistoryRecord::Sample(one) => {
                places.insert((one.series.host.clone(), one.series.target.clone()));
            }
            _ => {}
        }
    }
    let now = |host: &str, target: &str| -> String {
        let mut name = target.to_owned();
        for ((_, of, old), (new, _)) in &renames {
            if of == host && !old.is_empty() && !new.is_empty() && *old == name {
                name.clone_from(new);
            }
        }
        name
    };
    let now_anywhere = |target: &str| -> String {
        let names: BTreeSet<String> =
            places.iter().filter(|place| place.1 == target).map(|(host, target)| now(host, target)).collect();
        if names.len() == 1 { names.into_iter().next().unwrap() } else { target.to_owned() }
    };
    let mut changed = records.to_vec();
    changed.retain_mut(|record| {
        match record {
            HistoryRecord::Rename(_) => return false,
            HistoryRecord::Sample(one) => one.series.target = now(&one.series.host, &one.series.target),
            HistoryRecord::Series(one) => one.key.target = now(&one.key.host, &one.key.target),
            HistoryRecord::Configuration(one) => one.target = now(&one.host, &one.target),
            HistoryRecord::Event(one) if one.host.is_empty() => one.target = now_anywhere(&one.target),
            HistoryRecord::Event(one) => one.target = now(&one.host, &one.target),
            HistoryRecord::Outage(one) => {
                one.targets = one.targets.iter().map(|target| now(&one.host, target)).collect();
            }
            HistoryRecord::Evidence(_) | HistoryRecord::Session(_) | HistoryRecord::Batch(_) => {}
        }
        true
    });
    changed
}

/// What a history says to who reads it, in words: NaN is no number, but the same word.
fn read(history: &mut dyn History) -> Vec<String> {
    let all = WallSpan::ALL;
    let mut said = Vec::new();
    for one in history.series().unwrap() {
        let samples = history.samples(&one.key, all).unwrap();
        said.push(format!("{one:?} {:?} {samples:?}", history.covered(&one.key, all).unwrap()));
    }
    for (host, probe) in ["", "login1", "login2"].into_iter().flat_map(|host| [(host, 0), (host, 1)]) {
        said.push(format!("{:?}", history.probe(host, ProbeId(probe), all).unwrap()));
    }
    let mut followed = history.changes_after(ChangeMark(0), usize::MAX).unwrap().samples;
    followed.sort_by(|one, other| (&one.series, one.probe).cmp(&(&other.series, other.probe)));
    said.push(format!("{followed:?}"));
    said.push(format!("{:?}", history.events(all).unwrap()));
    said.push(format!("{:?}", history.outages(all).unwrap()));
    said.push(format!("{:?}", history.configurations().unwrap()));
    said
}
