//! Why sides cannot be compared.

use std::error::Error;
use std::fmt;

/// Nothing can be compared; one sentence that says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareError {
    /// What was asked for cannot be.
    Asked(String),
    /// It could be, but no run of a side says anything.
    NothingMeasured(String),
}

impl fmt::Display for CompareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Asked(sentence) | Self::NothingMeasured(sentence)) = self;
        formatter.pad(sentence)
    }
}

impl Error for CompareError {}
