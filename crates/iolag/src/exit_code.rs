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

/// An error that ends a command, with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// How the program ends.
    pub code: ExitCode,
    /// One sentence: what, where, what was expected, what to do next.
    pub sentence: String,
}

impl Failure {
    /// The command line cannot be done as asked.
    pub fn usage(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Usage, sentence: sentence.to_string() }
    }

    /// A target or the store cannot be used.
    pub fn unusable(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Unusable, sentence: sentence.to_string() }
    }

    /// iolag itself failed.
    pub fn bug(sentence: impl ToString) -> Self {
        Self { code: ExitCode::Bug, sentence: sentence.to_string() }
    }
}
