//! Tests of the words for changes of level.

use super::*;

#[test]
fn a_change_in_a_gap_of_a_week_has_no_moment() {
    let mut noise = Random::new(4);
    // Nothing was measured from day 10 to day 17.
    let columns = columns_of((0..30 * DAY).filter(|slot| !(10 * DAY..17 * DAY).contains(slot)).map(|slot| {
        let level = if slot < 10 * DAY { 200.0 } else { 800.0 };
        (slot * 900, (level * (0.2 * noise.normal()).exp()) as u64, Outcome::Ok)
    }));
    let event = |id: &str, day: i64| Event {
        id: id.to_owned(),
        text: format!("event of day {day}"),
        ..Event::of_all(EventSource::Note, WallTime::from_seconds(day * 86_400))
    };
    let series = Series { kind: SeriesKind::ImportedDuration, ..series_of("/home", "list") };
    let input = HistoryInput {
        series: vec![(series, columns)],
        events: vec![event("a", 12), event("b", 15)],
        ..HistoryInput::default()
    };
    let analysis = analyse_history(&input, &HistoryOptions::default());
    let told = each_finding_in_words(&analysis);
    let found = told.iter().find(|one| one.kind == FindingKind::Change).expect("a change is told");
    let sentence = &found.sentence;
    let begin = "Since some moment between 1970-01-10 23:45 UTC and 1970-01-18 00:00 UTC (there is no sample between), `list`";
    assert!(sentence.starts_with(begin), "{sentence}");
    let event = "Event \"event of day 12\" lies between the two samples around that moment, before the change or after it, as does 1 other";
    assert!(sentence.contains(event), "{sentence}");
    assert_eq!(analysis.gaps.len(), 1, "{:?}", analysis.gaps);
}

#[test]
fn a_level_that_rose_and_fell_again_is_one_finding_with_its_end() {
    let (analysis, told) =
        changes_of(30 * DAY, |slot| if (10 * DAY..14 * DAY).contains(&slot) { 1.6 } else { 0.2 });
    assert_eq!(analysis.series[0].changes.len(), 2);
    let [found] = &told[..] else { panic!("{told:#?}") };
    let sentence = &found.sentence;
    let begin =
        "From 1970-01-11 00:00 UTC to 1970-01-15 00:00 UTC, `list` on /home took 8.0 times as long (95 %: ";
    assert!(
        sentence.starts_with(begin) && sentence.contains("): the median was 1.59 s, before "),
        "{sentence}"
    );
    assert_eq!(found.severity, Severity::Warning, "it is over");
    let (_, told) = changes_of(30 * DAY, |slot| if slot >= 26 * DAY { 1.6 } else { 0.2 });
    let [found] = &told[..] else { panic!("{told:#?}") };
    assert!(found.sentence.starts_with("Since 1970-01-27 00:00 UTC, `list` on /home takes "));
    assert_eq!(found.severity, Severity::Serious);
}

#[test]
fn a_good_spell_that_ends_is_one_note_and_a_return_after_a_long_good_time_is_serious() {
    let fast_from = |fast: i64, slow_again: i64, after: f64| {
        changes_of(30 * DAY, move |slot| match slot {
            slot if slot < fast => 0.9,
            slot if slot < slow_again => 0.3,
            _ => after,
        })
    };
    let (spell, told) = fast_from(20 * DAY, 22 * DAY, 0.9);
    assert_eq!(spell.series[0].changes.len(), 2);
    let [found] = &told[..] else { panic!("{told:#?}") };
    let sentence = &found.sentence;
    assert!(sentence.starts_with("From 1970-01-21 00:00 UTC to 1970-01-23 00:00 UTC, `list`"), "{sentence}");
    let words =
        "`list` on /home was 2.9 times as fast (95 %: 2.8 to 3.1), and is as before since: the median was 3";
    assert!(sentence.contains(words), "{sentence}");
    assert_eq!(found.severity, Severity::Note);
    for (fast, slow_again, after) in [(5, 20, 0.9), (20, 22, 1.8)] {
        let (_, told) = fast_from(fast * DAY, slow_again * DAY, after);
        let since = told.iter().find(|one| one.sentence.starts_with("Since "));
        let severity = since.map(|one| one.severity);
        assert_eq!(severity, Some(Severity::Serious), "{told:#?}");
    }
}

#[test]
fn since_is_said_only_of_the_last_of_several_levels() {
    let level = |slot| match slot / DAY {
        0..10 => 0.2,
        10..20 => 1.6,
        _ => 0.8,
    };
    let (_, told) = changes_of(30 * DAY, level);
    let [rose, fell] = &told[..] else { panic!("{told:#?}") };
    assert!(rose.sentence.starts_with("From 1970-01-11 "), "{}", rose.sentence);
    assert_eq!(rose.severity, Severity::Serious, "four times as slow as it was, to the end");
    assert!(fell.sentence.starts_with("Since 1970-01-21 "), "{}", fell.sentence);
}
