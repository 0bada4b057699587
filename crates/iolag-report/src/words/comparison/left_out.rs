//! What is not in a comparison, in sentences.

use std::collections::BTreeMap;

use iolag_analysis::compare::{ComparedTable, LeftOut, Pairs, RowKey, UnitKind};
use iolag_analysis::{Standing, attempts_needed};
use iolag_model::counted;

use super::cells::unit_names;
use super::doubts::{attempts_in_words, told};
use super::names::{SideNames, plain, row_name};

/// More rows than this are counted.
const ROWS_MOST: usize = 8;
/// The quantile that takes many attempts.
const TAIL: f64 = 0.95;

/// What was left out: first sides without a run and runs that say nothing of their target, then those without a counterpart, then what sides do not have
/// in common.
pub(crate) fn left_out(table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let [one, several] = unit_names(table.units);
    let mut sides = Vec::new();
    let mut runs: BTreeMap<(u8, usize), u64> = BTreeMap::new();
    let mut rows: BTreeMap<&[usize], Vec<&RowKey>> = BTreeMap::new();
    let mut few: BTreeMap<(String, &Vec<Option<u64>>), Vec<&RowKey>> = BTreeMap::new();
    let mut unpaired: BTreeMap<(usize, usize, u64, &str), Vec<&RowKey>> = BTreeMap::new();
    for left_out in &table.left_out {
        match left_out {
            LeftOut::Side { side } => sides.push(format!("{} has no {one}.", names.short(*side))),
            LeftOut::Unread { sentence } => sides.push(format!("{}.", plain(sentence))),
            LeftOut::Run { side, standing, .. } => *runs.entry((weight(*standing), *side)).or_default() += 1,
            LeftOut::Row { key, missing } => rows.entry(missing).or_default().push(key),
            LeftOut::FewAttempts { key, quantity, attempts } => {
                few.entry((quantity.to_string(), attempts)).or_default().push(key);
            }
            LeftOut::Unpaired { key, side, against, runs, pairs } => {
                let group = (*side, *against, runs.len() as u64, no_counterpart(*pairs));
                unpaired.entry(group).or_default().push(key);
            }
        }
    }
    let of_runs = runs.into_iter().map(|((weight, side), count)| {
        let of = format!("{} of {}", counted(count, one, several), names.short(side));
        match (weight, count) {
            (0, _) if table.units == UnitKind::Day => format!("{of} measured nothing: every attempt failed."),
            (0, 1) => format!("{of} measured nothing: its target let nobody begin."),
            (0, _) => format!("{of} measured nothing: their targets let nobody begin."),
            (1, 1) => format!("{of} was broken off."),
            (1, _) => format!("{of} were broken off."),
            (2, 1) => format!("{of} is still running."),
            (2, _) => format!("{of} are still running."),
            (3, 1) => format!("{of} is void: it did not do what its program did."),
            (3, _) => format!("{of} are void: they did not do what their program did."),
            (_, 1) => format!("{of} is in no row."),
            _ => format!("{of} are in no row."),
        }
    });
    let of_unpaired = unpaired.into_iter().map(|((side, against, count, why), rows)| {
        let (runs, is) = (counted(count, one, several), if count == 1 { "is" } else { "are" });
        let [of, other] = [side, against].map(|side| names.short(side));
        format!("{runs} of {of} {is} not compared with {other}, of which {why}: {}.", rows_together(rows))
    });
    let of_few = few.into_iter().map(|((quantity, attempts), rows)| {
        let attempts = told(&attempts_in_words(attempts), names);
        format!(
            "{quantity} is not compared where a {one} has {attempts} attempts, since it depends on their number if there are fewer than {}: {}.",
            attempts_needed(TAIL),
            rows_together(rows)
        )
    });
    let of_rows = rows.into_iter().map(|(missing, rows)| {
        let has = if missing.len() == 1 { "has" } else { "have" };
        format!("{} {has} no {one} of: {}.", names.list(missing), rows_together(rows))
    });
    sides.into_iter().chain(of_runs).chain(of_unpaired).chain(of_few).chain(of_rows).collect()
}

/// What the other side lacks.
const fn no_counterpart(pairs: Pairs) -> &'static str {
    match pairs {
        Pairs::Blocks { .. } => "the same block lacks some",
        Pairs::Days { .. } => "the same day lacks some",
        Pairs::Apart => "fewer than two are like that",
    }
}

/// As in `stat, 1 client; read, 1 client; 6 more rows`.
pub(super) fn rows_together(rows: Vec<&RowKey>) -> String {
    let more = rows.len().saturating_sub(ROWS_MOST);
    let told = rows.into_iter().take(ROWS_MOST).map(row_name).collect::<Vec<_>>().join("; ");
    if more > 0 { format!("{told}; {more} more rows") } else { told }
}

/// What it means comes first: a target that let nobody begin may be the finding.
const fn weight(standing: Standing) -> u8 {
    match standing {
        Standing::Unreached => 0,
        Standing::BrokenOff => 1,
        Standing::Running => 2,
        Standing::Void => 3,
        Standing::Whole | Standing::Hung | Standing::Failed => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::study;

    #[test]
    fn runs_without_a_counterpart_are_counted_by_their_rows() {
        let mut table = study();
        let unpaired =
            |row: usize, side: usize, against: usize, runs: usize, pairs: Pairs| LeftOut::Unpaired {
                key: table.rows[row].key.clone(),
                side,
                against,
                runs: vec!["20261128-090000-0a1b".to_owned(); runs],
                pairs,
            };
        let blocks = Pairs::Blocks { blocks: 7, order: iolag_model::Order::Random };
        let left =
            [unpaired(0, 0, 1, 1, blocks), unpaired(1, 0, 1, 1, blocks), unpaired(1, 2, 0, 9, Pairs::Apart)];
        table.left_out = left.to_vec();
        let told = left_out(&table, &SideNames::of(&table));
        let expected = [
            "1 run of native is not compared with lnet-1.8.1, of which the same block lacks some: read, 4 clients; create, 4 clients.",
            "9 runs of nfs are not compared with native, of which fewer than two are like that: create, 4 clients.",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn quantiles_of_unlike_numbers_of_attempts_are_told_with_these() {
        let mut table = study();
        let few = |row: usize| LeftOut::FewAttempts {
            key: table.rows[row].key.clone(),
            quantity: iolag_analysis::RunQuantity::P95,
            attempts: vec![Some(24), Some(96), Some(96)],
        };
        table.left_out = vec![few(0), few(1)];
        let told = left_out(&table, &SideNames::of(&table));
        let expected = "p95 is not compared where a run has 24 (native), 96 (lnet-1.8.1 and nfs) attempts, since it depends on their number if there are fewer than 72: read, 4 clients; create, 4 clients.";
        assert_eq!(told, [expected]);
    }

    #[test]
    fn what_was_broken_off_is_told_from_what_still_runs() {
        let mut table = study();
        let of = |standing| LeftOut::Run { side: 2, run: "20261128-090000-0a1b".to_owned(), standing };
        table.left_out = [Standing::Running, Standing::BrokenOff, Standing::Running].map(of).to_vec();
        let told = left_out(&table, &SideNames::of(&table));
        assert_eq!(told, ["1 run of nfs was broken off.", "2 runs of nfs are still running."]);
    }
}
