//! One sentence for several findings that say the same of several series of one place.

use iolag_analysis::history::{HistoryFinding, HistoryFindingKind, HistoryFound, ToldFinding};
use iolag_analysis::{factor_in_words, share_in_words};
use iolag_model::{SeriesKey, WallSpan};

use super::amounts::moment_in_words;
use super::changes::{levels_in_words, levels_together};
use super::endings::{FAILED, PAST_DEADLINE, said_in_words};
use super::factors::number_in_words;
use super::single_series::{extremes_in_words, how_often, modes_in_words};
use super::tails::{longest_in_words, slow_together};
use crate::finding::in_words::FindingInWords;
use crate::words::names::Names;
use crate::words::names::quoted;

/// All of `told` in one sentence, with the range of their numbers and the greatest of them.
pub(super) fn together(
    told: &ToldFinding<'_>,
    first: FindingInWords<HistoryFindingKind>,
    names: &Names,
) -> FindingInWords<HistoryFindingKind> {
    let mut sentence = claim(told, &first.sentence, &names.together(&told.subjects()), names);
    if let Some(detail) = told.most().map(detail).filter(|detail| !detail.is_empty()) {
        sentence += &format!("; most of all {detail}");
    }
    FindingInWords { severity: told.severity(), sentence: sentence + ".", evidence: Vec::new(), ..first }
}

/// From the first begin to the last end.
fn span_of(told: &ToldFinding<'_>) -> Option<WallSpan> {
    told.members
        .iter()
        .filter_map(|one| one.span)
        .reduce(|one, other| WallSpan { begin: one.begin.min(other.begin), end: one.end.max(other.end) })
}

/// What all of them say of these `series`, without a full stop; `alone` is what the first says by itself.
fn claim(told: &ToldFinding<'_>, alone: &str, series: &str, names: &Names) -> String {
    let first = told.members[0];
    let range = range_in_words(told);
    match &first.found {
        HistoryFound::Level(found) => levels_together(found, times_in_words(told), series, &range),
        HistoryFound::Slow(found) => slow_together(found, series, &range),
        HistoryFound::Failed(_) => format!("Of the attempts of {series}, {range} {FAILED}"),
        HistoryFound::PastDeadline(_) => format!("Of the attempts of {series}, {range} {PAST_DEADLINE}"),
        HistoryFound::Period(found) => format!("{series} swing {} by a factor of {range}", how_often(found)),
        HistoryFound::Modes(_) => {
            format!("{series} have separated modes with hardly anything between, a factor of {range} apart")
        }
        HistoryFound::BelowResolution(found) => format!(
            "Of {series}, {range} are below the clock's resolution of {}: how far below is not known",
            found.resolution_ns
        ),
        HistoryFound::SlowerPlace(_) => {
            let other = first.series.get(1).map(|key| SeriesKey { task: String::new(), ..key.clone() });
            let than = other.map_or_else(String::new, |key| names.on_place(&key));
            format!("{series} take {range} times as long as{than}")
        }
        // Nothing else has a saying. If it gets one before it has words here, the first speaks for all.
        _ => alone.trim_end_matches('.').to_owned(),
    }
}

/// As in `1.5 to 9.5`, `12 % to 20 %`.
fn range_in_words(told: &ToldFinding<'_>) -> String {
    let number = |amount: f64| match &told.members[0].found {
        HistoryFound::Level(found) => number_in_words(found.direction, amount),
        HistoryFound::Period(_) | HistoryFound::Modes(_) | HistoryFound::SlowerPlace(_) => {
            factor_in_words(amount)
        }
        _ => share_in_words(amount),
    };
    match told.range().map(|(least, most)| (number(least), number(most))) {
        Some((least, most)) if least == most => most,
        Some((least, most)) => format!("{least} to {most}"),
        None => String::new(),
    }
}

/// Of levels that last since when, and of those that are over from when to when.
fn times_in_words(told: &ToldFinding<'_>) -> [String; 2] {
    let spans = || told.members.iter().filter_map(|one| one.span);
    let ends = || spans().map(|span| span.end);
    let since = match (ends().min(), ends().max()) {
        (Some(first), Some(last)) if first == last => format!("Since {}", moment_in_words(first)),
        (Some(first), Some(last)) => {
            format!("Between {} and {}", moment_in_words(first), moment_in_words(last))
        }
        _ => String::new(),
    };
    // Of levels that are over, the spans of the findings are their own.
    let span = match (spans().next(), span_of(told)) {
        (Some(first), Some(all)) => {
            let (begin, end) = (moment_in_words(all.begin), moment_in_words(all.end));
            match spans().all(|span| span == first) {
                true => format!("From {begin} to {end}"),
                false => format!("For a time between {begin} and {end}"),
            }
        }
        _ => String::new(),
    };
    [since, span]
}

/// What is told of the one with the most, as in `` `list`: the longest 63 s ``.
fn detail(finding: &HistoryFinding) -> String {
    let task = finding.series.first().map_or_else(String::new, quoted);
    match &finding.found {
        HistoryFound::Level(found) => format!("{task}: {}", levels_in_words(found)),
        HistoryFound::Slow(found) => format!("{task}, {}", longest_in_words(found)),
        HistoryFound::Failed(found) => {
            format!("{task}: {} of {}{}", found.ended.count, found.ended.of, said_in_words(found))
        }
        HistoryFound::PastDeadline(found) => format!("{task}: {} of {}", found.ended.count, found.ended.of),
        HistoryFound::Period(found) => task + &extremes_in_words(found).unwrap_or_default(),
        HistoryFound::Modes(found) => format!("{task}: {}", modes_in_words(found)),
        HistoryFound::SlowerPlace(_) => task,
        _ => String::new(),
    }
}
