//! What the keeper is to do about hung operations, and what decides when a run is over.

use iolag_model::{Nanoseconds, OnHang, RunSpec};

/// What the keeper is to do about hung operations.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// After this long an operation counts as hung of which the run's spec says nothing else.
    pub deadline: Nanoseconds,
    /// What a hung operation does to the run.
    pub on_hang: OnHang,
    /// After this long even a run that waits for hung operations goes on without them.
    pub give_up_after: Nanoseconds,
    /// What decides when it is over.
    pub schedule: Schedule,
    /// What the user's signal to end makes of it.
    pub at_signal: AtSignal,
}

impl Policy {
    /// That of a run which ends with its clients: a hung operation does to it what its spec says, and one that is waited for is
    /// waited for as long as it takes.
    pub const fn of(spec: &RunSpec) -> Self {
        Self {
            deadline: spec.deadline_ns,
            on_hang: spec.on_hang,
            give_up_after: Nanoseconds(u64::MAX),
            schedule: Schedule::Closed,
            at_signal: AtSignal::Incomplete,
        }
    }
}

/// What decides when a run is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Its clients, when they have done everything: one that hangs in making its working place will do nothing.
    Closed,
    /// Its attendant: what hangs is waited for until then.
    Open,
}

/// What the first signal to end makes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtSignal {
    /// It lacks something.
    Incomplete,
    /// It is over, as it had to be.
    Over,
}
