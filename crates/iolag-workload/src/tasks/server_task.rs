//! Which tasks there are on a server.

use iolag_model::Operation;

/// A task on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTask {
    /// Whether an object is there, and how long it is.
    Stat,
    /// An object, to its end.
    Read,
    /// Make an object, and delete it again.
    Create,
    /// The names of what is in the working place.
    List,
}

impl ServerTask {
    /// All of them; the first two make nothing.
    pub const ALL: [Self; 4] = [Self::Stat, Self::Read, Self::Create, Self::List];

    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Read => "read",
            Self::Create => "create",
            Self::List => "list",
        }
    }

    /// What it does, in one line for people.
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::Stat => "connect, and ask for the length of an object",
            Self::Read => "connect, and read a small object",
            Self::Create => "connect, create a small object and delete it",
            Self::List => "connect, and list the objects of a small place",
        }
    }

    pub(crate) const fn part_names(self) -> &'static [&'static str] {
        match self {
            Self::Create => &["", "connect", "request", "delete"],
            Self::Stat | Self::Read | Self::List => &["", "connect", "request"],
        }
    }

    pub(super) const fn operations(self) -> &'static [Operation] {
        match self {
            Self::Stat => &[Operation::Stat],
            Self::Read => &[Operation::Read],
            Self::Create => &[Operation::Create, Operation::Delete],
            Self::List => &[Operation::List],
        }
    }
}
