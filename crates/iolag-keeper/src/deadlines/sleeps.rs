//! When the keeper itself did not run: stopped at the terminal or by a batch system, frozen, or without a processor. What it
//! waits for did not run either, as a rule, so that time counts for no deadline.
//!
//! Limits: a machine that is suspended is not seen; the monotonic clock stands still with it, and so do all deadlines.

use iolag_model::{MonotonicTime, Nanoseconds};

/// A look that is late by more than this says that the keeper did not run.
const LATE: Nanoseconds = Nanoseconds::from_seconds(1);

/// The sleeps of a process that looks around several times a second.
#[derive(Debug, Clone)]
pub struct Sleeps {
    looked_at: MonotonicTime,
    past: Vec<Sleep>,
}

#[derive(Debug, Clone, Copy)]
struct Sleep {
    begin: MonotonicTime,
    end: MonotonicTime,
    /// How long all sleeps before this one were.
    before: Nanoseconds,
}

impl Sleep {
    fn with_those_before(&self) -> Nanoseconds {
        Nanoseconds(self.before.0 + self.end.since(self.begin).0)
    }
}

impl Sleeps {
    /// None yet.
    pub const fn new(now: MonotonicTime) -> Self {
        Self { looked_at: now, past: Vec::new() }
    }

    /// To be called several times a second: how long the process has slept since the last look, if this one is late by over a
    /// second.
    pub fn look(&mut self, now: MonotonicTime) -> Option<Nanoseconds> {
        let begin = std::mem::replace(&mut self.looked_at, now);
        let slept = now.since(begin);
        if slept <= LATE {
            return None;
        }
        self.past.push(Sleep { begin, end: now, before: self.total() });
        Some(slept)
    }

    /// The process has waited on purpose until now, which is no sleep.
    pub const fn waited(&mut self, now: MonotonicTime) {
        self.looked_at = now;
    }

    /// How long the process has been awake since a moment: what counts for a deadline. `now` is not before the last look.
    pub fn awake(&self, since: MonotonicTime, now: MonotonicTime) -> Nanoseconds {
        let first = self.past.partition_point(|sleep| sleep.end <= since);
        let slept = self
            .past
            .get(first)
            .map_or(0, |sleep| self.total().0 - sleep.before.0 - since.since(sleep.begin).0);
        Nanoseconds(now.since(since).0.saturating_sub(slept))
    }

    /// How long all sleeps were together.
    pub fn total(&self) -> Nanoseconds {
        self.past.last().map_or(Nanoseconds::ZERO, Sleep::with_those_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn second(second: u64) -> MonotonicTime {
        MonotonicTime(second * 1_000_000_000)
    }

    #[test]
    fn what_was_slept_does_not_count() {
        let mut sleeps = Sleeps::new(second(0));
        assert_eq!(sleeps.look(second(1)), None);
        assert_eq!(sleeps.look(second(11)), Some(Nanoseconds::from_seconds(10)));
        sleeps.waited(second(14));
        assert_eq!(sleeps.look(second(15)), None);
        assert_eq!(sleeps.look(second(20)), Some(Nanoseconds::from_seconds(5)));
        assert_eq!(sleeps.total(), Nanoseconds::from_seconds(15));
        let awake = |since| sleeps.awake(second(since), second(21)).0 / 1_000_000_000;
        assert_eq!([0, 1, 3, 11, 12, 20].map(awake), [6, 5, 5, 5, 4, 1]);
    }
}
