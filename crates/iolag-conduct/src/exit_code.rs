//! Exit codes: the one table, also in docs/exit-codes.md.

/// How the program ends.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize,
)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything was done.
    #[default]
    Fine = 0,
    /// A threshold or a regression was found.
    Found = 1,
    /// The command line cannot be understood or cannot be done as asked.
    Usage = 2,
    /// A target, or the store, cannot be used.
    Unusable = 3,
    /// The run ended before everything was measured; what was measured is kept and reported.
    Incomplete = 4,
    /// A bug in iolag.
    Bug = 70,
}

impl ExitCode {
    /// The code with this number; an unknown number is a bug.
    pub const fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Fine,
            1 => Self::Found,
            2 => Self::Usage,
            3 => Self::Unusable,
            4 => Self::Incomplete,
            _ => Self::Bug,
        }
    }
}
