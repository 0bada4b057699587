//! What keeper and capturer tell each other: one JSON object per line.

use std::path::PathBuf;

use iolag_model::{RunRecord, TraceAbout, TraceElapsed, TraceEnding, TraceSummary, Trust};
use serde::{Deserialize, Serialize};

/// From the capturer to the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromCapturer {
    /// Everything is there; the command is started when the keeper says so.
    Ready(Box<TraceAbout>),
    /// The trace is written from now on.
    Opened {
        /// Where.
        path: PathBuf,
        /// Its run, if it is one.
        record: Option<Box<RunRecord>>,
    },
    /// strace is there, and with it the command.
    Started {
        /// The process of strace.
        strace: u32,
    },
    /// The command has ended, but not all that it has started.
    LeftBehind,
    /// The command has not taken a Ctrl-C, since it waits in the kernel: where.
    Stuck(String),
    /// A process that strace was attached to waits in the kernel, and did so before: where.
    Waits(String),
    /// Everything is read; the file is not durable yet.
    Read(Box<Read>),
    /// What became of the file.
    Kept(Result<(), String>),
    /// Nothing was traced: the exit code, and one sentence.
    Failed(u8, String),
}

/// What was read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Read {
    pub(super) summary: TraceSummary,
    pub(super) ending: TraceEnding,
    /// Where the time that passed went, if that was wanted.
    pub(super) elapsed: Option<TraceElapsed>,
    /// Where the process that strace was attached to waited then, if it was not seen to come back at once.
    pub(super) waited: Option<String>,
    /// Programs that ran without their rights.
    pub(super) without_rights: Vec<String>,
    /// What could not be ended, by name and where it waits.
    pub(super) left: Vec<String>,
    /// Why the program was not executed at all, if it was not.
    pub(super) not_executed: Option<String>,
}

impl Read {
    /// Says in the record of a run what is known once everything is read.
    pub(super) fn put_into(&self, record: &mut RunRecord) {
        if let Some(cut) = &self.ending.cut {
            record.state.add_reason(format!("the trace ends before the program: {cut}"));
        }
        record.trust.extend(self.doubts());
    }

    /// What is to be known before trusting it.
    pub(super) fn doubts(&self) -> Vec<Trust> {
        self.without_call().into_iter().chain(self.without_rights()).collect()
    }

    /// What a process had asked for before it was traced is not in the trace.
    fn without_call(&self) -> Option<Trust> {
        let waited = self.waited.as_ref()?;
        Some(Trust {
            doubt: format!(
                "the process waited in the kernel when strace was attached to it ({waited}): that call is not in the trace"
            ),
            advice: "ask whether the storage answers that it uses: `iolag explain DIRECTORY`".to_owned(),
        })
    }

    /// What those programs did that ran without their rights is not what they do.
    fn without_rights(&self) -> Option<Trust> {
        let (names, verb) = match &self.without_rights[..] {
            [] => return None,
            [one] => (one.clone(), "runs"),
            several => (several.join(", "), "run"),
        };
        Some(Trust {
            doubt: format!(
                "{names} {verb} with more rights than yours, and had to do without them: a program that is traced has none but its tracer's"
            ),
            advice: "trace it as root, or trace the program that it starts".to_owned(),
        })
    }
}

/// From the keeper to the capturer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ToCapturer {
    /// Start the command.
    Go,
    /// The user wants to go on without the rest: a process is let go, a command asked to end.
    Stop,
    /// Ctrl-C was typed at the terminal, where the command has heard it, too.
    Interrupted,
    /// At once: a command is ended.
    Leave,
}
