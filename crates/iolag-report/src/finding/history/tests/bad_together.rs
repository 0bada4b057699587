//! Tests of the words for what bad times have in common.

use super::*;

#[test]
fn what_two_hosts_see_at_once_may_be_a_job_on_both() {
    let bad: Vec<i64> = (100..124).collect();
    let series = [("here", 1), ("there", 2)].map(|(host, seed)| {
        let (mut series, columns) = imported("/home", seed, &bad);
        series.key.host = host.to_owned();
        (series, columns)
    });
    let found = &told_of_kind(FindingKind::BadTogether, series.into())[0];
    let begin = "/home from here and /home from there were bad at the same time: ";
    assert!(found.sentence.starts_with(begin), "{}", found.sentence);
    assert!(found.advice.contains("jobs that run on both"), "{}", found.advice);
}

#[test]
fn memory_that_was_not_measured_in_bad_times_says_nothing_of_them() {
    let told = |slots: usize| {
        let bad: Vec<i64> = [300, 500, 700, 900].iter().flat_map(|begin| *begin..begin + 4).collect();
        let (_, columns) = imported("memory", 3, &[]);
        let control = Series { kind: SeriesKind::Control, ..series_of("memory", "list") };
        let columns = columns.rows(&(0..slots).collect::<Vec<_>>());
        let series = vec![imported("/home", 1, &bad), (control, columns)];
        told_of_kind(FindingKind::HostSlow, series).into_iter().next().map(|one| one.sentence)
    };
    assert_eq!(told(96), None);
    assert!(told(1344).is_some_and(|sentence| sentence.starts_with("In none of 4 bad times did a task")));
}

#[test]
fn a_common_incident_is_told_and_in_few_days_that_they_are_few() {
    let told = |slots: usize| {
        let bad: Vec<i64> = (100..124).collect();
        let mut series = vec![imported("/home", 1, &bad), imported("/scratch", 2, &bad)];
        series.iter_mut().for_each(|(_, columns)| *columns = columns.rows(&(0..slots).collect::<Vec<_>>()));
        let told = told_of_kind(FindingKind::BadTogether, series);
        told.into_iter().next().map_or_else(String::new, |one| one.sentence)
    };
    let (few, many) = (told(300), told(672));
    let doubt = "); the record is too short to tell that from the time of day.";
    assert!(few.contains("by chance it would be ") && few.ends_with(doubt), "{few}");
    assert!(many.contains("at the same time") && !many.contains("too short"), "{many}");
}
