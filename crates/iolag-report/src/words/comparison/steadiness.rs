//! How far the runs of each side are from each other: a side that is slow now and then shows here, where its intervals only say that nothing is known.
//!
//! Limits: what was measured, not what is to be expected; of more runs the slowest and the fastest are further apart.

use iolag_analysis::compare::{ComparedTable, SideValue};
use iolag_analysis::{RunAmount, capitalised, joined};

use super::cells::unit_names;
use super::names::{RowNames, SideNames};
use crate::words::interval::factor;

/// Fewer are no spread.
const RUNS_LEAST: usize = 3;
/// Whoever differs by less is not worth a sentence.
const TIMES_LEAST: f64 = 2.0;
/// More others are told together.
const OTHERS_MOST: usize = 4;

/// As in `Runs of noisy differ among themselves by up to 24 times (stream.read), those of native by 1.3 (stream.write).`; nothing where no side
/// differs by much, or only one can be told of.
pub(crate) fn from_run_to_run(table: &ComparedTable, names: &SideNames, rows: &RowNames) -> Option<String> {
    let most = |side: usize| {
        let of_row = |(at, row): (usize, &SideValue)| Some((fastest_by_slowest(row)?, at));
        let spreads = table.rows.iter().map(|row| &row.sides[side]).enumerate().filter_map(of_row);
        spreads.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let mut told: Vec<_> = (0..table.sides.len()).filter_map(|side| Some((side, most(side)?))).collect();
    told.sort_by(|(_, one), (_, other)| other.0.total_cmp(&one.0));
    let [(first, (times, row)), others @ ..] = &told[..] else { return None };
    let other = |(side, (times, row)): &(usize, (f64, usize))| {
        format!("{} by {} ({})", names.short(*side), factor(*times), rows.name(*row))
    };
    let others = match others {
        [] => return None,
        [(_, (most, _)), ..] if others.len() > OTHERS_MOST => {
            format!("all others by at most {}", factor(*most))
        }
        _ => format!("those of {}", joined(others.iter().map(other).collect())),
    };
    (*times >= TIMES_LEAST).then(|| {
        format!(
            "{} of {} differ among themselves by up to {} times ({}), {others}.",
            capitalised(unit_names(table.units)[1]),
            names.short(*first),
            factor(*times),
            rows.name(*row),
        )
    })
}

/// Of runs that have an amount each, and of which all are known.
fn fastest_by_slowest(side: &SideValue) -> Option<f64> {
    let is_pooled = side.amounts.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let known = |(_, amount): &(usize, RunAmount)| match amount {
        RunAmount::Known(amount) if *amount > 0.0 => Some(*amount),
        _ => None,
    };
    let amounts: Option<Vec<f64>> = side.amounts.iter().map(known).collect();
    let amounts = amounts.filter(|amounts| amounts.len() >= RUNS_LEAST && !is_pooled)?;
    let most = amounts.iter().copied().fold(0.0, f64::max);
    Some(most / amounts.iter().copied().fold(f64::INFINITY, f64::min))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::table_of;
    use iolag_model::Operation;

    fn told(sides: &[&[f64]]) -> Option<String> {
        let runs = |runs: &&[f64]| runs.iter().map(|run| RunAmount::Known(*run)).collect::<Vec<_>>();
        let steady = [10.0, 10.5, 10.2].map(RunAmount::Known).to_vec();
        let names = ["/native", "/noisy", "/slow", "/d", "/e", "/f"];
        let table = table_of(
            &names[..sides.len()],
            &[
                (Operation::StreamRead, sides.iter().map(runs).collect()),
                (Operation::StreamWrite, vec![steady; sides.len()]),
            ],
        );
        from_run_to_run(&table, &SideNames::of(&table), &RowNames::of(&table))
    }

    #[test]
    fn the_noisy_side_comes_first_each_with_the_row_in_which_it_is_noisiest() {
        let [native, noisy, slow] = [[100.0, 102.0, 101.0], [90.0, 4.0, 60.0], [7.0, 7.0, 8.4]];
        assert_eq!(
            told(&[&native, &noisy, &slow]).unwrap(),
            "Runs of /noisy differ among themselves by up to 22 times (stream.read), those of /slow by 1.2 (stream.read) and /native by 1.1 (stream.write)."
        );
        assert_eq!(
            told(&[&native, &slow, &noisy, &native, &native, &native]).unwrap(),
            "Runs of /slow differ among themselves by up to 22 times (stream.read), all others by at most 1.2."
        );
    }

    #[test]
    fn what_is_steady_and_what_is_too_little_are_worth_no_sentence() {
        assert_eq!(told(&[&[100.0, 102.0, 101.0], &[90.0, 50.0, 60.0]]), None);
        assert_eq!(told(&[&[100.0, 102.0], &[90.0, 4.0]]), None, "of two runs");
        assert_eq!(told(&[&[100.0, 102.0], &[90.0, 0.0, 4.0]]), None, "one did not get there");
    }
}
