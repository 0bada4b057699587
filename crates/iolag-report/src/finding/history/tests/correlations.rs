//! Tests of the words for series that go together.

use super::*;

fn no_correlation_of(series: Vec<(Series, HistoryColumns)>) -> String {
    let told = told_of_kind(FindingKind::NoCorrelation, series);
    told.into_iter().next().map_or_else(String::new, |one| one.sentence)
}

#[test]
fn no_single_cause_is_said_only_where_places_were_bad_and_not_together() {
    let bad: Vec<i64> = (700..724).collect();
    let apart =
        no_correlation_of(vec![imported("/home", 1, &bad), imported("/scratch", 2, &[300, 301, 302])]);
    assert!(
        apart.contains("no two places were bad at the same time: nothing shows a cause that all tasks share"),
        "{apart}"
    );
    let together = no_correlation_of(vec![imported("/home", 1, &bad), imported("/scratch", 2, &bad)]);
    assert_eq!(together, "", "both were bad for six hours");
    let never = no_correlation_of(vec![imported("/home", 1, &[]), imported("/scratch", 2, &[])]);
    assert!(never.starts_with("No two of the tasks (1 pair compared) go together"), "{never}");
    assert!(!never.contains("cause") && !never.contains("bad"), "{never}");
}
