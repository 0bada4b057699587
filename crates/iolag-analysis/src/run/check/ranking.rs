//! How the directories of a check stand to each other, in one sentence.

use super::comparison::{
    Compared, FewButLong, Slower, can_be_compared, few_but_long, has_attempts, has_enough, slower_than_any,
};
use super::verdict::{Feeling, LeftUndone};
use crate::finding::words::duration_in_words;
use crate::statistics::quantile::censored::ATTEMPTS_LEAST;

/// A directory with what decides its place.
#[derive(Debug, Clone)]
pub(crate) struct Ranked<'a> {
    pub name: String,
    pub compared: Compared<'a>,
    pub feeling: Feeling,
    /// What the user's wish to end left undone, if nothing was measured.
    pub left_undone: LeftUndone,
    /// How long the worst row takes, as a part of what people notice: orders those that are slower than others.
    pub weight: f64,
    /// By what it is told apart from a quicker one.
    pub slower: Option<Slower<'a>>,
}

/// One sentence about all directories, the best first; nothing for less than two.
pub(crate) fn ranking(directories: &[Ranked<'_>]) -> Option<String> {
    if directories.len() < 2 {
        return None;
    }
    let (lost, measured): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) =
        directories.iter().partition(|one| one.feeling >= Feeling::Unreliable);
    let (mut slower, others): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) =
        measured.iter().copied().partition(|one| one.slower.is_some());
    slower.sort_by(|left, right| left.weight.total_cmp(&right.weight));
    let (mut long, others): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) =
        others.into_iter().partition(|one| long_of(one, &measured).is_some());
    long.sort_by_key(|one| (one.feeling, long_of(one, &measured).map(|long| long.longest.lower_bound())));
    let is_comparable = |one: &&Ranked<'_>| {
        let others = || measured.iter().filter(|other| !std::ptr::eq(**other, *one));
        let is_alone = || !others().any(|other| has_enough(other.compared));
        others().any(|other| can_be_compared(one.compared, other.compared))
            || (has_enough(one.compared) && is_alone())
    };
    // Who is told apart from somebody by many rows has been compared with them, too.
    let is_quicker = |one: &&Ranked<'_>| {
        let slower = slower.iter().filter_map(|other| other.slower).map(|slower| slower.than);
        let long = long.iter().filter_map(|other| long_of(other, &measured)).map(|long| long.than);
        slower.chain(long).any(|than| than == one.compared.name)
    };
    let is_compared = |one: &&Ranked<'_>| is_comparable(one) || is_quicker(one);
    let (best, few): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) = others.into_iter().partition(is_compared);
    let mut clauses = Vec::new();
    clauses.extend(best_words(&best));
    clauses.extend(alike(&slower).iter().map(|group| slower_words(group, measured.len())));
    clauses.extend(long.iter().filter_map(|one| Some(long_words(one, long_of(one, &measured)?))));
    clauses.extend(few_words(&few));
    clauses.extend(lost_words(lost));
    Some(format!("{}.", clauses.join("; ")))
}

/// The longest of its few attempts beside a directory that feels fast, if that is far beyond all of that one's.
fn long_of<'a>(one: &Ranked<'a>, measured: &[&Ranked<'a>]) -> Option<FewButLong<'a>> {
    let quick = measured.iter().filter(|other| other.feeling <= Feeling::Slower);
    let long = quick.filter_map(|other| few_but_long(one.compared, other.compared));
    long.max_by_key(|long| long.longest.lower_bound())
}

fn names(directories: &[&Ranked<'_>]) -> String {
    let names: Vec<&str> = directories.iter().map(|one| one.name.as_str()).collect();
    match names.as_slice() {
        [names @ .., last] if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        _ => names.concat(),
    }
}

/// Those that are slower than nobody.
fn best_words(best: &[&Ranked<'_>]) -> Option<String> {
    let first = best.first()?;
    let feel = match (best.len(), first.feeling) {
        // Slower than the memory: that is no place among directories.
        (1, Feeling::Slower) => "is quickest",
        (1, Feeling::Fast) => "feels fast",
        (1, Feeling::Noticeable) => "has slow moments",
        (1, Feeling::Sluggish) => "is sluggish",
        (1, _) => "is slow",
        _ if best.iter().any(|one| one.feeling != first.feeling) => "cannot be told apart",
        (_, Feeling::Slower) => "are alike",
        (_, Feeling::Fast) => "are alike: they feel fast",
        (_, Feeling::Noticeable) => "are alike: they have slow moments",
        (_, Feeling::Sluggish) => "are alike: they are sluggish",
        (_, _) => "are alike: they are slow",
    };
    Some(format!("{} {feel}", names(best)))
}

/// Neighbours of which none can be told apart from another of its group.
fn alike<'a, 'b>(slower: &[&'b Ranked<'a>]) -> Vec<Vec<&'b Ranked<'a>>> {
    let mut groups: Vec<Vec<&Ranked<'_>>> = Vec::new();
    let is_alike = |one: &Ranked<'_>, other: &Ranked<'_>| {
        one.feeling == other.feeling
            && can_be_compared(one.compared, other.compared)
            && slower_than_any(one.compared, &[other.compared]).is_none()
            && slower_than_any(other.compared, &[one.compared]).is_none()
    };
    for one in slower {
        match groups.last_mut() {
            Some(group) if group.iter().all(|other| is_alike(one, other)) => group.push(one),
            _ => groups.push(vec![*one]),
        }
    }
    groups
}

/// Those that are slower than others, with the row that decided.
fn slower_words(group: &[&Ranked<'_>], measured: usize) -> String {
    let are = if group.len() > 1 { "are alike and slower" } else { "is slower" };
    let Some(slower) = group.first().and_then(|one| one.slower) else { return names(group) };
    let by = if slower.attempts < ATTEMPTS_LEAST { "by few attempts that are all far slower" } else { "by" };
    let separator = if slower.attempts < ATTEMPTS_LEAST { ":" } else { "" };
    let place = if measured > 2 { format!(" in {}", slower.than) } else { String::new() };
    format!(
        "{} {are}, {by}{separator} `{}`: {} against {}{place}",
        names(group),
        slower.operation,
        duration_in_words(slower.value),
        duration_in_words(slower.other)
    )
}

/// One that took long in few attempts, which is no factor.
fn long_words(one: &Ranked<'_>, long: FewButLong<'_>) -> String {
    let felt = match one.feeling {
        Feeling::Fast | Feeling::Slower => "took long",
        Feeling::Noticeable => "had slow moments",
        Feeling::Sluggish => "felt sluggish",
        _ => "felt slow",
    };
    let FewButLong { operation, longest, attempts, other, than } = long;
    let (longest, other) = (duration_in_words(longest), duration_in_words(other));
    let name = &one.name;
    format!("{name} {felt} in few attempts: `{operation}` took {longest} (n = {attempts}), {other} in {than}")
}

/// Those of which too little is known, by whether more attempts or a steadier time would help.
fn few_words(few: &[&Ranked<'_>]) -> Vec<String> {
    let (unsteady, few): (Vec<&Ranked<'_>>, Vec<&Ranked<'_>>) =
        few.iter().copied().partition(|one| has_attempts(one.compared));
    let (were, have) =
        (if unsteady.len() > 1 { "were" } else { "was" }, if few.len() > 1 { "have" } else { "has" });
    let groups = [
        (unsteady, format!("{were} too unsteady to be compared")),
        (few, format!("{have} too few attempts to be compared")),
    ];
    groups
        .iter()
        .filter(|(group, _)| !group.is_empty())
        .map(|(group, words)| format!("{} {words}", names(group)))
        .collect()
}

/// Those that failed or did not answer, by what became of them.
fn lost_words(mut lost: Vec<&Ranked<'_>>) -> Vec<String> {
    let became = |one: &Ranked<'_>| match (one.feeling, one.compared.summaries.is_empty()) {
        (Feeling::Unknown, true) => (one.feeling, one.left_undone),
        _ => (one.feeling, LeftUndone::Nothing),
    };
    lost.sort_by_key(|one| became(one));
    let words = |group: &[&Ranked<'_>]| {
        let words = match (became(group[0]), group.len()) {
            ((Feeling::NotAnswering, _), 1) => "does not answer",
            ((Feeling::NotAnswering, _), _) => "do not answer",
            ((Feeling::Unknown, LeftUndone::SettingUp), 1) => "was interrupted while it was set up",
            ((Feeling::Unknown, LeftUndone::SettingUp), _) => "were interrupted while they were set up",
            ((Feeling::Unknown, LeftUndone::Measuring), 1) => "was interrupted before anything was measured",
            ((Feeling::Unknown, LeftUndone::Measuring), _) => "were interrupted before anything was measured",
            ((Feeling::Unknown, LeftUndone::Nothing), _) => "could not be measured",
            (_, 1) => "is unreliable",
            (_, _) => "are unreliable",
        };
        format!("{} {words}", names(group))
    };
    lost.chunk_by(|left, right| became(left) == became(right)).map(words).collect()
}
