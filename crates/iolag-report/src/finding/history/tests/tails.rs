//! Tests of the words for what takes long.

use super::*;

/// What is told of the tail of an imported `copy` that takes so many seconds in each of 1400 quarter hours.
fn tail_of(level: impl Fn(i64, f64) -> f64) -> FindingInWords {
    let mut noise = Random::new(13);
    let columns = columns_of((0..1400).map(|slot| {
        let milliseconds = 1000.0 * level(slot, noise.unit()) * (0.05 * noise.normal()).exp();
        (slot * 900, milliseconds as u64, Outcome::Ok)
    }));
    let series = Series { kind: SeriesKind::ImportedDuration, ..series_of("/home", "copy") };
    told_of_kind(FindingKind::Tail, vec![(series, columns)]).swap_remove(0)
}

#[test]
fn slots_that_were_lost_to_a_hang_are_told_beside_it() {
    let columns = columns_of((0..1400).map(|slot| match slot {
        700 => (slot * 900, 21_600_000, Outcome::Hung),
        701..724 => (slot * 900, 0, Outcome::Skipped),
        _ => (slot * 900, 20 + slot as u64 % 7, Outcome::Ok),
    }));
    let told = told_of_kind(FindingKind::Tail, vec![(series_of("/home", "list"), columns)]);
    let sentence = &told[0].sentence;
    assert!(sentence.starts_with("1 of 1377 `list` on /home "), "{sentence}");
    let end =
        "; 1 had not ended when last looked at; 23 of 1400 slots were skipped behind one that had not ended.";
    assert!(sentence.ends_with(end), "{sentence}");
}

#[test]
fn what_always_takes_long_is_no_news_since_a_change() {
    let found = tail_of(|slot, _| if slot < 700 { 20.0 } else { 30.0 });
    let sentence = &found.sentence;
    let begin = "`copy` on /home takes over 10.0 s as a rule: 1400 of 1400 (at least 99";
    assert!(sentence.starts_with(begin), "{sentence}");
    assert_eq!(found.severity, Severity::Note);
}

#[test]
fn a_share_that_did_not_change_with_the_level_is_told_of_the_whole() {
    let rare = |uniform: f64, usual: f64| if uniform < 0.05 { 2.0 } else { usual };
    let same = tail_of(|slot, uniform| rare(uniform, if slot < 700 { 0.02 } else { 0.2 }));
    let sentence = &same.sentence;
    assert!(sentence.contains(" of 1400 `copy` on /home (") && !sentence.contains("before"), "{sentence}");
    let other = tail_of(|slot, uniform| if slot < 700 { 0.02 } else { rare(uniform, 0.2) });
    let sentence = &other.sentence;
    assert!(sentence.starts_with("Since 1970-01-08 ") && sentence.contains("; before, none"), "{sentence}");
}

#[test]
fn a_share_after_a_bad_spell_is_compared_with_that_before_the_spell() {
    let found = tail_of(|slot, uniform| {
        let is_bad = (600..800).contains(&slot);
        match (is_bad, uniform) {
            (true, ..0.16) | (false, ..0.02) => 2.0,
            (true, _) => 0.2,
            (false, _) => 0.02,
        }
    });
    let sentence = &found.sentence;
    assert!(sentence.starts_with("Since 1970-01-09 12:15 UTC, 8 of 583 "), "{sentence}");
    assert!(sentence.ends_with("; before, until 1970-01-07 04:15 UTC, 2.5 %."), "{sentence}");
}
