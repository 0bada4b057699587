//! What is told of sides beside their speed, the same in text, Markdown and pages: a line for each thing, with what each side has of it.

use iolag_analysis::compare::{Beside, ComparedTable, MiddleOfRuns, UnitKind};
use iolag_analysis::joined;
use iolag_model::{CacheState, Nanoseconds, format_duration};

use super::cells::unit_names;
use super::names::{RowNames, SideNames};
use crate::words::interval::{self, Known, with_ends};
use crate::words::numbers::{NOTHING, percentage};

/// How an amount is written.
#[derive(Clone, Copy)]
enum Measure {
    /// Of one processor, in percent, which may be more than 100.
    Processors,
    /// Nanoseconds.
    Duration,
}

/// What stands above the lines.
pub(crate) fn beside_title(units: UnitKind) -> String {
    format!(
        "Beside the speed: the middle of the {} of a side, and between which it lies",
        unit_names(units)[1]
    )
}

/// What it is, and what each side has of it.
pub(crate) fn beside_lines(table: &ComparedTable, rows: &RowNames) -> Vec<(String, Vec<String>)> {
    let line = |(what, sides): (&Beside, &Vec<Option<MiddleOfRuns>>)| {
        let (name, measure) = match what {
            Beside::Processors { row, .. } => {
                (format!("processor time of elapsed, {}", rows.name(*row)), Measure::Processors)
            }
            Beside::Caches(CacheState::Warm) => ("filling caches took".to_owned(), Measure::Duration),
            Beside::Caches(_) => ("dropping caches took".to_owned(), Measure::Duration),
        };
        (name, sides.iter().map(|side| of_side(measure, *side)).collect())
    };
    table.beside.iter().map(|one| line((&one.what, &one.sides))).collect()
}

/// Which sides a faster storage would change little for.
pub(crate) fn at_processor_speed(table: &ComparedTable, names: &SideNames, rows: &RowNames) -> Vec<String> {
    let mut told: Vec<(&Vec<usize>, Vec<String>)> = Vec::new();
    for one in &table.beside {
        let Beside::Processors { row, at_processor_speed } = &one.what else { continue };
        match told.iter_mut().find(|(sides, _)| *sides == at_processor_speed) {
            Some((_, of)) => of.push(rows.name(*row).to_owned()),
            None => told.push((at_processor_speed, vec![rows.name(*row).to_owned()])),
        }
    }
    let sentence = |(sides, of): (&Vec<usize>, Vec<String>)| {
        let runs = if sides.len() == 1 { "runs" } else { "run" };
        let of = joined(of);
        format!(
            "{} {runs} at processor speed in {of}: a faster storage would change little there.",
            names.list(sides)
        )
    };
    told.into_iter().filter(|(sides, _)| !sides.is_empty()).map(sentence).collect()
}

/// Of one run, or of runs that are alike, the amount alone.
fn of_side(measure: Measure, side: Option<MiddleOfRuns>) -> String {
    let Some(MiddleOfRuns { middle, least, most, .. }) = side else { return NOTHING.to_owned() };
    let ends = [least, most];
    match measure {
        Measure::Processors => {
            let [middle, least, most] = [middle, least, most].map(|share| percentage(100.0 * share));
            if least == most { format!("{middle} %") } else { format!("{middle} [{least}–{most}] %") }
        }
        Measure::Duration if least == most => format_duration(Nanoseconds(middle as u64)),
        Measure::Duration => {
            with_ends(interval::Measure::Duration, Known::exactly(middle), ends.map(Known::exactly))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{streams, study};

    #[test]
    fn what_no_run_has_is_not_told() {
        let table = study();
        let rows = RowNames::of(&table);
        assert!(beside_lines(&table, &rows).is_empty());
        assert!(at_processor_speed(&table, &SideNames::of(&table), &rows).is_empty());
    }

    #[test]
    fn each_side_has_its_middle_and_range() {
        let table = streams();
        let (names, rows) = (SideNames::of(&table), RowNames::of(&table));
        let lines = beside_lines(&table, &rows);
        let told: Vec<String> =
            lines.iter().map(|(name, sides)| format!("{name}: {}", sides.join(" / "))).collect();
        assert_eq!(
            told,
            [
                "processor time of elapsed, stream.read: 100 [98–101] % / 60 [55–64] % / –",
                "processor time of elapsed, stream.write: 100 [99–102] % / 75 % / 70 [66–75] %",
                "dropping caches took: 2.00 [1.90–2.30] s / 51.0 [48.0–55.0] s / 22.0 s",
            ]
        );
        assert_eq!(
            at_processor_speed(&table, &names, &rows),
            [
                "native runs at processor speed in stream.read and stream.write: a faster storage would change little there."
            ]
        );
    }
}
