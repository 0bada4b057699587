//! What is not in a comparison, in sentences.

use std::collections::BTreeMap;

use iolag_analysis::Standing;
use iolag_analysis::compare::{ComparedTable, LeftOut, RowKey, UnitKind};
use iolag_model::counted;

use super::cells::unit_names;
use super::names::{SideNames, row_name};

/// More rows than this are counted.
const ROWS_MOST: usize = 8;

/// What was left out: first sides without a run and runs that say nothing of their target, then what sides do not have in common.
pub(crate) fn left_out(table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let [one, several] = unit_names(table.units);
    let mut runs: BTreeMap<(u8, usize), u64> = BTreeMap::new();
    let mut rows: BTreeMap<&[usize], Vec<&RowKey>> = BTreeMap::new();
    let mut sides = Vec::new();
    for left_out in &table.left_out {
        match left_out {
            LeftOut::Side { side } => sides.push(format!("{} has no {one}.", names.short(*side))),
            LeftOut::Run { side, standing, .. } => *runs.entry((weight(*standing), *side)).or_default() += 1,
            LeftOut::Row { key, missing } => rows.entry(missing).or_default().push(key),
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
            (_, 1) => format!("{of} is in no row."),
            _ => format!("{of} are in no row."),
        }
    });
    let of_rows = rows.into_iter().map(|(missing, rows)| {
        let has = if missing.len() == 1 { "has" } else { "have" };
        format!("{} {has} no {one} of: {}.", names.list(missing), rows_together(rows))
    });
    sides.into_iter().chain(of_runs).chain(of_rows).collect()
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
        Standing::Whole | Standing::Hung | Standing::Failed => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::study;

    #[test]
    fn what_was_broken_off_is_told_from_what_still_runs() {
        let mut table = study();
        let of = |standing| LeftOut::Run { side: 2, run: "20261128-090000-0a1b".to_owned(), standing };
        table.left_out = [Standing::Running, Standing::BrokenOff, Standing::Running].map(of).to_vec();
        let told = left_out(&table, &SideNames::of(&table));
        assert_eq!(told, ["1 run of nfs was broken off.", "2 runs of nfs are still running."]);
    }
}
