//! One system call.

use iolag_model::Nanoseconds;

use super::names::CallName;
use super::paths::PathId;
use super::task::TaskId;

/// The descriptor that stands for the directory of the task (AT_FDCWD).
pub const DIRECTORY_OF_TASK: i32 = -100;

const ENOENT: u16 = 2;
const ENOTDIR: u16 = 20;
/// From here on errors are of calls that are made again after a signal; no program sees them.
const ERESTARTSYS: u16 = 512;
const ERESTART_RESTARTBLOCK: u16 = 516;

/// One system call: what was asked, when, by whom, and how it came back. Of buffers, arguments and environments it has nothing.
///
/// Numbers of flags, errors and modes are those of Linux on x86-64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// When it began, since the beginning of the trace.
    pub start: Nanoseconds,
    /// How long it took, if that is known; of one that never came back, how long that was seen.
    pub duration: Option<Nanoseconds>,
    /// Who made it.
    pub task: TaskId,
    /// What it is called.
    pub name: CallName,
    /// The descriptor that was worked on, or that the path is relative to.
    pub descriptor: Option<i32>,
    /// What it was about: absolute, unless nobody knows what it was relative to. Of calls on a descriptor, what was opened.
    pub path: Option<PathId>,
    /// The other name of a rename or link; what a symbolic link says.
    pub second: Option<PathId>,
    /// Flags of opening, of look-ups, of new tasks.
    pub flags: u32,
    /// The mode of what is made, a command of fcntl, where a seek counts from; of what was asked for attributes, its mode.
    pub argument: u32,
    /// What it returned; nothing if it never did, or nobody saw it.
    pub result: Option<i64>,
    /// Why it failed; 0 if it did not.
    pub errno: u16,
    /// Where in the file, if that is known.
    pub offset: Option<u64>,
    /// Bytes that were asked for; of what was asked for attributes, its size.
    pub length: u64,
}

impl Call {
    /// One of which nothing else is known.
    pub const fn new(task: TaskId, name: CallName, start: Nanoseconds) -> Self {
        Self {
            start,
            duration: None,
            task,
            name,
            descriptor: None,
            path: None,
            second: None,
            flags: 0,
            argument: 0,
            result: None,
            errno: 0,
            offset: None,
            length: 0,
        }
    }

    /// Whether it came back with what was asked.
    pub const fn succeeded(&self) -> bool {
        self.errno == 0 && self.result.is_some()
    }

    /// Whether it came back at all. Of one that was not seen to, and of one that a signal interrupted (the system, or the program, asks again then), nothing is known
    /// of what it asked.
    pub const fn came_back(&self) -> bool {
        self.result.is_some() || !matches!(self.errno, 0 | ERESTARTSYS..=ERESTART_RESTARTBLOCK)
    }

    /// Whether there was nothing of the name that it asked for.
    pub const fn found_nothing(&self) -> bool {
        matches!(self.errno, ENOENT | ENOTDIR)
    }
}
