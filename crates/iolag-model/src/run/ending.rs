//! Endings of a run that say nothing of its target: the user had enough, or the host ended what measured. Reasons are sentence fragments for
//! people; those that are looked for here have the same words in the runs of every version.

use super::RunState;

/// The user told the run to end (SIGINT).
pub const INTERRUPTED: &str = "interrupted (Ctrl-C)";
/// The terminal went away (SIGHUP).
pub const TERMINAL_CLOSED: &str = "the terminal was closed (SIGHUP)";
/// Somebody told the run to end (SIGTERM).
pub const TOLD_TO_END: &str = "told to end (SIGTERM)";
/// What is said of a measurer that did not end by itself begins so.
pub const OF_MEASURER: &str = "the measurer of ";
/// The store takes no samples, and there is no room for them elsewhere.
pub const STOPPED_FOR_ROOM: &str =
    "stopped because the store takes no samples and the memory for them is full";
/// What is said of samples that never reached the store ends so.
pub const NOT_STORED: &str = "missing: recorded, but not stored";
/// The same of what found no room in memory.
pub const NO_ROOM: &str = "found no room";

/// What is said of a target that refused what it was asked begins so.
pub const TARGET_FAILED: &str = "the target failed while it was measured";

impl RunState {
    /// Whether its target refused what it was asked: it was full, gone, read-only.
    pub fn has_failed_target(&self) -> bool {
        self.reasons().any(|reason| reason.starts_with(TARGET_FAILED))
    }

    /// Why the run is not complete, in one clause each.
    fn reasons(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::Incomplete { reason } => Some(reason.split("; ")),
            Self::Running { .. } | Self::Recovered { .. } | Self::Complete => None,
        };
        all.into_iter().flatten()
    }

    /// Whether a reason why the run is not complete lies with its user or its host.
    pub fn is_broken_off(&self) -> bool {
        matches!(self, Self::Running { .. } | Self::Recovered { .. }) || self.reasons().any(is_ours)
    }
}

/// Whether this reason decides what the run is to those who compare it.
pub fn decides(reason: &str) -> bool {
    is_ours(reason) || reason.starts_with(TARGET_FAILED)
}

fn is_ours(reason: &str) -> bool {
    const WHOLE: [&str; 4] = [INTERRUPTED, TERMINAL_CLOSED, TOLD_TO_END, STOPPED_FOR_ROOM];
    WHOLE.contains(&reason)
        || reason.starts_with(OF_MEASURER)
        || [NOT_STORED, NO_ROOM].iter().any(|end| reason.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_target_did_breaks_nothing_off() {
        for (reason, expected) in [
            ("interrupted (Ctrl-C)", true),
            ("told to end (SIGTERM); 2 operations had not ended", true),
            ("/home did not answer for longer than the deadline of 15 s and was left behind", false),
            ("the measurer of /home was ended by signal 9", true),
            (
                "1 operation had not ended; the measurer of /home was stopped (SIGSTOP), past its deadline, and was ended",
                true,
            ),
            ("3 samples are missing: recorded, but not stored", true),
            ("2 samples found no room", true),
            (STOPPED_FOR_ROOM, true),
            ("the target failed while it was measured: 2 of 24 operations ended with no space left", false),
            ("stopped because client 3 hung", false),
        ] {
            assert_eq!(RunState::Incomplete { reason: reason.into() }.is_broken_off(), expected, "{reason}");
        }
        let both = "interrupted (Ctrl-C); the target failed while it was measured: 2 of 24 operations ended with no space left";
        let both = RunState::Incomplete { reason: both.into() };
        assert!(both.is_broken_off() && both.has_failed_target());
        assert!(!RunState::Complete.is_broken_off());
        assert!(RunState::Recovered { reason: "its keeper was killed".into() }.is_broken_off());
    }
}
