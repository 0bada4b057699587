//! How a directory feels, in one sentence.
//!
//! Words follow the limits of Miller 1968 and Nielsen 1993: within 0.1 s an answer feels immediate, within 1
//! s the train of thought is kept, after 10 s attention is elsewhere. What is within all limits may still be noticeably slower than
//! the best directory of the same check.

use super::rows::{IMMEDIATE, KNOWN_ROWS};
use std::fmt;

use iolag_model::{ContactEnd, ContactRecord, Level, Nanoseconds, Operation, counted};
use serde::{Deserialize, Serialize};

use super::comparison::{Slower, typical};
use super::partial_create::PartialCreate;
use super::stopped::{Since, Stopped};
use crate::finding::words::{duration_in_words, share_in_words};
use crate::run::any_workload::{is_at_least, share_over};
use crate::run::summary::{DurationSummary, Summary};
use crate::statistics::quantile::censored::ATTEMPTS_LEAST;

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
            Self::Unknown => "could not be measured",
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
    /// Why it could not be measured, if that is known.
    pub failure: Option<&'a str>,
    /// It stopped answering while it was measured.
    pub stopped: Option<Stopped>,
    /// How far the create task came, if it never came to its end.
    pub partial: Option<PartialCreate>,
    /// By what it is told apart from a quicker directory.
    pub slower: Option<Slower<'a>>,
    /// The same beside the machine's own memory.
    pub slower_than_memory: Option<Slower<'a>>,
}

/// The verdict on one directory: that of its worst operation, whichever that is.
pub(crate) fn verdict(evidence: &Evidence<'_>) -> Verdict {
    if let Some(age) = evidence.unanswered_ns {
        return with(Feeling::NotAnswering, format!("waited {age} for the first contact"));
    }
    if let Some(stopped) = evidence.stopped {
        let feeling = match stopped.since {
            Since::NeverAnswered => Feeling::NotAnswering,
            Since::AnsweredAgain => Feeling::Unreliable,
        };
        return with(feeling, stopped.to_string());
    }
    let Some(worst) = evidence.worst() else { return evidence.of_nothing() };
    if worst.feeling != Feeling::Fast {
        return with(worst.feeling, words_about(&worst, evidence.partial));
    }
    // Another directory says more to a user than the memory, which is always quick; the ranking says how long it takes in both.
    let felt = |slower: &Slower<'_>| slower.is_felt();
    if let Some(slower) = evidence.slower.filter(felt) {
        return with(Feeling::Slower, format!("`{}` takes {}", slower.operation, slower.words()));
    }
    match evidence.slower_than_memory.filter(felt) {
        Some(slower) => {
            let takes = duration_in_words(slower.value);
            let row = format!("`{}` takes {takes} (median)", slower.operation);
            with(Feeling::Slower, format!("{row}, {}", slower.words()))
        }
        None => with(Feeling::Fast, evidence.fast_words()),
    }
}

fn with(feeling: Feeling, words: String) -> Verdict {
    Verdict { feeling, sentence: format!("{feeling}: {words}.") }
}

const fn was_or_were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// What the user's wish to end left undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftUndone {
    /// There was no such wish, or something else was in the way.
    Nothing,
    /// Setting up.
    SettingUp,
    /// Measuring anything.
    Measuring,
}

/// A row with what it comes to.
struct Judged<'a> {
    feeling: Feeling,
    weight: f64,
    summary: &'a Summary,
}

impl<'a> Evidence<'a> {
    fn judged(&self) -> impl Iterator<Item = Judged<'a>> {
        self.summaries.iter().filter(|summary| is_judged(summary)).filter_map(|summary| {
            Some(Judged { feeling: feeling_of(summary)?, weight: weight_of(summary), summary })
        })
    }

    fn worst(&self) -> Option<Judged<'a>> {
        self.judged()
            .max_by(|left, right| left.feeling.cmp(&right.feeling).then(left.weight.total_cmp(&right.weight)))
    }

    /// How much of what people notice the worst row typically takes. Compiling is mostly the processor's work.
    pub(crate) fn weight(&self) -> f64 {
        let of_storage = self.judged().filter(|one| one.summary.key.operation != Operation::TaskCompile);
        of_storage.map(|judged| typical_weight(&judged)).fold(0.0, f64::max)
    }

    /// What the user's wish to end left undone, if nothing failed.
    pub(crate) fn left_undone(&self) -> LeftUndone {
        match (self.failure, self.contact) {
            (None, Some(ContactRecord { answered, needed, end: ContactEnd::Interrupted, .. })) => {
                if answered < needed { LeftUndone::SettingUp } else { LeftUndone::Measuring }
            }
            _ => LeftUndone::Nothing,
        }
    }

    fn of_nothing(&self) -> Verdict {
        match (self.failure, self.contact) {
            (Some(failure), _) => with(Feeling::Unknown, failure.to_owned()),
            (None, Some(ContactRecord { answered, needed, waited_ns, end })) if answered < needed => {
                let (requests, were) = (counted(answered, "request", "requests"), was_or_were(answered));
                let words = match end {
                    ContactEnd::Own => {
                        format!(
                            "setting up did not end within {waited_ns}; at least {requests} {were} answered"
                        )
                    }
                    ContactEnd::Interrupted => format!(
                        "interrupted while setting up, after {waited_ns}; at least {requests} {were} answered"
                    ),
                };
                with(Feeling::Unknown, words)
            }
            _ if self.summaries.is_empty() && self.left_undone() == LeftUndone::Measuring => {
                with(Feeling::Unknown, "interrupted before anything was measured".to_owned())
            }
            _ => with(Feeling::Unknown, "nothing that was begun came to its end".to_owned()),
        }
    }

    /// The row in which one waits longest, as a part of what people notice, and how that is elsewhere.
    fn fast_words(&self) -> String {
        let rank = |judged: &Judged<'_>| {
            (is_known(judged.summary), judged.summary.key.operation.level() == Level::Task)
        };
        let heaviest = self.judged().max_by(|left, right| {
            rank(left).cmp(&rank(right)).then(typical_weight(left).total_cmp(&typical_weight(right)))
        });
        let Some(named) = heaviest else { return "nothing took long".to_owned() };
        let row = usual_words(named.summary);
        // The ranking has told by what it is slower than another directory.
        match self.slower_than_memory.filter(|_| self.slower.is_none()) {
            Some(slower) => format!("{row}; `{}` takes {}", slower.operation, slower.words()),
            None => row,
        }
    }
}

/// Of rows that say the same, the one is named that the reader sees.
fn is_known(summary: &Summary) -> bool {
    KNOWN_ROWS.contains(&summary.key.operation)
}

/// Streams move as much as they are told to; how long that takes says nothing about feeling. The parts of a request are felt with the whole
/// of it, which is judged itself; and coming to a server is only once for all requests.
fn is_judged(summary: &Summary) -> bool {
    let operation = summary.key.operation;
    let is_felt = matches!(operation.level(), Level::Task | Level::Object | Level::Call);
    is_felt && !operation.is_mark() && summary.attempts > 0
}

/// Limits for operations at which people expect to wait are those of the next step.
fn limits(operation: Operation) -> (Nanoseconds, Nanoseconds, Nanoseconds) {
    match operation {
        Operation::TaskCompile | Operation::TaskCreate => (THOUGHT, ATTENTION, Nanoseconds::from_seconds(60)),
        _ => (IMMEDIATE, THOUGHT, ATTENTION),
    }
}

/// `None` if the attempts say nothing: all were ended before anybody would have noticed.
fn feeling_of(summary: &Summary) -> Option<Feeling> {
    // A rare failure is a finding; it does not hide how the rest feels.
    let failing = summary.failures() as f64 >= NOTICED_SHARE * summary.attempts as f64;
    if summary.hung + summary.timeout > 0 || (summary.failures() > 0 && failing) {
        return Some(Feeling::Unreliable);
    }
    let typical = typical(summary)?;
    let (immediate, thought, attention) = limits(summary.key.operation);
    if summary.interrupted == summary.attempts && typical <= immediate {
        return None;
    }
    let over = |limit: Nanoseconds| share_over(&summary.durations, limit).unwrap_or((0, 0.0));
    let is_typical = |limit: Nanoseconds| typical > limit || is_typical_of_few(&summary.durations, limit);
    // One slow attempt may be an accident; two are a habit.
    let often = |limit: Nanoseconds| over(limit).0 >= 2 && over(limit).1 >= NOTICED_SHARE;
    Some(if is_typical(thought) || often(attention) {
        Feeling::Slow
    } else if is_typical(immediate) || often(thought) {
        Feeling::Sluggish
    } else if often(immediate) || over(thought).0 > 0 {
        Feeling::Noticeable
    } else {
        Feeling::Fast
    })
}

/// Whether most of the few attempts passed the limit, those left out that were cut off before it: they say neither yes nor no.
fn is_typical_of_few(durations: &DurationSummary, limit: Nanoseconds) -> bool {
    let share = durations.shares.iter().find(|share| share.threshold_ns == limit);
    share.filter(|_| durations.count < ATTEMPTS_LEAST).is_some_and(|share| {
        let decided = durations.count - share.undecided;
        decided - share.over < decided.div_ceil(2)
    })
}

/// How much of the limit the longest attempt took: the worst of equals.
fn weight_of(summary: &Summary) -> f64 {
    let longest = summary.durations.max.lower_bound().unwrap_or_default();
    longest.0 as f64 / limits(summary.key.operation).0.0 as f64
}

/// The same of the median.
fn typical_weight(judged: &Judged<'_>) -> f64 {
    typical(judged.summary).unwrap_or_default().0 as f64 / limits(judged.summary.key.operation).0.0 as f64
}

/// What a row takes; "median" is said only of as many attempts as have one with an interval.
fn usual_words(summary: &Summary) -> String {
    let durations = &summary.durations;
    let operation = summary.key.operation;
    let longest = duration_in_words(durations.max);
    match durations.count {
        1 => format!("the one `{operation}` took {longest}"),
        count if count < ATTEMPTS_LEAST => format!("the longest of {count} `{operation}` took {longest}"),
        _ => {
            let median = duration_in_words(durations.median.value);
            format!("`{operation}` takes {median} (median), the longest took {longest}")
        }
    }
}

fn words_about(judged: &Judged<'_>, partial: Option<PartialCreate>) -> String {
    let Judged { feeling, summary, .. } = judged;
    let operation = summary.key.operation;
    let (immediate, thought, attention) = limits(operation);
    let durations = &summary.durations;
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
    let median = duration_in_words(durations.median.value);
    if let Some(partial) = partial.filter(|_| operation == Operation::TaskCreate) {
        return format!("`{operation}` takes {median} ({partial})");
    }
    let count = durations.count;
    if count == 1 {
        return usual_words(summary);
    }
    let limit = match feeling {
        Feeling::Slow => [attention, thought],
        _ => [thought, immediate],
    };
    let share = limit.into_iter().find_map(|limit| {
        let (over, share) = share_over(durations, limit)?;
        let many = if count < SHARE_ATTEMPTS {
            format!("{over} of {count}")
        } else {
            format!("{} of", share_in_words(share))
        };
        let at_least = if is_at_least(durations, limit) { "at least " } else { "" };
        (over > 0).then(|| format!("{at_least}{many} `{operation}` took over {limit}"))
    });
    match share {
        Some(share) if count < ATTEMPTS_LEAST => {
            format!("{share} (the longest {})", duration_in_words(durations.max))
        }
        Some(share) => format!("{share} (median {median})"),
        None => usual_words(summary),
    }
}
