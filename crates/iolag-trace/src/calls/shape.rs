//! What a system call is to a trace.

use super::symbols::{Group, bits};
use crate::trace::Call;

/// Where a call has what, and what it changes. Numbers are those of arguments, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The path that is asked about.
    pub path: Option<u8>,
    /// The descriptor of the directory that the path is relative to; without one, that of the task.
    pub at: Option<u8>,
    /// A second path.
    pub second: Option<u8>,
    /// The descriptor of the directory that the second path is relative to.
    pub second_at: Option<u8>,
    /// The descriptor that is worked on, of calls without a path.
    pub descriptor: Option<u8>,
    /// Flags, and whose words they are.
    pub flags: Option<(u8, Group)>,
    /// Another number that matters, and whose words it has: a mode, a command.
    pub argument: Option<(u8, Group)>,
    /// How many bytes are asked for.
    pub length: Option<u8>,
    /// Where in the file.
    pub offset: Option<u8>,
    /// What it changes for the task, or tells.
    pub effect: Effect,
    /// What it asks of the file system.
    pub asks: Asks,
}

/// What a call asks of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// What is there: the same again has the same answer.
    Looks,
    /// To change that.
    Changes,
    /// Something for the task.
    Other,
}

/// What a call changes for the task, or tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// The result is a descriptor of the path.
    Open,
    /// The result is a descriptor of something else.
    OpenOther,
    /// The argument with this number is a pair of new descriptors of something else.
    Pair(u8),
    /// The descriptor is closed.
    Close,
    /// A range of descriptors is closed.
    CloseRange,
    /// The result is another descriptor of the same file.
    Duplicate,
    /// The same, if the command says so.
    Control,
    /// The path is the directory of the task.
    ChangeDirectory,
    /// The descriptor is.
    ChangeDirectoryTo,
    /// The argument with this number tells the directory of the task.
    Tell(u8),
    /// The position in the file moves by the result.
    Move,
    /// The result is the position in the file.
    Seek,
    /// The first path is the second from now on.
    Rename,
    /// The argument with this number is what is known of the file.
    Attributes(u8),
    /// The names in a directory.
    List,
    /// The argument with this number is what a symbolic link says.
    Link(u8),
    /// The first path is what a symbolic link is to say: kept as it is.
    MakeLink,
    /// The result is a new task; the argument with this number says what it shares, or which of them says so.
    Fork,
    /// Another program; descriptors that are to be closed then are.
    Execute,
    /// The result is a task that ended.
    Wait,
    /// The argument with this number tells the task that ended.
    WaitFor(u8),
    /// What was shared is copied.
    Unshare,
    /// Paths mean something else from now on.
    ChangeView,
    /// Nothing; it may say who is at the other end of the descriptor.
    Speak,
    /// Nothing; it waits for whoever has the lock.
    Lock,
}

/// Commands of fcntl that wait for whoever has the lock.
const F_SETLKW: u32 = 7;
const F_SETLKW64: u32 = 14;
const F_OFD_SETLKW: u32 = 38;

impl Shape {
    /// Whether the call waits for another program, and not for the storage.
    pub(crate) const fn waits_for_lock(&self, call: &Call) -> bool {
        match self.effect {
            Effect::Lock => true,
            Effect::Control => matches!(call.argument, F_SETLKW | F_SETLKW64 | F_OFD_SETLKW),
            _ => false,
        }
    }

    /// Nothing is known of it.
    pub(crate) const NONE: Self = Self {
        path: None,
        at: None,
        second: None,
        second_at: None,
        descriptor: None,
        flags: None,
        argument: None,
        length: None,
        offset: None,
        effect: Effect::None,
        asks: Asks::Looks,
    };

    /// Of a path that is relative to the directory of the task.
    pub(super) const fn path(number: u8) -> Self {
        Self { path: Some(number), ..Self::NONE }
    }

    /// Of a path that is relative to a directory with a descriptor.
    pub(super) const fn at(at: u8, path: u8) -> Self {
        Self { at: Some(at), path: Some(path), ..Self::NONE }
    }

    /// Of a descriptor.
    pub(super) const fn descriptor(number: u8) -> Self {
        Self { descriptor: Some(number), ..Self::NONE }
    }

    pub(super) const fn second(self, number: u8) -> Self {
        Self { second: Some(number), ..self }
    }

    pub(super) const fn second_at(self, at: u8, number: u8) -> Self {
        Self { second_at: Some(at), second: Some(number), ..self }
    }

    pub(super) const fn flags(self, number: u8, group: Group) -> Self {
        Self { flags: Some((number, group)), ..self }
    }

    pub(super) const fn argument(self, number: u8, group: Group) -> Self {
        Self { argument: Some((number, group)), ..self }
    }

    pub(super) const fn length(self, number: u8) -> Self {
        Self { length: Some(number), ..self }
    }

    pub(super) const fn offset(self, number: u8) -> Self {
        Self { offset: Some(number), ..self }
    }

    pub(super) const fn does(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }

    /// Of a call that changes what the path names.
    pub(super) const fn changes(self) -> Self {
        Self { asks: Asks::Changes, ..self }
    }

    /// Whether a call with these flags looks up the name of its path.
    pub(crate) const fn looks_up(&self, flags: u32) -> bool {
        let is_on_descriptor = match self.flags {
            Some((_, Group::At)) => flags & bits::AT_EMPTY_PATH != 0,
            _ => false,
        };
        self.path.is_some() && !is_on_descriptor && !matches!(self.effect, Effect::Tell(_))
    }

    /// What a call with these flags asks.
    pub(crate) const fn asks(&self, flags: u32) -> Asks {
        match self.effect {
            Effect::Open if flags & (bits::O_ACCMODE | bits::O_CREAT | bits::O_TRUNC) != 0 => Asks::Changes,
            Effect::ChangeDirectory | Effect::ChangeView | Effect::Execute => Asks::Other,
            _ => self.asks,
        }
    }
}
