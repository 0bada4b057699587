//! Who makes calls, and what they have to do with each other.

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

/// Flags of clone(2).
pub(crate) mod clone_flags {
    pub const CLONE_VM: u32 = 0x100;
    pub const CLONE_FS: u32 = 0x200;
    pub const CLONE_FILES: u32 = 0x400;
    pub const CLONE_VFORK: u32 = 0x4000;
    pub const CLONE_THREAD: u32 = 0x10000;
    pub const CLONE_NEWNS: u32 = 0x20000;
}

use clone_flags::{CLONE_FILES, CLONE_FS, CLONE_THREAD, CLONE_VFORK, CLONE_VM};

/// A task (a thread; a process is one or several), by its place in the list of the trace. The numbers that the system gives are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u32);

/// A task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// What the system called it; 0 if the text does not say.
    pub number: u32,
    /// Who began it, if that was seen.
    pub parent: Option<TaskId>,
    /// The first task of its process.
    pub process: TaskId,
    /// What it shared with its parent at its beginning.
    pub sharing: Sharing,
}

/// What a new task shares with its parent, as flags of clone(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sharing(pub u32);

impl Sharing {
    /// Nothing, as after fork(2).
    pub const NOTHING: Self = Self(0);
    /// Memory, and the parent waits, as after vfork(2).
    pub const VFORK: Self = Self(CLONE_VM | CLONE_VFORK);

    /// Everything, as threads of one process do.
    pub const THREAD: Self = Self(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_THREAD);

    /// Whether they have one table of descriptors.
    pub const fn descriptors(self) -> bool {
        self.0 & CLONE_FILES != 0
    }

    /// Whether they have one current directory.
    pub const fn directory(self) -> bool {
        self.0 & CLONE_FS != 0
    }

    /// Whether they are of one process.
    pub const fn process(self) -> bool {
        self.0 & CLONE_THREAD != 0
    }

    /// When a task begins whose parent's call began, and ended, then: who waits for it comes back late.
    pub(crate) fn begins_at(self, began: u64, ended: Option<u64>) -> u64 {
        ended.filter(|_| !self.parent_waits()).unwrap_or(began)
    }

    /// Whether the parent waits until the new task has executed a program or ended.
    pub const fn parent_waits(self) -> bool {
        self.0 & CLONE_VFORK != 0
    }
}

/// Something between tasks, which a repetition has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What.
    pub kind: EdgeKind,
    /// Who did it.
    pub task: TaskId,
    /// The number of the call by which it happened, from 0; of an end, of the next call of any task.
    pub call: u64,
}

impl Edge {
    /// How many calls come before it.
    pub(crate) const fn place(&self) -> u64 {
        match self.kind {
            EdgeKind::Over(_) | EdgeKind::Exit(_) => self.call,
            _ => self.call.saturating_add(1),
        }
    }
}

/// What there is between tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// It began this task.
    Fork(TaskId),
    /// It goes on with the program of the call's path.
    Execute,
    /// It was over at this moment, on the clock of the trace; a call that did not come back may follow, and its end.
    Over(Nanoseconds),
    /// It ended.
    Exit(Ended),
    /// It learned of the end of this task.
    Wait(TaskId),
    /// Its paths are those of a part of the system, or of other mounts, from here on: chroot, a namespace of its own.
    ChangeView,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status.
    Exited(u8),
    /// By the signal with this number; 0 if its name is unknown.
    Killed(u8),
    /// Another thread of its process executed a program.
    Superseded,
}
