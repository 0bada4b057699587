//! How a comparison came about: what is compared, runs and blocks, what its intervals promise.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::compare::{ComparedCell, ComparedTable, ComparedWorkload, Pairs, UnitKind};
use iolag_analysis::{ComparedWord, RunMethod, joined};
use iolag_model::{counted, format_duration};

use super::cells::{has_hung, is_alone, more, more_units, quantity_in_words, same, units};
use super::names::{RowNames, SideNames, plain};
use crate::words::percent::is_factor;

/// More runs than this nobody will make.
const MORE_MOST: u32 = 99;
/// Why a day, or a run, is only bounded.
const TOO_FAST: &str = "were too fast for the clock";

/// As in `Speed by the rate, in percent of client=native: positive is faster, negative is slower.`
pub(crate) fn heading(table: &ComparedTable, names: &SideNames) -> String {
    let has_factors = cells(table).any(|cell| {
        let estimate = cell.compared.difference.as_ref().map(|difference| difference.estimate());
        estimate.is_some_and(|estimate| is_factor(estimate, cell.compared.interval))
    });
    let base = names.base();
    let factors = if has_factors { " ×10 is ten times as fast, ÷10 a tenth." } else { "" };
    format!(
        "Speed by {}, in percent of {base}{} positive is faster, negative is slower.{factors}",
        quantities_in_words(table),
        // As of `memory:`.
        if base.ends_with(':') { ";" } else { ":" }
    )
}

/// As in `the rate`, or where rows differ in that, `the throughput of stream and the rate of tree`.
fn quantities_in_words(table: &ComparedTable) -> String {
    let of_workload = |workload: &ComparedWorkload| {
        format!("{} of {}", quantity_in_words(workload.quantity), plain(&workload.name))
    };
    match table.quantity() {
        Some(quantity) => quantity_in_words(quantity),
        None => joined(table.workloads.iter().map(of_workload).collect()),
    }
}

/// As in `9 blocks of 3 runs, interleaved; intervals hold together in 95 % of such tables (4 cells)`.
pub(crate) fn design(table: &ComparedTable, names: &SideNames, rows: &RowNames) -> String {
    let mut parts = vec![pairs(table, names)];
    parts.extend((!rows.common.is_empty()).then(|| rows.common.join(", ")));
    match table.family {
        _ if cells(table).all(|cell| cell.compared.interval.is_none()) => {}
        0 => {}
        1 => parts.push("the interval holds in 95 % of such tables (1 cell)".to_owned()),
        family => parts.push(format!("intervals hold together in 95 % of such tables ({family} cells)")),
    }
    let is_ranked = |cell: &&ComparedCell| {
        let method = cell.compared.difference.as_ref().map(|difference| difference.method());
        matches!(method, Some(RunMethod::SignedRanks | RunMethod::RankSums))
            && cell.compared.interval.is_some()
    };
    let ranked = cells(table).filter(is_ranked).count() as u64;
    if ranked > 0 {
        let cells = counted(ranked, "cell", "cells");
        let none = |threshold| format!("had none over {}", format_duration(threshold));
        let (why, of_days) = match table.threshold() {
            Some(threshold) if has_hung(table) => {
                (format!("hung, failed or {}", none(threshold)), none(threshold))
            }
            Some(threshold) => (none(threshold), none(threshold)),
            None if has_hung(table) => ("hung or failed".to_owned(), TOO_FAST.to_owned()),
            None => ("are only bounded".to_owned(), TOO_FAST.to_owned()),
        };
        parts.push(match table.units {
            UnitKind::Run | UnitKind::DayOfRuns => format!("{cells} by ranks, because runs {why}"),
            UnitKind::Day => format!(
                "{cells} by ranks, because days hung or {of_days}: as if a day resembled the one before by a half at least"
            ),
        });
    }
    parts.join("; ")
}

fn pairs(table: &ComparedTable, names: &SideNames) -> String {
    let compared = || cells(table).filter(|cell| !is_alone(cell));
    if compared().next().is_none() {
        return "nothing has a counterpart".to_owned();
    }
    let blocks: BTreeSet<(u32, &str)> = compared()
        .filter_map(|cell| match cell.pairs {
            Pairs::Blocks { blocks, order } => Some((blocks, order.name())),
            Pairs::Days { .. } | Pairs::Apart => None,
        })
        .collect();
    let orders: BTreeSet<&str> = blocks.iter().map(|(_, order)| *order).collect();
    let in_blocks = || {
        let counts: BTreeSet<u32> = blocks.iter().map(|(count, _)| *count).collect();
        let words = match (counts.first(), counts.last()) {
            (Some(1), Some(1)) => "1 block".to_owned(),
            (least, most) if least == most => format!("{} blocks", most.copied().unwrap_or(0)),
            (least, most) => {
                format!("{} to {} blocks", least.copied().unwrap_or(0), most.copied().unwrap_or(0))
            }
        };
        let orders = orders.iter().copied().collect::<Vec<_>>().join(" or ");
        let is_in_blocks = |side: &usize| {
            table.rows.iter().any(|row| {
                row.cells.get(side - 1).is_some_and(|cell| matches!(cell.pairs, Pairs::Blocks { .. }))
            })
        };
        let sides = 1 + (1..table.sides.len()).filter(is_in_blocks).count();
        format!("{words} of {}, {orders}", units(table.units, sides as u32))
    };
    let apart = || {
        let not_together = match table.units {
            UnitKind::Run | UnitKind::DayOfRuns => "not in blocks",
            UnitKind::Day => "not in pairs",
        };
        format!("{}, {not_together}", each_apart(table, names))
    };
    let shared: Vec<u32> = compared()
        .filter_map(|cell| match cell.pairs {
            Pairs::Days { days } => Some(days),
            Pairs::Blocks { .. } | Pairs::Apart => None,
        })
        .collect();
    if let (Some(least), Some(most)) = (shared.iter().min(), shared.iter().max()) {
        let most_in_words = units(table.units, *most);
        let days = if least == most { most_in_words } else { format!("{least} to {most_in_words}") };
        let is_elsewhere = compared().any(|cell| cell.pairs == Pairs::Apart);
        let elsewhere = if is_elsewhere { format!("; elsewhere {}", apart()) } else { String::new() };
        return format!("{days}, each of which has both sides{elsewhere}");
    }
    match (blocks.is_empty(), compared().any(|cell| cell.pairs == Pairs::Apart)) {
        (true, true) => apart(),
        (false, false) => in_blocks(),
        (false, true) => format!("{}; elsewhere {}", in_blocks(), apart()),
        (true, false) => "No cell".to_owned(),
    }
}

/// As in `9 runs of each side`, or `4 runs of native and 8 of nfs`; where rows differ in that, `4 to 8 runs of each side`.
fn each_apart(table: &ComparedTable, names: &SideNames) -> String {
    let mut counts: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for row in &table.rows {
        for (side, cell) in
            (1..).zip(&row.cells).filter(|(_, cell)| cell.pairs == Pairs::Apart && !is_alone(cell))
        {
            counts.entry(0).or_default().insert(cell.runs[0]);
            counts.entry(side).or_default().insert(cell.runs[1]);
        }
    }
    let all: BTreeSet<u32> = counts.values().flatten().copied().collect();
    let (least, most) = (all.first().copied().unwrap_or(0), all.last().copied().unwrap_or(0));
    if least == most {
        return format!("{} of each side", units(table.units, most));
    }
    let of_side = |(side, counts): (&usize, &BTreeSet<u32>)| {
        let [count] = counts.iter().copied().collect::<Vec<_>>()[..] else { return None };
        Some((count, names.short(*side)))
    };
    match counts.iter().map(of_side).collect::<Option<Vec<_>>>() {
        Some(sides) => {
            let told = sides.iter().enumerate().map(|(at, (count, name))| match at {
                0 => format!("{} of {name}", units(table.units, *count)),
                _ => format!("{count} of {name}"),
            });
            joined(told.collect())
        }
        None => format!("{least} to {} of each side", units(table.units, most)),
    }
}

pub(crate) fn cells(table: &ComparedTable) -> impl Iterator<Item = &ComparedCell> {
    table.rows.iter().flat_map(|row| &row.cells)
}

/// What to do where words say less than the reader hoped for.
pub(crate) fn remarks(table: &ComparedTable) -> Vec<String> {
    let lacking = cells(table).filter_map(more);
    let of_same = cells(table)
        .filter(|cell| cell.compared.word == ComparedWord::NoDifferenceShown)
        .filter_map(|cell| cell.compared.more_for_same);
    let lacking = lacking.max().map(|more| {
        let (more, are) = (more_units(table.units, more), if more == 1 { "is" } else { "are" });
        format!(
            "Too few: {more} of each side, or of the one that has fewer, {are} enough to say something; until then a difference may be chance."
        )
    });
    let of_same = of_same.min().filter(|more| *more <= MORE_MOST).map(|more| {
        format!("No difference shown does not mean the same: about {} of each side might show that they are the same within {}.", more_units(table.units, more), same(table.same_within))
    });
    lacking.into_iter().chain(of_same).collect()
}
