//! What a probe and a check execute: a task of several parts in a directory of its own.
//!
//! The watch forks a child for each probe; the child opens the task's working directory, prepares it, performs the task, and exits. It may hang
//! or be killed anywhere: parts are stamped through a [`PartRecorder`] in shared memory, so that the watch knows which part was in flight.
//! A check keeps its tasks and performs parts of them, each within its [`PartRecorder::limit`].

use std::os::fd::BorrowedFd;
use std::path::PathBuf;

use iolag_model::{FailureCode, Nanoseconds, SetUpSpec};

use super::limits::TaskLimit;
use super::server_place::ServerPlace;
use super::server_task::ServerTask;

/// Which task, and how large. Sizes are those of study 000 by default.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskSpec {
    /// Compile and link a program of about 90 lines.
    Compile,
    /// `ls -l` of a directory; `ls -n` of the same as a part.
    List {
        /// Files in it: 6 for `list`, 3500 for `list-large`.
        files: u32,
        /// Where the listing goes; it is no number.
        output: TaskOutput,
    },
    /// Create small files in an empty directory; removing them as a part.
    Create {
        /// How many: 500.
        files: u32,
        /// Bytes in each.
        bytes: u64,
    },
    /// One stat of a file.
    Stat,
    /// Open, read to the end and close a small file.
    OpenRead {
        /// Its size in bytes.
        bytes: u64,
    },
    /// Write a file and fsync it; the fsync as a part.
    WriteFsync {
        /// Its size in bytes.
        bytes: u64,
    },
    /// The calls of a job that sets itself up: those of one copy of `iolag bench setup`.
    JobSetUp(SetUpSpec),
    /// Start an interactive shell on a terminal of its own until it shows its prompt.
    Shell {
        /// The shell, an absolute path.
        program: PathBuf,
    },
    /// From a keystroke until it appears, in a shell on a terminal of its own.
    Echo {
        /// The shell, an absolute path.
        program: PathBuf,
    },
    /// A command of the user's.
    Command {
        /// Program (an absolute path) and arguments.
        command: Vec<String>,
        /// Where its output goes.
        output: TaskOutput,
    },
    /// A request to a server.
    OnServer {
        /// Which server, and where in it.
        place: ServerPlace,
        /// What is asked.
        task: ServerTask,
    },
    /// A command of the user's that brings something into place: what it leaves running stays, if it succeeds. Its output is dropped.
    SetUp {
        /// Program (an absolute path) and arguments.
        command: Vec<String>,
    },
}

/// Where a command's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOutput {
    /// It is read and dropped.
    Discard,
    /// To a terminal, which is read: users look at terminals.
    Terminal,
    /// The last line is kept and parsed as a number (covariates).
    Number,
}

/// How a part ended.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PartEnding {
    /// Why it failed.
    pub failure: FailureCode,
    /// Exit status of its program, if there was one and it exited by itself.
    pub exit_status: Option<i32>,
    /// User and system time of it and everything it waited for.
    pub processor: [Nanoseconds; 2],
    /// Largest resident size of its program in bytes; zero if there was none.
    pub resident_bytes_max: u64,
    /// What was read, for [`TaskOutput::Number`].
    pub value: Option<f64>,
}

/// Where begins and ends of parts are stamped: in the watch, shared memory with a clock.
pub trait PartRecorder {
    /// The part with this index in [`ProbeTask::parts`] begins now.
    fn begin(&mut self, part: usize);

    /// It ended now.
    fn end(&mut self, part: usize, ending: PartEnding);

    /// It ended `ago` before now: some ends are only certain after a moment of quiet. Without a better answer the moment
    /// counts.
    fn end_ago(&mut self, part: usize, ending: PartEnding, ago: Nanoseconds) {
        let _ = ago;
        self.end(part, ending);
    }

    /// Told after the end of a program that failed: of a command of the user's the last line of its standard error, without
    /// secrets; in a check how it ended, with the beginning of its standard error.
    fn said(&mut self, line: &str) {
        let _ = line;
    }

    /// Told before the first begin by tasks that start commands and shells: the process `guard` is the parent of them all. It
    /// survives the end of the probe's process, kills whatever the task has started, and ends when the last of it is gone. As
    /// long as it lives, something of this probe is still on the mount. Programs of other tasks are in the probe's process
    /// group.
    fn guarded(&mut self, guard: u32) {
        let _ = guard;
    }

    /// The task's place has answered once more: `done` of its `of` operations are over.
    fn answered(&mut self, done: u32, of: u32) {
        let _ = (done, of);
    }

    /// From now on the task may wait for something else than its place: for a program, a terminal, another directory.
    fn left_place(&mut self) {}

    /// When the task is to end although it is not done; `None`: never. Asked by the tasks of a check between files, and while a
    /// program runs: it is killed then. The part fails with [`FailureCode::TIME_UP`].
    fn limit(&self) -> Option<TaskLimit<'_>> {
        None
    }
}

/// A task that a probe executes.
pub trait ProbeTask {
    /// Its parts in the order in which they are performed; the first is the whole task as users know it and has an empty name.
    fn parts(&self) -> &[&'static str];

    /// Makes what the task needs in its working directory, untimed; finds it there from the second time on. What is
    /// there and is not as it should be is made anew.
    ///
    /// # Errors
    /// If that is not possible, with the failure for the sample and a sentence for people.
    fn prepare(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder) -> Result<(), TaskError>;

    /// Performs it once.
    fn perform(&mut self, place: BorrowedFd<'_>, recorder: &mut dyn PartRecorder);
}

/// A task cannot be performed at all.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct TaskError {
    /// For the sample.
    pub failure: FailureCode,
    /// For people: what, on what, what the system answered.
    pub message: String,
}
