//! The directories of a check beside each other: what a row typically takes, whom it is slower than, and in which order they stand.
//!
//! A difference counts if the intervals of both are apart, if it is a factor of two at least, and if people could notice it.

use iolag_model::{Level, Nanoseconds, Operation};

use crate::finding::factor_in_words;
use crate::quantile::QuantileValue;
use crate::summary::Summary;
use crate::verdict::{Feeling, IMMEDIATE};

/// A factor below this is no news.
const FACTOR_LEAST: f64 = 2.0;
/// Of so few attempts that there is no interval, only what is far apart is news.
const FACTOR_WITHOUT_INTERVAL: f64 = 10.0;
/// A difference below this is felt by nobody, however often it is repeated by hand.
const DIFFERENCE_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(10);

/// What a row typically takes, and what is sure of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Typical {
    pub value: QuantileValue,
    low: Nanoseconds,
    /// Absent if there is no upper bound.
    high: Option<Nanoseconds>,
    /// A difference from this on is news.
    factor_least: f64,
}

/// A task of which only a part was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Part {
    pub done: u64,
    pub of: u64,
    pub took: Nanoseconds,
    /// What the whole takes at this pace.
    pub whole: Nanoseconds,
}

/// How far the attempts of a task came on average, if none was done; `task_bytes` are those of the whole.
pub(crate) fn part_of(summary: &Summary, task_bytes: u64) -> Option<Part> {
    const FILE_BYTES: u64 = 64;
    let partial = summary.partial.filter(|partial| partial.bytes > 0)?;
    if summary.key.operation != Operation::TaskCreate || summary.succeeded() > 0 {
        return None;
    }
    let whole = partial.duration_ns.0 as f64 * task_bytes as f64 / partial.bytes as f64;
    let attempts = summary.interrupted.max(1);
    Some(Part {
        done: partial.bytes / attempts / FILE_BYTES,
        of: task_bytes / FILE_BYTES,
        took: Nanoseconds(partial.duration_ns.0 / attempts),
        whole: Nanoseconds(whole as u64),
    })
}

impl Typical {
    /// `None` if no attempt says anything.
    pub(crate) fn of(summary: &Summary, task_bytes: u64) -> Option<Self> {
        if let Some(part) = part_of(summary, task_bytes) {
            let (value, low) = (QuantileValue::AtLeast(part.whole), part.whole);
            return Some(Self { value, low, high: None, factor_least: FACTOR_WITHOUT_INTERVAL });
        }
        let durations = &summary.durations;
        let value = durations.median.value;
        let middle = value.lower_bound()?;
        let is_bound = matches!(value, QuantileValue::AtLeast(_));
        let (low, high, factor_least) = match durations.median.interval.bounds() {
            Some((low, high)) => (low, high, FACTOR_LEAST),
            None => (durations.min.lower_bound()?, durations.max.lower_bound()?, FACTOR_WITHOUT_INTERVAL),
        };
        let low = if is_bound { middle } else { low };
        Some(Self { value, low, high: (!is_bound).then_some(high), factor_least })
    }

    fn middle_ns(self) -> f64 {
        self.value.lower_bound().map_or(0.0, |middle| middle.0 as f64)
    }

    /// How many times as long it takes, if that is a difference.
    fn times(self, other: Self) -> Option<f64> {
        let factor = self.middle_ns() / other.middle_ns().max(1.0);
        let difference = self.middle_ns() - other.middle_ns();
        let is_apart = other.high.is_some_and(|high| self.low > high);
        let least = self.factor_least.max(other.factor_least);
        (is_apart && factor >= least && difference >= DIFFERENCE_LEAST.0 as f64).then_some(factor)
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
    pub times: f64,
    pub than: &'a str,
    pub than_control: bool,
}

impl Slower<'_> {
    /// Whether people feel it at the prompt.
    pub(crate) fn is_felt(&self) -> bool {
        self.value.lower_bound().is_some_and(|value| value > IMMEDIATE)
    }

    /// ``70 times as long as on `/scratch` ``.
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

/// The row of `one` that is worst beside the best of `others`; a felt one before any that is not.
pub(crate) fn slower_than_best<'a>(
    one: Compared<'_>,
    others: &[Compared<'a>],
    task_bytes: u64,
) -> Option<Slower<'a>> {
    let worse = one.summaries.iter().filter(is_compared).filter_map(|summary| {
        let typical = Typical::of(summary, task_bytes)?;
        let operation = summary.key.operation;
        let (best, other) = others
            .iter()
            .filter_map(|other| {
                let row = other.summaries.iter().find(|row| row.key.operation == operation)?;
                Some((Typical::of(row, task_bytes)?, other))
            })
            .min_by(|left, right| left.0.middle_ns().total_cmp(&right.0.middle_ns()))?;
        let times = typical.times(best)?;
        let (than, than_control) = (other.name, other.is_control);
        Some(Slower { operation, value: typical.value, times, than, than_control })
    });
    worse.max_by(|left, right| {
        let key = |slower: &Slower<'_>| (slower.is_felt(), slower.operation.level() == Level::Task);
        key(left).cmp(&key(right)).then(left.times.total_cmp(&right.times))
    })
}

/// A directory with its place in the ranking.
#[derive(Debug, Clone)]
pub(crate) struct Ranked<'a> {
    pub name: String,
    pub feeling: Feeling,
    /// How long the worst row takes, as a part of what people notice: orders those that feel alike.
    pub weight: f64,
    pub slower: Option<Slower<'a>>,
}

/// One sentence about all directories, the best first; nothing for less than two.
pub(crate) fn ranking(mut directories: Vec<Ranked<'_>>) -> Option<String> {
    if directories.len() < 2 {
        return None;
    }
    directories
        .sort_by(|left, right| left.feeling.cmp(&right.feeling).then(left.weight.total_cmp(&right.weight)));
    let mut clauses: Vec<String> = Vec::new();
    let mut rest = directories.as_slice();
    while let Some(first) = rest.first() {
        // Those that feel alike, with nothing to add, stand together. What is fast needs no number.
        let is_plain = |one: &Ranked<'_>| one.feeling == Feeling::Fast || one.slower.is_none();
        let alike = |one: &&Ranked<'_>| one.feeling == first.feeling && is_plain(one) && is_plain(first);
        let count = rest.iter().take_while(alike).count().max(1);
        let names: Vec<&str> = rest[..count].iter().map(|one| one.name.as_str()).collect();
        let what = match names.as_slice() {
            [names @ .., last] if !names.is_empty() => {
                format!("{} and {last} {}", names.join(", "), many_feel(first.feeling))
            }
            _ => format!("{} {}", first.name, one_feels(first.feeling)),
        };
        clauses.push(match first.slower.filter(|_| !is_plain(first)) {
            Some(slower) => format!("{what}: `{}` takes {}", slower.operation, slower.words()),
            None => what,
        });
        rest = &rest[count..];
    }
    Some(format!("{}.", clauses.join("; ")))
}

fn one_feels(feeling: Feeling) -> String {
    match feeling {
        Feeling::Slower | Feeling::Sluggish | Feeling::Slow | Feeling::Unreliable => format!("is {feeling}"),
        Feeling::Unknown => "could not be measured".to_owned(),
        Feeling::Fast | Feeling::Noticeable | Feeling::NotAnswering => feeling.to_string(),
    }
}

fn many_feel(feeling: Feeling) -> String {
    match feeling {
        Feeling::Slower | Feeling::Sluggish | Feeling::Slow | Feeling::Unreliable => {
            format!("are {feeling}")
        }
        Feeling::Unknown => "could not be measured".to_owned(),
        Feeling::Fast => "feel fast".to_owned(),
        Feeling::Noticeable => "have slow moments".to_owned(),
        Feeling::NotAnswering => "do not answer".to_owned(),
    }
}
