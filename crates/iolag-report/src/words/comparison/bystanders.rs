//! What was felt beside the loads of sides, the same in text, Markdown and pages: what was felt most of each side in a sentence, and a line
//! for each place and thing.

use iolag_analysis::compare::{ComparedBystander, ComparedTable, FeltOfSide, MiddleOfRuns};

use super::names::SideNames;
use crate::words::estimates::quantile;
use crate::words::numbers::NOTHING;
use crate::workload::beside::sentence::{place, times_in_words, what};

/// What stands above the lines.
pub(crate) const TITLE: &str = "Beside the load: times as long as before it, in the stage in which that was most; the middle of the runs of a side, and between which it lies";

/// What was felt most, of each side by itself, and then of whom nothing was; nothing if nobody measured.
pub(crate) fn bystander_sentences(table: &ComparedTable, names: &SideNames) -> Vec<String> {
    let measured =
        |side: &usize| table.bystanders.iter().any(|one| one.sides.get(*side).is_some_and(Option::is_some));
    let measured: Vec<usize> = (0..table.sides.len()).filter(measured).collect();
    let (mut told, mut calm, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for side in measured {
        match table.felt_most(side) {
            Some((row, felt)) => told.push(format!(
                "Beside the load of {}, {} {}.{}",
                names.short(side),
                what(row.standpoint, row.operation),
                course(felt),
                if table.is_machine_slower(side, row) {
                    " This machine's own memory was slower, too: some of that is the machine, and not the storage."
                } else {
                    ""
                }
            )),
            None if table.is_too_short(side) => unknown.push(side),
            None => calm.push(side),
        }
    }
    if !calm.is_empty() {
        told.push(format!(
            "Beside the load of {} nobody was shown to wait longer than before it.",
            names.list(&calm)
        ));
    }
    if !unknown.is_empty() {
        told.push(format!(
            "Whether anybody waited longer beside the load of {} is not known: it was too short for the few attempts that were made.",
            names.list(&unknown)
        ));
    }
    told
}

/// As in `took 12.3 [10.1–15.0] times as long as before, and hung 3 times, the longest for ≥ 14 min`.
fn course(felt: FeltOfSide) -> String {
    let mut parts = Vec::new();
    if let Some(times) = felt.times.filter(|_| felt.is_longer()) {
        parts.push(format!("took {} times as long as before", times_of(times)));
    }
    let longest = || quantile(felt.longest);
    match felt.stuck {
        0 if felt.is_stalled() => parts.push(format!("once took {}", longest())),
        0 => {}
        1 => parts.push(format!("hung once, for {}", longest())),
        stuck => parts.push(format!("hung {stuck} times, the longest for {}", longest())),
    }
    parts.join(", and ")
}

/// Of one run, or of runs that are alike, the middle alone.
fn times_of(MiddleOfRuns { middle, least, most, .. }: MiddleOfRuns) -> String {
    let [middle, least, most] = [middle, least, most].map(times_in_words);
    if least == most { middle } else { format!("{middle} [{least}–{most}]") }
}

/// What was asked where, and what was felt beside each side.
pub(crate) fn bystander_lines(table: &ComparedTable) -> Vec<(String, Vec<String>)> {
    let of_side = |felt: &Option<FeltOfSide>| {
        let Some(felt) = felt else { return NOTHING.to_owned() };
        let times = felt.times.map_or_else(|| NOTHING.to_owned(), times_of);
        match felt.stuck {
            0 => times,
            stuck => format!("{times}, {stuck} hung"),
        }
    };
    let line = |one: &ComparedBystander| {
        let name = format!("{}, {}", place(one.standpoint), one.operation);
        (name, one.sides.iter().map(of_side).collect())
    };
    table.bystanders.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::comparison::samples::{streams, study};

    #[test]
    fn where_nobody_measured_nothing_is_told() {
        let table = study();
        assert!(bystander_lines(&table).is_empty());
        assert!(bystander_sentences(&table, &SideNames::of(&table)).is_empty());
    }

    #[test]
    fn each_side_has_what_was_felt_most_and_who_was_not_felt_comes_together() {
        let table = streams();
        assert_eq!(
            bystander_sentences(&table, &SideNames::of(&table)),
            [
                "Beside the load of nfs, listing its directory, as ls -l does, took 12.3 [10.1–15.0] times as long as before, and hung 3 times, the longest for ≥ 14 min 00 s.",
                "Beside the load of native and lnet-1.8.1 nobody was shown to wait longer than before it."
            ]
        );
        let lines: Vec<String> = bystander_lines(&table)
            .iter()
            .map(|(name, sides)| format!("{name}: {}", sides.join(" / ")))
            .collect();
        assert_eq!(
            lines,
            [
                "its directory, list+stat: 1.05 [0.98–1.10] / 0.99 / 12.3 [10.1–15.0], 3 hung",
                "this machine's memory, list+stat: 1.01 [0.98–1.03] / – / 1.00 [0.97–1.05]"
            ]
        );
    }

    #[test]
    fn of_loads_that_were_too_short_nothing_is_known() {
        let mut table = streams();
        for row in &mut table.bystanders {
            row.sides[1].iter_mut().for_each(|felt| felt.judged = 0);
        }
        let told = bystander_sentences(&table, &SideNames::of(&table));
        assert!(
            told[2].starts_with("Whether anybody waited longer beside the load of lnet-1.8.1 is not known"),
            "{told:?}"
        );
        assert!(told[1].starts_with("Beside the load of native nobody"), "{told:?}");
    }

    #[test]
    fn a_machine_that_is_slower_itself_is_told_with_it() {
        let mut table = streams();
        table.bystanders[1].sides[2].as_mut().unwrap().longer = 9;
        let told = bystander_sentences(&table, &SideNames::of(&table));
        assert!(told[0].ends_with(
            "This machine's own memory was slower, too: some of that is the machine, and not the storage."
        ));
    }
}
