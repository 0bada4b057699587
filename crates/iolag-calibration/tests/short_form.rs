//! The calibration in small: few campaigns with fixed seeds, wide margins. `cargo xtask calibrate` has the real one.

use iolag_analysis::history::HistoryFindingKind;
use iolag_analysis::{Basis, RunFindingKind};
use iolag_calibration::quiet::Claim;
use iolag_calibration::{Amount, Limit, Measured, Question, Row, rows};

const SEED: u64 = 2026;
const CAMPAIGNS: usize = 20;
/// Rows that are measured here: small records of all questions.
const SHORT: [&str; 22] = [
    "coverage/independent/1000",
    "coverage/ar0.8/1000",
    "coverage/storms/1000",
    "coverage/censored-20/1000",
    "coverage/coarse-clock/672",
    "quiet/independent/192",
    "quiet/ar0.8/192",
    "quiet/daily-shared/192",
    "power/independent/x10-middle/192",
    "runs/bench-200/independent",
    "compare/equal/5-percent/ar0.5/9",
    "compare/equal/3-hung/9",
    "compare/found/x2/30-percent/one-cell",
    "compare/same/just-not/2-percent/25",
    "compare/days/equal/ar0.5/1-cell/paired/14",
    "compare/days/equal/ar0.5-1-hung/1-cell/apart/30-and-30",
    "nights/equal/ar0.5/10",
    "nights/equal/memory-steps/30",
    "nights/found/x1.3/10",
    "set-up/line/30-percent/5",
    "set-up/flat/5-percent/3",
    "set-up/upward/5-percent/9",
];
fn row(name: &str) -> Row {
    rows().into_iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// By how much a share may miss its limit in few campaigns: as far by chance once in ten thousand times.
const MARGIN: f64 = 0.25;

fn is_wide_of_its_limit(measured: &Measured) -> bool {
    match (measured.amount, measured.value()) {
        (Amount::Share { of, .. }, _) if of < 12 => false,
        (Amount::Share { limit: Limit::AtMost(limit), .. }, Some(share)) => share > limit + MARGIN,
        (Amount::Share { limit: Limit::AtLeast(limit), .. }, Some(share)) => share < limit - MARGIN,
        (Amount::Ratio { most: Some(most), .. }, Some(ratio)) => ratio > 2.0 * most,
        _ => false,
    }
}

#[test]
fn no_limit_is_missed_by_a_wide_margin() {
    let mut missed = Vec::new();
    for name in SHORT {
        let done = row(name).measure(CAMPAIGNS, SEED, "", None).unwrap();
        for one in done.measured.iter().filter(|one| is_wide_of_its_limit(one)) {
            missed.push((name, one.name.clone(), one.in_words()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let measured = |seed| row("coverage/ar0.8/1000").measure(3, seed, "", None).unwrap().measured;
    assert_eq!(measured(SEED), measured(SEED));
    assert_ne!(measured(SEED), measured(SEED + 1));
}

/// A conclusion whose rate of being false nobody measures is not to be told.
#[test]
fn every_inferred_kind_has_a_row_in_which_it_would_be_false() {
    let rows = rows();
    for kind in HistoryFindingKind::ALL.iter().copied().filter(|kind| kind.basis() == Basis::Inferred) {
        // What is told of hosts is measured on farms, of which no series is drawn.
        if kind == HistoryFindingKind::HostAttribute {
            assert!(rows.iter().any(|row| row.name.starts_with("hosts/nothing-matters/")));
            continue;
        }
        let claims = Claim::ALL.into_iter().filter(|claim| claim.kind() == Some(kind));
        let mut count = 0;
        for claim in claims {
            let is_row =
                |row: &&Row| matches!(row.question, Question::Quiet(quiet) if quiet.load.contradicts(claim));
            assert!(rows.iter().any(|row| is_row(&row)), "{claim:?} of {kind:?} has no row");
            count += 1;
        }
        assert!(count > 0, "{kind:?} has no claim in the calibration");
    }
    for kind in RunFindingKind::ALL.iter().copied().filter(|kind| kind.basis() == Basis::Inferred) {
        let is_row = |row: &Row| matches!(row.question, Question::Runs(runs) if runs.contradicts(kind));
        assert!(rows.iter().any(is_row), "{kind:?} has no row in the calibration");
    }
}

/// A row that measures a claim must have campaigns in which it could have been made, and would have been false.
#[test]
fn every_claim_has_campaigns_in_which_it_would_be_false() {
    for claim in Claim::ALL {
        let of_claim =
            |row: &Row| matches!(row.question, Question::Quiet(quiet) if quiet.load.contradicts(claim));
        // The smallest that has any: associations need bad times, of which small records have few.
        let mut candidates: Vec<Row> = rows().into_iter().filter(of_claim).collect();
        candidates.sort_by_key(|row| match row.question {
            Question::Quiet(quiet) => quiet.size,
            _ => 0,
        });
        let has_campaigns = |row: &Row| {
            let done = row.measure(3, SEED, "", None).unwrap();
            let of = |one: &Measured| matches!(one.amount, Amount::Share { of, .. } if of > 0);
            done.measured.iter().any(|one| one.name == claim.name() && of(one))
        };
        assert!(candidates.iter().any(has_campaigns), "{claim:?} could be made in no campaign");
    }
}
