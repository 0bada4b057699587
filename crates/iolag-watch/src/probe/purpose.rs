//! What the process of a probe was started for.

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

use crate::{AtDeadline, Deadlines};

/// What a process was started for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Purpose {
    /// To execute a task.
    #[default]
    Task,
    /// To go to a target before anybody else, or to look it up; it did not come back in time.
    Contact,
    /// To ask whether a mount answers. It is no attempt of anything: nothing is recorded of it, and it blocks its mount while it is there.
    Canary,
}

impl Purpose {
    /// Deadlines as the next watch is to know them: a child that executes no task dies with the present one, whatever its task says.
    pub const fn deadlines_to_keep(self, deadlines: Deadlines) -> Deadlines {
        match (self, deadlines.at_deadline) {
            (Self::Contact | Self::Canary, AtDeadline::Wait) => {
                Deadlines { at_deadline: AtDeadline::End { grace: Nanoseconds::ZERO }, ..deadlines }
            }
            _ => deadlines,
        }
    }
}
