//! Why sides cannot be compared.

use std::error::Error;
use std::fmt;

/// Nothing can be compared; one sentence that says why and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompareError(pub(super) String);

impl fmt::Display for CompareError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl Error for CompareError {}
