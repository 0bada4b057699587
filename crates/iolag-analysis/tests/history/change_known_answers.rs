//! Compares with SciPy, Astropy and ruptures; change_known_answers.py says how.

use iolag_analysis::history::{
    ChangeOptions, LocalTime, TimedValues, benjamini_hochberg, find_changes, lomb_scargle_at, pearson,
    spearman,
};
use iolag_model::WallTime;

fn rows(kind: &str) -> Vec<Vec<Vec<f64>>> {
    let list = |text: &str| text.split(',').map(|number| number.parse().expect("a number")).collect();
    let rows: Vec<Vec<Vec<f64>>> = include_str!("change_known_answers.tsv")
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t'))
        .map(|line| line.split('\t').map(list).collect())
        .collect();
    assert!(!rows.is_empty(), "no known answer for {kind}");
    rows
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let difference = (found - expected).abs();
    assert!(difference <= 1e-9 * expected.abs().max(1e-3), "{what}: {found} instead of {expected}");
}

#[test]
fn coefficients_are_those_of_scipy() {
    for lists in rows("spearman") {
        assert_close(spearman(&lists[0], &lists[1]).unwrap(), lists[2][0], "Spearman");
    }
    for lists in rows("pearson") {
        assert_close(pearson(&lists[0], &lists[1]).unwrap(), lists[2][0], "Pearson");
    }
}

#[test]
fn adjusted_p_are_those_of_scipy() {
    for lists in rows("benjamini_hochberg") {
        for (found, expected) in benjamini_hochberg(&lists[0]).iter().zip(&lists[1]) {
            assert_close(*found, *expected, "adjusted p");
        }
    }
}

#[test]
fn powers_are_those_of_astropy() {
    for lists in rows("lomb_scargle") {
        for (frequency, expected) in lists[2].iter().zip(&lists[3]) {
            assert_close(lomb_scargle_at(&lists[0], &lists[1], *frequency), *expected, "power");
        }
    }
}

fn places(durations: &[f64], period_seconds: i64) -> Vec<usize> {
    let moments: Vec<WallTime> =
        (0..durations.len()).map(|slot| WallTime::from_seconds(slot as i64 * period_seconds)).collect();
    let values = TimedValues::known(&moments, durations);
    let changes = find_changes(&values, &LocalTime::UTC, &ChangeOptions::default()).steps;
    changes.iter().map(|change| change.place).collect()
}

#[test]
fn changes_are_where_dynamic_programming_finds_them() {
    for lists in rows("changes") {
        let places = places(&lists[0], 3600);
        assert_eq!(places.len(), lists[1].len(), "{places:?} instead of {:?}", lists[1]);
        for (place, expected) in places.iter().zip(&lists[1]) {
            assert!(place.abs_diff(*expected as usize) <= 4, "{places:?} instead of {:?}", lists[1]);
        }
    }
}

/// Of 2.6 times as long, slow load explains as much in two days; four times that parts the values.
#[test]
fn two_days_are_enough_for_a_step_that_parts_the_values() {
    let lists = &rows("changes")[0];
    let place = lists[1][0] as usize;
    assert_eq!(places(&lists[0], 900), Vec::<usize>::new());
    let mut greater = lists[0].clone();
    greater[place..].iter_mut().for_each(|duration| *duration *= 4.0);
    let places = places(&greater, 900);
    assert!(places.len() == 1 && places[0].abs_diff(place) <= 4, "{places:?}");
}
