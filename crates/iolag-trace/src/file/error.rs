//! Why a file cannot be read, each as the end of a sentence that names the file.

use iolag_model::{FormatError, counted};

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// It begins with something else.
    #[error("it is no trace of iolag; text of strace is read with: iolag trace --from FILE")]
    Foreign,
    /// It is of another iolag.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// It stops before its end. What was read before that is whole.
    #[error(
        "it ends after {}, before its end: whoever wrote it was ended, or it was not copied whole",
        counted(*calls, "call", "calls")
    )]
    Cut {
        /// Calls that were read.
        calls: u64,
    },
    /// Its content is not what it should be. What was read before that is whole.
    #[error("it is damaged after {}: {what}", counted(*calls, "call", "calls"))]
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Calls that were read.
        calls: u64,
    },
    /// The system refused.
    #[error("{0}")]
    Read(#[from] std::io::Error),
}
