//! The directories of a check beside each other: which can be told apart, by which row, and how far apart they are.
//!
//! A row tells two directories apart if each has at least six attempts of it, the intervals of the medians are apart, and people feel
//! it: the slower median is over 0.1 s and twice the other, or ten times the other and 10 ms more. A directory may be so slow that no row
//! has six attempts. Then they count together: those rows of which every attempt takes over 0.1 s and ten times the longest of the
//! other's six or more, if it is a matter of chance in fewer than one of 10 000 cases that all of these are on one side.
//!
//! Few attempts of which one takes ten times the longest of the other's six or more are told, but no factor is made of them ([`FewButLong`]).
//! What cannot be told apart so is alike if it feels the same; two directories that are the same are told apart in fewer than 1 of 20 checks
//! (`tests/run/check_ranking.rs`). Nothing is ranked by an extrapolation: a partial task took at least as long as was seen.

use std::cmp::Ordering;

use iolag_model::{Level, Nanoseconds, Operation};

use super::rows::{IMMEDIATE, KNOWN_ROWS};
use crate::finding::words::factor_in_words;
use crate::run::summary::{QuantileInterval, Summary};
use crate::statistics::quantile::censored::{ATTEMPTS_LEAST, QuantileValue};

/// A factor below this is no news.
const FACTOR_LEAST: f64 = 2.0;
/// Where a single answer is within what people notice, or where there is no interval, only what is far apart is news.
const FACTOR_LARGE: f64 = 10.0;
/// So often, at most, few attempts may lie beyond the others by chance.
const CHANCE: f64 = 1e-4;
/// A difference below this is felt by nobody, however often it is repeated by hand.
const DIFFERENCE_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// What a row typically takes, as far as it is known: the median or its lower bound.
pub(crate) fn typical(summary: &Summary) -> Option<Nanoseconds> {
    summary.durations.median.value.lower_bound()
}

/// A row with enough attempts for an interval of its median.
#[derive(Debug, Clone, Copy)]
struct Sure {
    median_ns: f64,
    low: Nanoseconds,
    /// Absent if there is no upper bound.
    high: Option<Nanoseconds>,
}

impl Sure {
    fn of(summary: &Summary) -> Option<Self> {
        let durations = &summary.durations;
        let QuantileInterval::Between { low, high } = durations.median.interval else { return None };
        if durations.count < ATTEMPTS_LEAST {
            return None;
        }
        let high = match high {
            QuantileValue::Exactly(high) => Some(high),
            QuantileValue::Below(high) => Some(high),
            QuantileValue::AtLeast(_) | QuantileValue::TooFew { .. } | QuantileValue::FewStretches { .. } => {
                None
            }
        };
        Some(Self { median_ns: typical(summary)?.0 as f64, low: low.lower_bound()?, high })
    }

    /// How many times as long it takes, if that is a difference that people feel.
    fn times(self, other: Self) -> Option<f64> {
        let factor = self.median_ns / other.median_ns.max(1.0);
        let difference = self.median_ns - other.median_ns;
        let is_apart = other.high.is_some_and(|high| self.low > high);
        let is_felt = (self.low > IMMEDIATE && factor >= FACTOR_LEAST)
            || (factor >= FACTOR_LARGE && difference >= DIFFERENCE_LEAST.0 as f64);
        (is_apart && is_felt).then_some(factor)
    }
}

/// A directory as it is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared<'a> {
    pub name: &'a str,
    pub summaries: &'a [Summary],
    pub is_control: bool,
}

/// That a row takes longer than elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slower<'a> {
    pub operation: Operation,
    pub value: QuantileValue,
    /// How many attempts `value` is of; with fewer than six it was not alone in deciding.
    pub attempts: u64,
    pub other: QuantileValue,
    pub times: f64,
    pub than: &'a str,
    pub than_control: bool,
}

impl Slower<'_> {
    /// Whether people feel it at the prompt.
    pub(crate) fn is_felt(&self) -> bool {
        self.value.lower_bound().is_some_and(|value| value > IMMEDIATE)
    }

    /// ``70 times as long as in /scratch``.
    pub(crate) fn words(&self) -> String {
        let at_least = if matches!(self.value, QuantileValue::AtLeast(_)) { "at least " } else { "" };
        let times = factor_in_words(self.times);
        match self.than_control {
            true => format!("{at_least}{times} times as long as in this machine's memory"),
            false => format!("{at_least}{times} times as long as in {}", self.than),
        }
    }
}

/// Rows in which a user waits: tasks, and whole operations on small files.
fn is_compared(summary: &&Summary) -> bool {
    matches!(summary.key.operation.level(), Level::Task | Level::Object)
}

/// Whether there is a row with enough independent attempts.
pub(crate) fn has_enough(one: Compared<'_>) -> bool {
    one.summaries.iter().filter(is_compared).any(|row| Sure::of(row).is_some())
}

/// Whether there is a row with enough of them, were they independent.
pub(crate) fn has_attempts(one: Compared<'_>) -> bool {
    one.summaries.iter().filter(is_compared).any(|row| row.durations.count >= ATTEMPTS_LEAST)
}

/// Such rows that both have.
fn compared_rows<'a>(
    one: Compared<'a>,
    other: Compared<'a>,
) -> impl Iterator<Item = (&'a Summary, &'a Summary)> {
    one.summaries.iter().filter(is_compared).filter_map(move |row| {
        let operation = row.key.operation;
        Some((row, other.summaries.iter().find(|other| other.key.operation == operation)?))
    })
}

/// Whether there is a row of which both have enough attempts.
pub(crate) fn can_be_compared(one: Compared<'_>, other: Compared<'_>) -> bool {
    compared_rows(one, other).any(|(mine, theirs)| Sure::of(mine).is_some() && Sure::of(theirs).is_some())
}

/// The row by which `one` is slower than any of `others`, if they can be told apart; a felt one before any that is not.
pub(crate) fn slower_than_any<'a>(one: Compared<'a>, others: &[Compared<'a>]) -> Option<Slower<'a>> {
    others.iter().filter_map(|other| slower_than(one, *other)).max_by(tells_more)
}

fn tells_more(left: &Slower<'_>, right: &Slower<'_>) -> Ordering {
    let key = |slower: &Slower<'_>| {
        let operation = slower.operation;
        (slower.is_felt(), operation.level() == Level::Task, KNOWN_ROWS.contains(&operation))
    };
    key(left).cmp(&key(right)).then(left.times.total_cmp(&right.times))
}

fn slower_than<'a>(one: Compared<'a>, other: Compared<'a>) -> Option<Slower<'a>> {
    let slower = |mine: &Summary, theirs: &Summary, times| Slower {
        operation: mine.key.operation,
        value: mine.durations.median.value,
        attempts: mine.durations.count,
        other: theirs.durations.median.value,
        times,
        than: other.name,
        than_control: other.is_control,
    };
    let sure = compared_rows(one, other).filter_map(|(mine, theirs)| {
        let times = Sure::of(mine)?.times(Sure::of(theirs)?)?;
        Some(slower(mine, theirs, times))
    });
    sure.max_by(tells_more).or_else(|| {
        let beyond: Vec<_> = compared_rows(one, other)
            .filter_map(|(mine, theirs)| Some((mine, theirs, times_of_all(mine, theirs)?)))
            .collect();
        let chance: f64 = beyond.iter().map(|(mine, theirs, _)| chance_of_all(mine, theirs)).product();
        let furthest = beyond.into_iter().max_by(|left, right| left.2.total_cmp(&right.2));
        furthest.filter(|_| chance <= CHANCE).map(|(mine, theirs, times)| slower(mine, theirs, times))
    })
}

/// A row with few attempts of which one took far longer than all of a directory that feels fast: a fact, and no factor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FewButLong<'a> {
    pub operation: Operation,
    pub longest: QuantileValue,
    pub attempts: u64,
    pub other: QuantileValue,
    pub than: &'a str,
}

/// The row of which an attempt of `one` stands out furthest from all of `other`.
pub(crate) fn few_but_long<'a>(one: Compared<'a>, other: Compared<'a>) -> Option<FewButLong<'a>> {
    let far = compared_rows(one, other).filter_map(|(mine, theirs)| {
        let few = &mine.durations;
        let longest = few.max.lower_bound()?;
        let QuantileValue::Exactly(others) = theirs.durations.max else { return None };
        let is_few = few.count < ATTEMPTS_LEAST && theirs.durations.count >= ATTEMPTS_LEAST;
        let times = longest.0 as f64 / others.0.max(1) as f64;
        (is_few && longest > IMMEDIATE && times >= FACTOR_LARGE).then_some((longest, mine, theirs))
    });
    // What a user waits for longest says most.
    let (_, mine, theirs) = far.max_by_key(|(longest, ..)| *longest)?;
    let other_median = theirs.durations.median.value;
    let (operation, attempts) = (mine.key.operation, mine.durations.count);
    let longest = mine.durations.max;
    Some(FewButLong { operation, longest, attempts, other: other_median, than: other.name })
}

/// How many times as long the middle one takes, if each attempt of `mine` is felt and far beyond each of `theirs`.
fn times_of_all(mine: &Summary, theirs: &Summary) -> Option<f64> {
    let QuantileValue::Exactly(longest) = theirs.durations.max else { return None };
    let shortest = mine.durations.min.lower_bound()?;
    let is_beyond = shortest > IMMEDIATE && shortest.0 as f64 >= FACTOR_LARGE * longest.0 as f64;
    let is_known = theirs.durations.count >= ATTEMPTS_LEAST;
    let times = typical(mine)?.0 as f64 / typical(theirs)?.0.max(1) as f64;
    (is_known && is_beyond).then_some(times)
}

/// How often every attempt of `mine` is longer than every one of `theirs` if both are the same.
fn chance_of_all(mine: &Summary, theirs: &Summary) -> f64 {
    let others = theirs.durations.count as f64;
    (1..=mine.durations.count).map(|number| number as f64 / (others + number as f64)).product()
}
