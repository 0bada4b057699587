//! How a directory feels, in one sentence.
//!
//! Words follow the limits of Miller 1968 and Nielsen 1993: within 0.1 s an answer feels immediate, within 1
//! s the train of thought is kept, after 10 s attention is elsewhere. What is within all limits may still be noticeably slower than
//! the best directory of the same check.

use std::fmt;

use iolag_model::{ContactRecord, Level, Nanoseconds, Operation, counted};
use serde::{Deserialize, Serialize};

use crate::check_comparison::{Slower, Typical, part_of};
use crate::finding::{duration_in_words, share_in_words, share_over};
use crate::summary::Summary;

pub(crate) const IMMEDIATE: Nanoseconds = Nanoseconds::from_milliseconds(100);
const THOUGHT: Nanoseconds = Nanoseconds::from_seconds(1);
const ATTENTION: Nanoseconds = Nanoseconds::from_seconds(10);

/// Share of slow attempts from which people notice.
const NOTICED_SHARE: f64 = 0.01;
/// Of fewer attempts a share in percent says more than is known.
const SHARE_ATTEMPTS: u64 = 20;

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
    /// They keep within all limits, but elsewhere in this check one waits much less.
    Slower,
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
            Self::Slower => "noticeably slower",
            Self::Noticeable => "has slow moments",
            Self::Sluggish => "sluggish",
            Self::Slow => "slow",
            Self::Unreliable => "unreliable",
            Self::NotAnswering => "does not answer",
            Self::Unknown => "unknown",
        })
    }
}

/// What a directory is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub summaries: &'a [Summary],
    /// It did not answer; so long was it waited for.
    pub unanswered_ns: Option<Nanoseconds>,
    /// How far first contact and setting up had come.
    pub contact: Option<ContactRecord>,
    /// Bytes of the whole create task.
    pub task_bytes: u64,
    /// Where it is worst beside the best of the others.
    pub slower: Option<Slower<'a>>,
}

/// The verdict on one directory: that of its worst operation, whichever that is.
pub(crate) fn verdict(evidence: &Evidence<'_>) -> Verdict {
    if let Some(age) = evidence.unanswered_ns {
        return with(Feeling::NotAnswering, format!("waited {age} for the first contact"));
    }
    let Some(worst) = evidence.worst() else { return evidence.of_nothing() };
    match (worst.feeling, evidence.slower) {
        (Feeling::Fast, Some(slower)) if slower.is_felt() => {
            let Slower { operation, value, .. } = slower;
            let takes = duration_in_words(value);
            with(Feeling::Slower, format!("`{operation}` takes {takes} (median), {}", slower.words()))
        }
        (Feeling::Fast, _) => with(Feeling::Fast, evidence.fast_words()),
        (feeling, _) => with(feeling, words_about(&worst, evidence.task_bytes)),
    }
}

fn with(feeling: Feeling, words: String) -> Verdict {
    Verdict { feeling, sentence: format!("{feeling}: {words}.") }
}

/// A row with what it comes to.
struct Judged<'a> {
    feeling: Feeling,
    weight: f64,
    summary: &'a Summary,
}

impl<'a> Evidence<'a> {
    fn judged(&self) -> impl Iterator<Item = Judged<'a>> {
        let task_bytes = self.task_bytes;
        self.summaries.iter().filter(|summary| is_judged(summary)).filter_map(move |summary| {
            let feeling = feeling_of(summary, task_bytes)?;
            Some(Judged { feeling, weight: weight_of(summary, task_bytes), summary })
        })
    }

    fn worst(&self) -> Option<Judged<'a>> {
        self.judged()
            .max_by(|left, right| left.feeling.cmp(&right.feeling).then(left.weight.total_cmp(&right.weight)))
    }

    /// How much of what people notice the worst row typically takes. Compiling is mostly the processor's work.
    pub(crate) fn weight(&self) -> f64 {
        let of_storage = self.judged().filter(|one| one.summary.key.operation != Operation::TaskCompile);
        let typical = |judged: Judged<'_>| {
            let typical = Typical::of(judged.summary, self.task_bytes)?.value.lower_bound()?;
            Some(typical.0 as f64 / limits(judged.summary.key.operation).0.0 as f64)
        };
        of_storage.filter_map(typical).fold(0.0, f64::max)
    }

    fn of_nothing(&self) -> Verdict {
        match self.contact {
            Some(ContactRecord { answered, needed, waited_ns }) if answered < needed => with(
                Feeling::Unknown,
                format!(
                    "nothing could be measured yet: setting up had {} of about {needed} answered in {waited_ns}",
                    counted(answered, "request", "requests")
                ),
            ),
            _ => with(Feeling::Unknown, "nothing could be measured".to_owned()),
        }
    }

    /// The row in which one waits longest, as a part of what people notice, and how that is elsewhere.
    fn fast_words(&self) -> String {
        let tasks = || self.judged().filter(|judged| judged.summary.key.operation.level() == Level::Task);
        let heaviest =
            |left: &Judged<'_>, right: &Judged<'_>| typical_weight(left).total_cmp(&typical_weight(right));
        let Some(named) = tasks().max_by(heaviest).or_else(|| self.judged().max_by(heaviest)) else {
            return "nothing took long".to_owned();
        };
        let summary = named.summary;
        let longest = duration_in_words(summary.durations.max);
        let median = duration_in_words(summary.durations.median.value);
        let row = format!("`{}` takes {median} (median), the longest took {longest}", summary.key.operation);
        match self.slower {
            Some(slower) => format!("{row}; `{}` takes {}", slower.operation, slower.words()),
            None => row,
        }
    }
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

/// `None` if the attempts say nothing: all were ended before anybody would have noticed.
fn feeling_of(summary: &Summary, task_bytes: u64) -> Option<Feeling> {
    // A rare failure is a finding; it does not hide how the rest feels.
    let failing = summary.failures() as f64 >= NOTICED_SHARE * summary.attempts as f64;
    if summary.hung + summary.timeout > 0 || (summary.failures() > 0 && failing) {
        return Some(Feeling::Unreliable);
    }
    let typical = Typical::of(summary, task_bytes)?.value.lower_bound()?;
    let (immediate, thought, attention) = limits(summary.key.operation);
    if summary.interrupted == summary.attempts && typical <= immediate {
        return None;
    }
    let over = |limit: Nanoseconds| share_over(&summary.durations, limit).unwrap_or((0, 0.0));
    // One slow attempt may be an accident; two are a habit.
    let often = |limit: Nanoseconds| over(limit).0 >= 2 && over(limit).1 >= NOTICED_SHARE;
    Some(if typical > thought || often(attention) {
        Feeling::Slow
    } else if typical > immediate || often(thought) {
        Feeling::Sluggish
    } else if often(immediate) || over(thought).0 > 0 {
        Feeling::Noticeable
    } else {
        Feeling::Fast
    })
}

/// How much of the limit the longest attempt took: the worst of equals.
fn weight_of(summary: &Summary, task_bytes: u64) -> f64 {
    let longest = summary.durations.max.lower_bound().unwrap_or_default();
    let whole = part_of(summary, task_bytes).map_or(longest, |part| part.whole);
    longest.max(whole).0 as f64 / limits(summary.key.operation).0.0 as f64
}

/// The same of the median.
fn typical_weight(judged: &Judged<'_>) -> f64 {
    let median = judged.summary.durations.median.value.lower_bound().unwrap_or_default();
    median.0 as f64 / limits(judged.summary.key.operation).0.0 as f64
}

fn words_about(judged: &Judged<'_>, task_bytes: u64) -> String {
    let Judged { feeling, summary, .. } = judged;
    let operation = summary.key.operation;
    let (immediate, thought, attention) = limits(operation);
    if let Some(part) = part_of(summary, task_bytes) {
        let (done, of, took, whole) = (part.done, part.of, part.took, part.whole);
        return format!("`{operation}` made {done} of {of} in {took}: at least {whole}");
    }
    let count = summary.durations.count;
    if *feeling == Feeling::Unreliable {
        let lost = summary.hung + summary.timeout;
        let failures = summary.failures();
        let of = summary.attempts;
        return match (lost, failures) {
            (0, _) => format!("{failures} of {of} `{operation}` failed"),
            (_, 0) => format!("{lost} of {of} `{operation}` did not end in time"),
            _ => format!("of {of} `{operation}` {lost} did not end in time and {failures} failed"),
        };
    }
    let median = duration_in_words(summary.durations.median.value);
    if count == 1 {
        return format!("the one `{operation}` took {median}");
    }
    let limit = match feeling {
        Feeling::Slow => [attention, thought],
        Feeling::Sluggish => [thought, immediate],
        _ => [thought, immediate],
    };
    let share = limit.into_iter().find_map(|limit| {
        let (over, share) = share_over(&summary.durations, limit)?;
        let many = if count < SHARE_ATTEMPTS {
            format!("{over} of {count}")
        } else {
            format!("{} of", share_in_words(share))
        };
        (over > 0).then(|| format!("{many} `{operation}` took over {limit}"))
    });
    match share {
        Some(share) => format!("{share} (median {median})"),
        None => format!("`{operation}` takes {median} (median)"),
    }
}
