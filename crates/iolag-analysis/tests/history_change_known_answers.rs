//! Compares with SciPy and Astropy; history_change_known_answers.py says how.

use iolag_analysis::history::{benjamini_hochberg, lomb_scargle_at, pearson, spearman};

fn rows(kind: &str) -> Vec<Vec<Vec<f64>>> {
    let list = |text: &str| text.split(',').map(|number| number.parse().expect("a number")).collect();
    let rows: Vec<Vec<Vec<f64>>> = include_str!("history_change_known_answers.tsv")
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
