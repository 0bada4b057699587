//! Children that somebody stopped (SIGSTOP, a batch system, a frozen control group): they wait for nothing, so neither a slot
//! nor their processor time says that they hang.

use std::fmt;

use iolag_keeper::{Halt, Sleeps, halt};
use iolag_model::{MonotonicTime, Nanoseconds, Trust};

/// Shorter stops are not worth a word.
const WORTH_A_WORD: Nanoseconds = Nanoseconds::from_seconds(1);

/// What the keeper has seen of a child's standing still, look by look.
#[derive(Debug)]
pub struct Halting {
    running_at: MonotonicTime,
    present: Option<Halted>,
    past: Nanoseconds,
}

/// A child that stands still.
#[derive(Debug, Clone, Copy)]
pub struct Halted {
    /// Why.
    pub halt: Halt,
    /// Since it was last seen otherwise.
    pub age: Nanoseconds,
}

impl fmt::Display for Halted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} for {}", self.halt, self.age)
    }
}

impl Halting {
    /// Of a child that has just been started.
    pub const fn new(now: MonotonicTime) -> Self {
        Self { running_at: now, present: None, past: Nanoseconds::ZERO }
    }

    /// Whether the child stands still.
    pub fn look(&mut self, process: u32, sleeps: &Sleeps, now: MonotonicTime) -> Option<Halted> {
        let seen = halt(process).map(|halt| Halted { halt, age: sleeps.awake(self.running_at, now) });
        if seen.is_none() {
            self.running_at = now;
            let past = self.present.filter(|halted| halted.age > WORTH_A_WORD);
            self.past = Nanoseconds(self.past.0 + past.map_or(0, |halted| halted.age.0));
        }
        self.present = seen;
        seen
    }

    /// The child as it was last seen, if it stands still.
    pub const fn present(&self) -> Option<Halted> {
        self.present
    }

    /// When the child, if it stands still, was last seen otherwise.
    pub fn since(&self) -> Option<MonotonicTime> {
        self.present.map(|_| self.running_at)
    }

    /// What to know of a child that somebody stopped and let go on.
    pub fn trust(&self, who: &str) -> Option<Trust> {
        (self.past > Nanoseconds::ZERO).then(|| Trust {
            doubt: format!("{who} was stopped by somebody for {} and went on", self.past),
            advice: ADVICE.to_owned(),
        })
    }
}

/// What to know where the keeper itself did not run.
pub fn slept(sleeps: &Sleeps) -> Option<Trust> {
    (sleeps.total() > Nanoseconds::ZERO)
        .then(|| Trust { doubt: slept_for(sleeps.total()), advice: ADVICE.to_owned() })
}

/// A sentence about a sleep of the keeper.
pub fn slept_for(duration: Nanoseconds) -> String {
    format!(
        "iolag itself did not run for {duration} (stopped, suspended by a batch system, or without a processor), which counts for no \
         deadline"
    )
}

const ADVICE: &str = "what was in flight meanwhile may have got that much longer: look at the maxima with that in mind, or measure again";
