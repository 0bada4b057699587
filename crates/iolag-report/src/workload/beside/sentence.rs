//! What was felt most, in a few sentences.

use iolag_analysis::{BesideAnalysis, BesideCell, BesideTime, Felt, TimesAsLong, stage_name};
use iolag_model::{LoadTime, Operation, Phase, Standpoint, counted, format_bytes};

use crate::words::estimates::quantile;

/// `While 20.0 GiB were written, listing its directory, as ls -l does, took 1.3 [1.2–1.4] times as long as before; one hung for ≥ 14 min. In another directory …`
pub(crate) fn beside_sentence(analysis: &BesideAnalysis) -> String {
    let Some(felt) = analysis.felt_most() else {
        let told = if analysis.rows.is_empty() {
            "Nothing was measured beside the load."
        } else if analysis.is_too_short() {
            "Whether anybody beside the load waited longer is not known: it was too short for the few attempts that were made."
        } else {
            "Nobody beside the load was shown to wait longer than before it."
        };
        return told.to_owned();
    };
    let mut sentences = vec![format!(
        "{}, {} {}.",
        while_(felt.time),
        what(felt.standpoint, felt.operation),
        course(felt.cell)
    )];
    sentences.extend(elsewhere(analysis, &felt));
    if analysis.is_machine_slower(&felt) {
        sentences.push(
            "This machine's own memory was slower, too: some of that is the machine, and not the storage."
                .to_owned(),
        );
    }
    sentences.join(" ")
}

/// `While 20.0 GiB were written`.
fn while_(time: &BesideTime) -> String {
    let Some(stage) = time.stage else { return "After the load".to_owned() };
    let moved = match stage.phase {
        Phase::Write => "written",
        Phase::Rewrite => "written over",
        Phase::RandomWrite => "written over at random",
        Phase::Read => "read",
        Phase::RandomRead => "read at random",
        _ => return format!("During {}", stage_name(stage.phase, stage.iteration)),
    };
    let again = if stage.iteration > 0 { " again" } else { "" };
    format!("While {} were {moved}{again}", format_bytes(stage.bytes))
}

/// What is done where, as what a sentence is about.
pub(crate) fn what(standpoint: Standpoint, operation: Operation) -> String {
    let place = place(standpoint);
    match (operation, standpoint) {
        (Operation::Stat, Standpoint::File) => "stat of its file".to_owned(),
        (Operation::Stat, Standpoint::Directory) => format!("stat of another file in {place}"),
        (Operation::Stat, _) => format!("stat of a file in {place}"),
        (Operation::ListWithAttributes, _) => format!("listing {place}, as ls -l does,"),
        (Operation::Read, _) => format!("reading a small file in {place}"),
        (Operation::Create, _) => format!("creating a small file in {place}"),
        _ => format!("{operation} in {place}"),
    }
}

/// What a place is called.
pub(crate) const fn place(standpoint: Standpoint) -> &'static str {
    match standpoint {
        Standpoint::File => "its file",
        Standpoint::Directory => "its directory",
        Standpoint::Sibling => "another directory",
        Standpoint::Control => "this machine's memory",
    }
}

fn course(cell: &BesideCell) -> String {
    let mut parts = Vec::new();
    if cell.is_longer {
        parts.extend(
            cell.times_as_long.map(|times| format!("took {} times as long as before", factor(times))),
        );
    }
    if cell.stuck() > 0 || cell.is_stall {
        let longest = quantile(cell.longest());
        parts.push(match cell.stuck() {
            0 => format!("once took {longest}"),
            1 => format!("hung once, for {longest}"),
            stuck => format!("hung {stuck} times, the longest for {longest}"),
        });
    }
    parts.join(", and ")
}

/// As in `In another directory and this machine's memory it was not shown to take longer.`: where it is alike in one sentence.
fn elsewhere(analysis: &BesideAnalysis, felt: &Felt<'_>) -> Vec<String> {
    let mut alike: Vec<(String, Vec<&str>)> = Vec::new();
    let others = [Standpoint::Directory, Standpoint::Sibling, Standpoint::Control];
    for other in others.into_iter().filter(|other| *other != felt.standpoint) {
        let Some(other) = analysis.elsewhere(felt, other) else { continue };
        let (took, place) = (took(&other), place(other.standpoint));
        match alike.iter_mut().find(|(known, _)| *known == took) {
            Some((_, places)) => places.push(place),
            None => alike.push((took, vec![place])),
        }
    }
    alike.into_iter().map(|(took, places)| format!("In {} it {took}.", enumerated(&places))).collect()
}

/// `a, b and c`.
fn enumerated(places: &[&str]) -> String {
    match places {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => places.concat(),
    }
}

fn took(other: &Felt<'_>) -> String {
    match (other.cell.stuck(), other.cell.times_as_long) {
        (0, _) if other.cell.is_stall => format!("once took {}", quantile(other.cell.longest())),
        (0, Some(times)) if other.cell.is_longer => format!("took {} times as long", factor(times)),
        (0, Some(_)) => "was not shown to take longer".to_owned(),
        (0, None) => "cannot be compared with before".to_owned(),
        (1, _) => "hung once".to_owned(),
        (stuck, _) => format!("hung {}", counted(stuck, "time", "times")),
    }
}

/// `1.30 [1.20–1.41]`.
pub(crate) fn factor(times: TimesAsLong) -> String {
    let least = if times.is_at_least { "≥ " } else { "" };
    let value = format!("{least}{}", times_in_words(times.factor));
    let ends = times.interval.map(|ends| ends.map(times_in_words));
    ends.map_or_else(|| value.clone(), |[low, high]| format!("{value} [{low}–{high}]"))
}

/// With as many digits as people read.
pub(crate) fn times_in_words(times: f64) -> String {
    match times {
        large if large >= 99.5 => format!("{large:.0}"),
        middle if middle >= 9.95 => format!("{middle:.1}"),
        small => format!("{small:.2}"),
    }
}

/// What a time of the load is called in a table.
pub(crate) fn time_name(time: &BesideTime) -> String {
    match (time.time, time.stage) {
        (LoadTime::Before, _) => "before".to_owned(),
        (LoadTime::After, _) => "after".to_owned(),
        (_, Some(stage)) => stage_name(stage.phase, stage.iteration),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::LoadStage;
    use iolag_model::StageIndex;

    #[test]
    fn factors_have_as_many_digits_as_people_read() {
        let times =
            |factor, interval, is_at_least| TimesAsLong { factor, interval, is_at_least, before_ns: 1e6 };
        assert_eq!(factor(times(1.3, Some([1.2, 1.409]), false)), "1.30 [1.20–1.41]");
        assert_eq!(factor(times(22_814.2, None, true)), "≥ 22814");
        assert_eq!(factor(times(12.34, Some([9.96, 101.0]), false)), "12.3 [10.0–101]");
    }

    #[test]
    fn what_the_load_did_meanwhile_is_told_in_words() {
        let time = |phase, iteration| BesideTime {
            time: LoadTime::During(StageIndex(1)),
            stage: Some(LoadStage { phase, iteration, bytes: 20 << 30 }),
        };
        assert_eq!(while_(&time(Phase::Write, 0)), "While 20.0 GiB were written");
        assert_eq!(while_(&time(Phase::RandomRead, 1)), "While 20.0 GiB were read at random again");
        assert_eq!(while_(&time(Phase::Benchmark, 1)), "During benchmark 2");
        assert_eq!(enumerated(&["a", "b", "c"]), "a, b and c");
        assert_eq!(
            what(Standpoint::Sibling, Operation::ListWithAttributes),
            "listing another directory, as ls -l does,"
        );
    }
}
