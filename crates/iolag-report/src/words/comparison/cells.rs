//! What is said of a single cell.

use iolag_analysis::compare::{ComparedCell, ComparedTable, UnitKind};
use iolag_analysis::{ComparedWord, RunAmount, RunQuantity, Standing};
use iolag_model::{Nanoseconds, counted, format_duration};

use crate::words::numbers::{NOTHING, percentage, rate, throughput};
use crate::words::percent::percent;

/// What is compared, as the heading has it.
pub(crate) fn quantity_in_words(quantity: RunQuantity) -> String {
    match quantity {
        RunQuantity::Rate => "the rate".to_owned(),
        RunQuantity::Throughput => "the throughput".to_owned(),
        RunQuantity::Median => "the median duration".to_owned(),
        RunQuantity::P95 => "the duration that 95 % of attempts did not exceed".to_owned(),
        RunQuantity::ShareOver(threshold) => {
            format!("the share of attempts over {}, where fewer is faster", format_duration(threshold))
        }
    }
}

/// The unit of [`amount`]s for programs.
pub(crate) const fn raw_unit(quantity: RunQuantity) -> &'static str {
    match quantity {
        RunQuantity::Rate => "per_second",
        RunQuantity::Throughput => "bytes_per_second",
        RunQuantity::Median | RunQuantity::P95 => "ns",
        RunQuantity::ShareOver(_) => "share",
    }
}

/// An amount with its unit, or its bound: `311/s`, `≥ 1.20 s`, `3 %`.
pub(crate) fn amount(quantity: RunQuantity, amount: RunAmount) -> String {
    let number = |amount: f64| match quantity {
        RunQuantity::Rate => format!("{}/s", rate(amount)),
        RunQuantity::Throughput => throughput(amount),
        RunQuantity::Median | RunQuantity::P95 => {
            format_duration(Nanoseconds(amount.round().max(0.0) as u64))
        }
        RunQuantity::ShareOver(_) => format!("{} %", percentage(100.0 * amount)),
    };
    match amount {
        RunAmount::Known(known) => number(known),
        RunAmount::AtLeast(least) => format!("≥ {}", number(least)),
        RunAmount::AtMost(most) => format!("≤ {}", number(most)),
        RunAmount::Open => NOTHING.to_owned(),
    }
}

/// The percent of a cell with their interval.
pub(crate) fn percent_of(cell: &ComparedCell) -> String {
    match &cell.compared.difference {
        Some(difference) => percent(difference.estimate(), cell.compared.interval),
        None => NOTHING.to_owned(),
    }
}

/// The word of a cell, and which of its runs are only bounded: `slower (1 of 9 hung or failed)`.
pub(crate) fn word_of(table: &ComparedTable, cell: &ComparedCell) -> String {
    let bounded = |side: usize| match cell.bounded[side] {
        0 => None,
        bounded => Some(format!("{bounded} of {}", cell.runs[side])),
    };
    // Elsewhere there is more than one reason.
    let is_by_duration = table.units == UnitKind::Run && table.threshold().is_none();
    let why = if is_by_duration && has_hung(table) { "hung or failed" } else { "only bounded" };
    let remark = match (bounded(0), bounded(1)) {
        (None, None) => String::new(),
        (None, Some(other)) => format!(" ({other} {why})"),
        (Some(base), None) => format!(" ({base} of the base {why})"),
        (Some(base), Some(other)) => format!(" ({other}, {base} of the base, {why})"),
    };
    format!("{}{remark}", word(table, cell))
}

/// Whether a run of it hung or failed. A whole run may be only bounded, too: where its attempts were ended with it, or took no step of the clock.
pub(crate) fn has_hung(table: &ComparedTable) -> bool {
    table.sides.iter().flat_map(|side| &side.standings).any(|standing| *standing != Standing::Whole)
}

/// The word alone.
pub(crate) fn word(table: &ComparedTable, cell: &ComparedCell) -> String {
    match cell.compared.word {
        _ if cell.runs == NO_PAIR => "no pairs".to_owned(),
        _ if is_alone(cell) => format!("no {} here", unit_names(table.units)[0]),
        ComparedWord::Faster => "faster".to_owned(),
        ComparedWord::Slower => "slower".to_owned(),
        ComparedWord::Same => format!("same within {}", same(table.same_within)),
        ComparedWord::NoDifferenceShown => "no difference shown".to_owned(),
        ComparedWord::TooFew { more } => format!("too few: {more} more"),
    }
}

/// As in `5 %`.
pub(crate) fn same(same_within: f64) -> String {
    format!("{} %", percentage(100.0 * same_within))
}

/// Of a cell whose sides took turns, and never in the same block or on the same day.
const NO_PAIR: [u32; 2] = [0, 0];

/// Whether there is nothing to compare: more runs would not tell.
pub(crate) fn is_alone(cell: &ComparedCell) -> bool {
    cell.runs.contains(&0)
}

/// For programs.
pub(crate) fn raw_word(cell: &ComparedCell) -> &'static str {
    match cell.compared.word {
        _ if cell.runs == NO_PAIR => "no-pair",
        _ if is_alone(cell) => "no-run",
        ComparedWord::Faster => "faster",
        ComparedWord::Slower => "slower",
        ComparedWord::Same => "same",
        ComparedWord::NoDifferenceShown => "no-difference-shown",
        ComparedWord::TooFew { .. } => "too-few",
    }
}

/// How many runs are lacking, if that is why nothing is said.
pub(crate) fn more(cell: &ComparedCell) -> Option<u32> {
    match cell.compared.word {
        ComparedWord::TooFew { more } if !is_alone(cell) => Some(more),
        _ => None,
    }
}

/// As in `9 runs`, of a watch `9 days`.
pub(crate) fn units(kind: UnitKind, count: u32) -> String {
    let [one, several] = unit_names(kind);
    counted(u64::from(count), one, several)
}

/// As in `3 more runs`.
pub(crate) fn more_units(kind: UnitKind, count: u32) -> String {
    let [one, several] = unit_names(kind).map(|name| format!("more {name}"));
    counted(u64::from(count), &one, &several)
}

/// What counts once, one of them and several.
pub(crate) const fn unit_names(kind: UnitKind) -> [&'static str; 2] {
    kind.names()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::study;

    #[test]
    fn only_what_hung_or_failed_is_called_so() {
        let mut table = study();
        let mut cell = table.rows[0].cells[0].clone();
        cell.bounded = [0, 1];
        assert!(word_of(&table, &cell).ends_with(" (1 of 9 only bounded)"));
        table.sides[1].standings[3] = Standing::Failed;
        assert!(word_of(&table, &cell).ends_with(" (1 of 9 hung or failed)"));
    }

    #[test]
    fn where_there_is_nothing_to_compare_no_runs_are_lacking() {
        let table = study();
        let mut cell = table.rows[0].cells[0].clone();
        cell.compared.word = ComparedWord::TooFew { more: 3 };
        let said = |runs| {
            let cell = ComparedCell { runs, ..cell.clone() };
            (word(&table, &cell), raw_word(&cell), more(&cell))
        };
        assert_eq!(said([9, 1]), ("too few: 3 more".to_owned(), "too-few", Some(3)));
        assert_eq!(said([9, 0]), ("no run here".to_owned(), "no-run", None));
        assert_eq!(said([0, 0]), ("no pairs".to_owned(), "no-pair", None));
    }
}
