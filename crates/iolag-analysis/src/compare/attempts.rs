//! How many attempts units have: quantiles of few depend on their number.
//!
//! Of 24 attempts a p95 is on average 2 to 7 % above that of many, and of 8 attempts 13 to 23 % below; a median of 2 to 6 is off by up to a fifth where
//! durations are distributed unevenly. Where both sides have as many that is the same for both, and falls out.

use std::collections::BTreeSet;

use super::cells::{Entry, Row};
use super::doubt::Doubt;
use super::rules::rule::FailRule;
use super::table::LeftOut;
use crate::run::values::RunQuantity;
use crate::statistics::interval::ranks_and_shares::attempts_needed;

/// Numbers that differ by no more are the same: now and then an attempt is missing.
const SAME_FACTOR: f64 = 1.1;
/// Numbers that differ by this are told, ...
const TOLD_FACTOR: f64 = 1.5;
/// ... if there are not so many times as many as it takes to say anything of the quantile.
const PLENTY: u64 = 5;

/// Of each side of a row the attempts of a unit, on average, as far as they are known.
fn of_sides(row: &Row) -> Vec<Option<u64>> {
    let strata = |side: &Vec<Entry>| side.iter().map(|entry| entry.stratum).collect::<BTreeSet<usize>>();
    let of_all = row.sides.iter().filter(|side| !side.is_empty()).map(strata);
    // Of what is pooled only what all have is compared.
    let common = of_all.reduce(|common, own| &common & &own).unwrap_or_default();
    let of_side = |side: &Vec<Entry>| {
        let compared = side.iter().filter(|entry| common.is_empty() || common.contains(&entry.stratum));
        let known: Vec<u64> =
            compared.map(|entry| entry.value.attempts).filter(|attempts| *attempts > 0).collect();
        let count = known.len() as u64;
        (count > 0).then(|| (known.into_iter().sum::<u64>() + count / 2) / count)
    };
    row.sides.iter().map(of_side).collect()
}

/// The least, and by which factor the most is more.
fn least_and_factor(of_sides: &[Option<u64>]) -> Option<(u64, f64)> {
    let known = || of_sides.iter().flatten().copied();
    let (least, most) = (known().min()?, known().max()?);
    Some((least, most as f64 / least.max(1) as f64))
}

/// The attempts of each side, if they are too few for such a quantile, and not as many on all sides.
pub(super) fn too_few(row: &Row, quantity: RunQuantity) -> Option<Vec<Option<u64>>> {
    let tail = quantity.quantile().filter(|share| *share > 0.5)?;
    let of_sides = of_sides(row);
    let (least, factor) = least_and_factor(&of_sides)?;
    (least < attempts_needed(tail) && factor > SAME_FACTOR).then_some(of_sides)
}

/// The rows that are not compared by their quantity, or that of a rule, for that reason.
pub(super) fn left_out(rows: &[Row], rules: &[FailRule]) -> Vec<LeftOut> {
    let of_rules = || rules.iter().map(|rule| rule.quantity);
    let quantities: BTreeSet<RunQuantity> = rows.iter().map(|row| row.quantity).chain(of_rules()).collect();
    let of_quantity = |quantity: RunQuantity| {
        let is_meant = move |row: &&Row| row.quantity == quantity || of_rules().any(|one| one == quantity);
        rows.iter().filter(is_meant).filter_map(move |row| {
            let attempts = too_few(row, quantity)?;
            Some(LeftOut::FewAttempts { key: row.key.clone(), quantity, attempts })
        })
    };
    quantities.into_iter().flat_map(of_quantity).collect()
}

/// The row in which the numbers of attempts differ most, where that matters.
pub(super) fn doubt(rows: &[Row]) -> Option<Doubt> {
    let of_row = |row: &Row| {
        let plenty = PLENTY * attempts_needed(row.quantity.quantile()?);
        let attempts = of_sides(row);
        let (least, factor) = least_and_factor(&attempts)?;
        (least < plenty && factor >= TOLD_FACTOR).then(|| (factor, row.key.clone(), attempts))
    };
    let worst = rows.iter().filter_map(of_row).max_by(|one, other| one.0.total_cmp(&other.0));
    worst.map(|(_, key, attempts)| Doubt::DifferentAttempts { key: Box::new(key), attempts })
}
