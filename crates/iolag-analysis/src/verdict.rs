//! How a directory feels, in one sentence.
//!
//! Words follow the limits of Miller 1968 and Nielsen 1993: within 0.1 s an answer feels immediate, within 1
//! s the train of thought is kept, after 10 s attention is elsewhere.

use std::fmt;

use iolag_model::{Level, Nanoseconds, Operation};
use serde::{Deserialize, Serialize};

use crate::finding::{duration_in_words, share_in_words, share_over};
use crate::summary::Summary;

const IMMEDIATE: Nanoseconds = Nanoseconds::from_milliseconds(100);
const THOUGHT: Nanoseconds = Nanoseconds::from_seconds(1);
const ATTENTION: Nanoseconds = Nanoseconds::from_seconds(10);

/// Share of slow attempts from which people notice.
const NOTICED_SHARE: f64 = 0.01;

/// A verdict with the word that it comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The word.
    pub feeling: Feeling,
    /// The sentence, which begins with the word.
    pub sentence: String,
}

/// How storage feels; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feeling {
    /// Answers feel immediate.
    Fast,
    /// Some answers are noticed as late.
    Noticeable,
    /// Many answers interrupt thought.
    Sluggish,
    /// Answers make people turn to something else.
    Slow,
    /// Something failed or did not end.
    Unreliable,
    /// No answer.
    NotAnswering,
    /// Nothing was measured.
    Unknown,
}

impl fmt::Display for Feeling {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Fast => "feels fast",
            Self::Noticeable => "has slow moments",
            Self::Sluggish => "sluggish",
            Self::Slow => "slow",
            Self::Unreliable => "unreliable",
            Self::NotAnswering => "does not answer",
            Self::Unknown => "unknown",
        })
    }
}

/// The verdict on one directory: that of its worst operation.
pub fn verdict(summaries: &[Summary], unanswered_ns: Option<Nanoseconds>) -> Verdict {
    if let Some(age) = unanswered_ns {
        return with(Feeling::NotAnswering, format!("waited {age} for the first contact"));
    }
    let measured: Vec<&Summary> = summaries.iter().filter(|summary| is_judged(summary)).collect();
    let worst = measured
        .iter()
        .map(|summary| (feeling_of(summary), weight_of(summary), *summary))
        .max_by(|left, right| left.0.cmp(&right.0).then(left.1.total_cmp(&right.1)));
    let Some((feeling, _, summary)) = worst else {
        return with(Feeling::Unknown, "nothing could be measured".to_owned());
    };
    if feeling == Feeling::Fast {
        return with(Feeling::Fast, fast_words(&measured));
    }
    with(feeling, words_about(feeling, summary))
}

fn with(feeling: Feeling, words: String) -> Verdict {
    Verdict { feeling, sentence: format!("{feeling}: {words}.") }
}

/// Streams move as much as they are told to; how long that takes says nothing about feeling.
fn is_judged(summary: &Summary) -> bool {
    let level = summary.key.operation.level();
    matches!(level, Level::Task | Level::Object | Level::Call) && summary.attempts > 0
}

/// Limits for operations at which people expect to wait are those of the next step.
fn limits(operation: Operation) -> (Nanoseconds, Nanoseconds, Nanoseconds) {
    match operation {
        Operation::TaskCompile | Operation::TaskCreate => (THOUGHT, ATTENTION, Nanoseconds::from_seconds(60)),
        _ => (IMMEDIATE, THOUGHT, ATTENTION),
    }
}

fn feeling_of(summary: &Summary) -> Feeling {
    // A rare failure is a finding; it does not hide how the rest feels.
    let failing = summary.failures() as f64 >= NOTICED_SHARE * summary.attempts as f64;
    if summary.hung + summary.timeout > 0 || (summary.failures() > 0 && failing) {
        return Feeling::Unreliable;
    }
    let Some(median) = summary.durations.median.value.lower_bound() else {
        return Feeling::Unknown;
    };
    let (immediate, thought, attention) = limits(summary.key.operation);
    let over = |limit: Nanoseconds| share_over(&summary.durations, limit).unwrap_or((0, 0.0));
    // One slow attempt may be an accident; two are a habit.
    let often = |limit: Nanoseconds| over(limit).0 >= 2 && over(limit).1 >= NOTICED_SHARE;
    if median > thought || often(attention) {
        Feeling::Slow
    } else if median > immediate || often(thought) {
        Feeling::Sluggish
    } else if often(immediate) || over(thought).0 > 0 {
        Feeling::Noticeable
    } else {
        Feeling::Fast
    }
}

/// How much of the limit the longest attempt took: the worst of equals.
fn weight_of(summary: &Summary) -> f64 {
    let longest = summary.durations.max.lower_bound().unwrap_or_default();
    longest.0 as f64 / limits(summary.key.operation).0.0 as f64
}

fn fast_words(measured: &[&Summary]) -> String {
    let listing = measured.iter().find(|summary| summary.key.operation == Operation::TaskList);
    let named = listing.or_else(|| measured.iter().max_by(|a, b| weight_of(a).total_cmp(&weight_of(b))));
    match named {
        Some(summary) => format!(
            "`{}` takes {} (median), the longest took {}",
            summary.key.operation,
            duration_in_words(summary.durations.median.value),
            duration_in_words(summary.durations.max)
        ),
        None => "nothing took long".to_owned(),
    }
}

fn words_about(feeling: Feeling, summary: &Summary) -> String {
    let operation = summary.key.operation;
    let (immediate, thought, attention) = limits(operation);
    if feeling == Feeling::Unreliable {
        let lost = summary.hung + summary.timeout;
        let failures = summary.failures();
        let of = summary.attempts;
        return match (lost, failures) {
            (0, _) => format!("{failures} of {of} `{operation}` failed"),
            (_, 0) => format!("{lost} of {of} `{operation}` did not end in time"),
            _ => format!("of {of} `{operation}` {lost} did not end in time and {failures} failed"),
        };
    }
    let limit = match feeling {
        Feeling::Slow => [attention, thought],
        Feeling::Sluggish => [thought, immediate],
        _ => [thought, immediate],
    };
    let share = limit.into_iter().find_map(|limit| {
        let (over, share) = share_over(&summary.durations, limit)?;
        (over > 0).then(|| format!("{} of `{operation}` took over {limit}", share_in_words(share)))
    });
    let median = duration_in_words(summary.durations.median.value);
    match share {
        Some(share) => format!("{share} (median {median})"),
        None => format!("`{operation}` takes {median} (median)"),
    }
}
