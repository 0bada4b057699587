//! Tests of the words for what several series say together.

use super::*;

/// Two weeks of quarter hours of a task that takes twenty times as long from this slot on.
fn changed(target: &str, task: &str, slot: i64) -> (Series, HistoryColumns) {
    let (_, columns) = levels(14 * DAY, |at| if at < slot { 0.02 } else { 0.4 });
    (series_of(target, task), columns)
}

fn told(series: Vec<(Series, HistoryColumns)>) -> Vec<String> {
    let input = HistoryInput { series, ..HistoryInput::default() };
    let told = findings_in_words(&analyse_history(&input, &HistoryOptions::default()));
    let changes = told.into_iter().filter(|one| one.kind == FindingKind::Change);
    changes.map(|one| one.sentence).collect()
}

#[test]
fn tasks_of_a_target_that_changed_on_one_day_are_one_sentence() {
    let tasks = ["list", "create", "compile", "stat", "shell"];
    // Each three hours after the one before.
    let mut series: Vec<_> =
        tasks.iter().zip(0..).map(|(task, number)| changed("/home", task, 7 * DAY + 12 * number)).collect();
    series.push(changed("/scratch", "list", 3 * DAY));
    let told = told(series);
    assert_eq!(told.len(), 2, "{told:#?}");
    let together = "`compile`, `create`, `list` and 2 others on /home changed: they take ";
    let one = told.iter().find(|one| one.contains(together)).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(one.starts_with("Between 1970-01-08 00:00 UTC and 1970-01-08 12:00 UTC, "), "{one}");
    assert!(one.contains(" times as long, with no event noted next to it; most of all `"), "{one}");
    assert!(told.iter().any(|one| one.contains("`list` on /scratch takes ")), "{told:#?}");
}
