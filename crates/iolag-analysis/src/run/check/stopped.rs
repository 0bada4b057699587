//! When a directory stopped answering while it was checked, and whether it answered again.

use std::fmt;

use iolag_model::{Anchor, Level, MonotonicTime, Nanoseconds, Operation, WallTime};

use crate::run::summary::Summary;

/// A directory in which attempts hung or timed out, after its first contact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped {
    /// What was asked first without an answer; absent if that was between two attempts, when a session was opened.
    operation: Option<Operation>,
    /// When, by the wall clock; absent if that is not known.
    moment: Option<WallTime>,
    /// How long the longest was waited for.
    waited: Nanoseconds,
    /// Attempts that hung or timed out.
    attempts: u64,
    pub(crate) since: Since,
}

/// What became of a directory that had stopped answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    AnsweredAgain,
    NeverAnswered,
}

impl Stopped {
    /// `None` if every attempt ended in time, and every `opening` of a session after the first contact, or nothing is known of
    /// their moments.
    pub(crate) fn of(summaries: &[Summary], opening: Option<&Summary>, anchors: &[Anchor]) -> Option<Self> {
        let all = || summaries.iter().chain(opening);
        let silent = || all().filter_map(|summary| Some((summary, summary.silence?)));
        let (first, silence) = silent().min_by_key(|(_, silence)| silence.since_ns)?;
        let answered = summaries.iter().filter_map(answered_ns).max();
        let is_over = answered.is_some_and(|answered| answered > silence.since_ns);
        Some(Self {
            operation: Some(first.key.operation).filter(|operation| operation.level() != Level::Harness),
            moment: wall_time(anchors, silence.since_ns),
            waited: silent().filter_map(|(summary, _)| summary.durations.max.lower_bound()).max()?,
            attempts: silent().map(|(summary, _)| summary.hung + summary.timeout).sum(),
            since: if is_over { Since::AnsweredAgain } else { Since::NeverAnswered },
        })
    }
}

/// Last end of an attempt that ended by itself.
pub(crate) fn answered_ns(summary: &Summary) -> Option<MonotonicTime> {
    match summary.silence {
        Some(silence) => silence.answered_ns,
        None => summary.last_end_ns.filter(|_| summary.succeeded() + summary.failures() > 0),
    }
}

fn wall_time(anchors: &[Anchor], moment: MonotonicTime) -> Option<WallTime> {
    let anchor = anchors.iter().rfind(|anchor| anchor.monotonic_ns <= moment).or(anchors.first())?;
    Some(WallTime(anchor.realtime_of(moment).cast_signed()))
}

impl fmt::Display for Stopped {
    /// As in ``stopped answering at 23:52:26 UTC, in `rename`, and did not answer again``; or `between two attempts`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, moment, waited, attempts, since } = self;
        let text = moment.map(|moment| moment.to_string()).unwrap_or_default();
        let at = text.get(11..19).map_or_else(String::new, |time| format!(" at {time} UTC"));
        let within = match operation {
            Some(operation) => format!("in `{operation}`"),
            None => "between two attempts".to_owned(),
        };
        match (since, attempts) {
            (Since::NeverAnswered, _) => {
                write!(formatter, "stopped answering{at}, {within}, and did not answer again")
            }
            (Since::AnsweredAgain, 1) => {
                write!(formatter, "stopped answering{at}, {within}, for at least {waited}")
            }
            (Since::AnsweredAgain, _) => write!(
                formatter,
                "stopped answering {attempts} times, first{at}, {within}; the longest was at least {waited}"
            ),
        }
    }
}
