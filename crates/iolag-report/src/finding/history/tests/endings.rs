//! Tests of the words for how attempts ended.

use super::*;

fn findings(milliseconds: u64, is_past: impl Fn(i64) -> bool) -> Vec<FindingInWords> {
    let columns = columns_of((0..1400).map(|slot| match is_past(slot) {
        true => (slot * 900, milliseconds, Outcome::Timeout),
        false => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
    }));
    findings_of(columns)
}

#[test]
fn what_the_last_one_that_failed_said_is_told_with_the_failures() {
    let columns = columns_of((0..1400).map(|slot| match slot {
        700 | 900 => (slot * 900, 20, Outcome::Error),
        _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
    }));
    let series = series_of("/home", "status");
    let said = |slot: usize, said: &str| Evidence {
        host: series.key.host.clone(),
        probe: columns.probe[slot],
        at: columns.start[slot],
        text: Evidence::text_of_failure(Some(2), said),
    };
    let failures = vec![said(700, "earlier"), said(900, "oops: no such project")];
    let input = HistoryInput { series: vec![(series, columns)], failures, ..HistoryInput::default() };
    let told = told_of(&input);
    let sentences = || told.iter().map(|one| one.sentence.as_str());
    let failed: Vec<&str> = sentences().filter(|sentence| sentence.contains(" failed (")).collect();
    assert_eq!(failed.len(), 1, "{:?}", sentences().collect::<Vec<_>>());
    assert!(failed[0].ends_with("; the last with exit status 2: oops: no such project."), "{failed:?}");
}

fn findings_of(columns: HistoryColumns) -> Vec<FindingInWords> {
    told_of_kind(FindingKind::Tail, vec![(series_of("/home", "list"), columns)])
}

#[test]
fn what_passed_a_short_deadline_is_told_once() {
    let [one] = &findings(1000, |slot| slot % 20 == 3)[..] else { panic!("one finding") };
    assert_eq!(one.sentence, "70 of 1400 `list` on /home did not end within their deadline (5.0 %).");
    assert_eq!(one.severity, Severity::Serious);
    let [long] = &findings(60_000, |slot| slot % 20 == 3)[..] else { panic!("one finding") };
    assert!(long.sentence.contains("took over 1.00 s"), "{}", long.sentence);
}

#[test]
fn what_ended_late_is_known() {
    let columns = columns_of((0..1400).map(|slot| match slot % 20 {
        3 => (slot * 900, 800, Outcome::Late),
        _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
    }));
    let [one] = &findings_of(columns)[..] else { panic!("one finding") };
    assert!(one.sentence.starts_with("70 of 1400 "), "{}", one.sentence);
    assert!(one.advice.starts_with("They ended late"), "{}", one.advice);
}

#[test]
fn time_outs_since_a_change_are_no_none() {
    let columns = columns_of((0..2800).map(|slot| match (slot, slot % 5) {
        (..1400, _) if slot % 130 == 7 => (slot * 900, 2000, Outcome::Ok),
        (..1400, rest) => (slot * 900, 20 + rest as u64, Outcome::Ok),
        (_, 2) => (slot * 900, 900, Outcome::Timeout),
        (_, rest) => (slot * 900, 200 + 10 * rest as u64, Outcome::Ok),
    }));
    let [tail, past] = &findings_of(columns)[..] else { panic!("two findings") };
    let of_both = if tail.sentence.starts_with("Until") { [tail, past] } else { [past, tail] };
    assert!(of_both[0].sentence.ends_with("; since, of 280 it is not known."), "{}", of_both[0].sentence);
    assert!(of_both[1].sentence.starts_with("280 of 2800 "), "{}", of_both[1].sentence);
    assert_eq!(of_both[1].severity, Severity::Serious);
}

#[test]
fn a_deadline_that_was_shortened_is_told_beside_many_slow_attempts() {
    let columns = columns_of((0..2800).map(|slot| match (slot, slot % 5) {
        (..1400, 0..2) => (slot * 900, 2000, Outcome::Ok),
        (..1400, rest) => (slot * 900, 20 + rest as u64, Outcome::Ok),
        (_, 2) => (slot * 900, 900, Outcome::Timeout),
        (_, rest) => (slot * 900, 200 + 10 * rest as u64, Outcome::Ok),
    }));
    let found = findings_of(columns);
    let mut past = found.iter().filter(|one| one.sentence.starts_with("280 of 2800 "));
    assert!(past.next().is_some_and(|one| one.severity == Severity::Serious), "{found:#?}");
}

#[test]
fn what_happened_on_a_few_days_is_told_with_them() {
    let told = |is_past: fn(i64) -> bool| findings(1000, is_past).pop().expect("a finding").sentence;
    let few = told(|slot| (800..896).contains(&slot) && slot % 3 == 0);
    assert!(few.ends_with("(2.3 %), on 2 of 15 days, 1970-01-09 to 1970-01-10."), "{few}");
    assert!(told(|slot| slot == 800).ends_with(", all on 1970-01-09."));
}

#[test]
fn what_never_ends_is_no_matter_of_how_long_it_takes() {
    let [one] = &findings(60_000, |_| true)[..] else { panic!("one finding") };
    assert!(one.sentence.contains("as a rule"), "{}", one.sentence);
    assert!(one.advice.contains("look at what they wait for"), "{}", one.advice);
}
