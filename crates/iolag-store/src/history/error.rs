//! What can go wrong with a history, each as one sentence: what, where, what to do next.

use std::io;
use std::path::PathBuf;

/// A failure of the history. Failures of measured tasks are samples, never errors.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    System {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// There is none.
    #[error("no history at {location}; `iolag watch` makes one, --history names another place")]
    Missing {
        /// Where it was looked for.
        location: String,
    },
    /// A symbolic link, a directory, a device.
    #[error("{} is {what}, not a file of a history; name the file itself with --history", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A file system on which several hosts, or no shared memory, would damage the database.
    #[error(
        "{} is on {file_system}, where a database is damaged sooner or later; put the history on a local disk with --history /var/…, \
         or use a server with --history postgres://…",
        path.display()
    )]
    NetworkFileSystem {
        /// The history.
        path: PathBuf,
        /// Its file system.
        file_system: &'static str,
    },
    /// Written by a newer iolag.
    #[error(
        "the history {location} has version {version}, this iolag knows up to {known}; use the iolag that wrote it, or a newer one"
    )]
    Newer {
        /// Where it is.
        location: String,
        /// Its version.
        version: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// An older version that is to be read only.
    #[error(
        "the history {location} has the old version {version}, this iolag reads {known}; run `iolag watch --once` or `iolag note` \
         once as its owner to bring it up to date"
    )]
    Older {
        /// Where it is.
        location: String,
        /// Its version.
        version: i64,
        /// The one that this program reads.
        known: i64,
    },
    /// A database, but not ours.
    #[error("{location} is no history of iolag but {what}; name another place with --history")]
    Foreign {
        /// Where it is.
        location: String,
        /// What it is, as far as is known.
        what: String,
    },
    /// Its content is not what it should be.
    #[error(
        "the history {location} is damaged: {what}; nothing was changed, docs/history.md says how to save what can be saved"
    )]
    Damaged {
        /// Where it is.
        location: String,
        /// What is wrong.
        what: String,
    },
    /// No space, or no quota, is left.
    #[error(
        "the history {location} cannot grow: {what}; free some space there, nothing that was written before is lost"
    )]
    Full {
        /// Where it is.
        location: String,
        /// What the database said.
        what: String,
    },
    /// Others hold it.
    #[error(
        "the history {location} was locked by another process for more than {waited_seconds} s; nothing was written, try again \
         when it is done"
    )]
    Busy {
        /// Where it is.
        location: String,
        /// How long was waited, in seconds.
        waited_seconds: u64,
    },
    /// It was opened for reading, or the file is not ours to write.
    #[error("the history {location} can only be read: {what}; write to one of your own with --history")]
    ReadOnly {
        /// Where it is.
        location: String,
        /// What the database said.
        what: String,
    },
    /// The text that should say where it is cannot be understood.
    #[error(
        "{location} does not name a history: {what}; expected postgres://USER@HOST/DATABASE or the path of a file"
    )]
    Place {
        /// What was given, secrets removed.
        location: String,
        /// What is wrong with it.
        what: String,
    },
    /// The server cannot be reached, or does not let us in.
    #[error("cannot connect to the history {location}: {what}")]
    Connection {
        /// Where it is, secrets removed.
        location: String,
        /// What is known, with what to do.
        what: String,
    },
    /// Anything else that a database said.
    #[error("the history {location} failed: {what}")]
    Database {
        /// Where it is, secrets removed.
        location: String,
        /// What it said.
        what: String,
    },
    /// Who was to take the records could not.
    #[error("cannot write the records: {source}")]
    Sink {
        /// What it answered.
        source: io::Error,
    },
    /// Who was to give the records could not.
    #[error("cannot read line {line} of {name}: {source}")]
    Source {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What the system answered.
        source: io::Error,
    },
    /// A line that is no record.
    #[error("{name}, line {line}: {what}")]
    Line {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it, and what to do.
        what: String,
    },
}

impl HistoryError {
    /// Whether the same call may succeed later without anybody doing anything to the history itself.
    pub const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Full { .. } | Self::Connection { .. } | Self::Database { .. }
        )
    }
}
