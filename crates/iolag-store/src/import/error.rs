//! What can go wrong with an import, each as one sentence: what, where, what was expected, what to do next.

use std::io;

use crate::import::aside::bytes::AsideError;
use crate::import::options::option_error::OptionError;

/// A failure of an import. Nothing is imported then.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system refused.
    #[error("cannot read {file}: {source}")]
    System {
        /// Which file.
        file: String,
        /// What the system answered.
        source: io::Error,
    },
    /// What does not fit into memory cannot be put aside.
    #[error(transparent)]
    Aside(#[from] AsideError),
    /// It is larger than is allowed.
    #[error("{file} is larger than {bytes_max} bytes; import it in pieces, cut between lines")]
    TooLarge {
        /// Which file.
        file: String,
        /// The limit.
        bytes_max: u64,
    },
    /// A row cannot be read, and no more may be left out.
    #[error("{file}:{line}: {what}: {text:?}; {advice}")]
    BadRow {
        /// Which file.
        file: String,
        /// Which line, from 1.
        line: u64,
        /// What is wrong, with what was expected.
        what: String,
        /// The text, cut if it is long.
        text: String,
        /// What to do next.
        advice: String,
    },
    /// Something about the whole file cannot be decided without the caller.
    #[error("{file}: {what}; {advice}")]
    Undecided {
        /// Which file.
        file: String,
        /// What, with the possible readings.
        what: String,
        /// What to do next.
        advice: String,
    },
    /// An option makes no sense.
    #[error("cannot import {file}: {what}")]
    Options {
        /// Which file.
        file: String,
        /// What was expected instead.
        what: String,
    },
    /// A value of an option makes no sense.
    #[error(transparent)]
    Option(#[from] OptionError),
}

impl ImportError {
    pub(crate) fn undecided(file: &str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Undecided { file: file.to_owned(), what: what.into(), advice: advice.into() }
    }

    pub(crate) fn options(file: &str, what: impl Into<String>) -> Self {
        Self::Options { file: file.to_owned(), what: what.into() }
    }
}

/// A row that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Which line, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
    /// The text, cut if it is long.
    pub text: String,
}

/// Rows that were left out: how many, and the first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadRows {
    /// How many.
    pub count: u64,
    /// The first ones, at most [`BadRows::SHOWN_MAX`].
    pub first: Vec<BadRow>,
}

impl BadRows {
    /// How many are shown.
    pub const SHOWN_MAX: usize = 5;
}

/// Who decides whether a bad row may be left out.
#[derive(Debug)]
pub(crate) struct Tolerance<'a> {
    file: &'a str,
    rows_max: u64,
    bad: BadRows,
}

impl<'a> Tolerance<'a> {
    pub fn new(file: &'a str, rows_max: u64) -> Self {
        Self { file, rows_max, bad: BadRows::default() }
    }

    /// Name of the file.
    pub const fn file(&self) -> &'a str {
        self.file
    }

    /// Leaves out `line`.
    ///
    /// # Errors
    /// [`ImportError::BadRow`] if too many have been.
    pub fn leave_out(&mut self, line: u64, text: &str, what: impl Into<String>) -> Result<(), ImportError> {
        self.bad.count += 1;
        let row = BadRow { line, what: what.into(), text: shortened(text) };
        if self.bad.count > self.rows_max {
            let advice = match self.rows_max {
                0 => "correct it, or allow rows to be left out with --skip-bad N".to_owned(),
                allowed => format!(
                    "this is one more than --skip-bad {allowed} allows: are file and options what you think?"
                ),
            };
            let BadRow { line, what, text } = row;
            return Err(ImportError::BadRow { file: self.file.to_owned(), line, what, text, advice });
        }
        if self.bad.first.len() < BadRows::SHOWN_MAX {
            self.bad.first.push(row);
        }
        Ok(())
    }

    /// What was left out.
    pub fn into_bad_rows(self) -> BadRows {
        self.bad
    }
}

/// At most 120 characters of `text`, without control characters.
pub(crate) fn shortened(text: &str) -> String {
    const CHARACTERS_MAX: usize = 120;
    let mut short = cleaned(text.chars().take(CHARACTERS_MAX));
    if text.chars().nth(CHARACTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// `text` fit for terminals and pages: control characters become spaces, spaces at the ends go.
pub(crate) fn cleaned(text: impl Iterator<Item = char>) -> String {
    let replaced: String =
        text.map(|character| if is_control(character) { ' ' } else { character }).collect();
    replaced.trim().to_owned()
}

/// Control characters, and those that reverse the direction of what follows.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
