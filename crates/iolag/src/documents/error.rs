//! What is said of a file that cannot be understood.

use std::ops::Range;

/// A file that cannot be understood, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{message}")]
pub struct DocumentError {
    /// File and line with a colon behind; empty if what is wrong was typed.
    place: String,
    message: String,
}

impl DocumentError {
    /// Something wrong at `place` of the text of `file`, or on the command line if there is no file.
    pub fn at(file: &str, text: &str, place: Range<usize>, message: impl Into<String>) -> Self {
        let before = text.as_bytes().get(..place.start.min(text.len())).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let place = if file.is_empty() { String::new() } else { format!("{file}:{line}: ") };
        Self { place, message: message.into() }
    }

    /// The same place, and more to the point what is wrong there.
    pub fn saying(self, message: String) -> Self {
        Self { message, ..self }
    }
}
