//! What became of the probes of `iolag ping`.

use serde::{Deserialize, Serialize};

use crate::run::summary::Summary;

/// Probes by what became of them. Each is in one count only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PingCounts {
    /// All that came to be due.
    pub due: u64,
    /// Answered within the deadline.
    pub answered: u64,
    /// Answered after it.
    pub late: u64,
    /// Ended at it: programs only.
    pub timeout: u64,
    /// Had not been answered when iolag ended.
    pub hung: u64,
    /// Answered with an error.
    pub failed: u64,
    /// Not sent, because of an earlier one, or of the removal of its file, that passed the deadline.
    pub skipped: u64,
    /// Not sent, because the one before took longer than the interval, though it was not lost. Neither answered nor lost.
    #[serde(default)]
    pub outrun: u64,
    /// Not sent, because iolag was still removing the file of the one before, though that was not lost. Neither answered nor lost.
    #[serde(default)]
    pub held_up: u64,
    /// Cut short by the end of iolag, or not sent because iolag itself stood still. Neither answered nor lost.
    pub interrupted: u64,
}

impl PingCounts {
    /// Those that were not answered as they should have been.
    pub const fn lost(self) -> u64 {
        self.late + self.timeout + self.hung + self.failed + self.skipped
    }
}

impl From<&Summary> for PingCounts {
    fn from(probe: &Summary) -> Self {
        // Of the interrupted ones only those that were not sent for want of time have a bound.
        let bounds = probe.durations.censored;
        let held_up = probe.held_up;
        let of_others = probe.timeout + probe.hung + probe.skipped - held_up.skipped;
        let interrupted = probe.interrupted - held_up.interrupted;
        let outrun = bounds.saturating_sub(of_others).min(interrupted);
        Self {
            due: probe.attempts,
            answered: probe.ok,
            late: probe.late,
            timeout: probe.timeout,
            hung: probe.hung,
            failed: probe.failures(),
            skipped: probe.skipped,
            outrun,
            held_up: held_up.interrupted,
            interrupted: interrupted - outrun,
        }
    }
}
