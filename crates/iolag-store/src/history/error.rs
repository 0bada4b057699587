//! What can go wrong with a history, each as one sentence: what, where, what to do next.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

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
    /// It was read without its log, and somebody writes: the disk had no space for reading beside that, or could only be read.
    #[error(
        "the history {location} was written to while it was read as one that nobody writes to, since its disk was full or mounted read-only; ask again"
    )]
    Changed {
        /// Where it is.
        location: String,
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
    /// The server answers, and does not let us in: another password, role, database or certificate is needed.
    #[error("cannot connect to the history {location}: {what}")]
    Refused {
        /// Where it is, secrets removed.
        location: String,
        /// What is known, with what to do.
        what: String,
    },
    /// No history can be kept there.
    #[error("the history {location} cannot be used: {what}")]
    Unsuitable {
        /// Where it is.
        location: String,
        /// Why, with what to do.
        what: String,
    },
    /// The server cannot be reached now.
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
    /// Whether the same call may succeed later without anybody saying something else of where the history is, or who may use it.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. }
            | Self::Changed { .. }
            | Self::Full { .. }
            | Self::Connection { .. }
            | Self::Database { .. } => true,
            Self::System { source, .. } => {
                let errno = source.raw_os_error().map(Errno::from_raw_os_error);
                errno.is_some_and(|errno| PASSING.contains(&errno))
            }
            _ => false,
        }
    }
}

/// What the system answers when it lacks something, or a disk does.
const PASSING: [Errno; 9] = [
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::NOMEM,
    Errno::NFILE,
    Errno::MFILE,
    Errno::AGAIN,
    Errno::INTR,
    Errno::BUSY,
    Errno::IO,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_passes_and_a_lack_of_rights_does_not() {
        let failure =
            |errno: Errno| HistoryError::System { action: "create", path: "/h".into(), source: errno.into() };
        assert!(failure(Errno::NOSPC).is_passing() && failure(Errno::DQUOT).is_passing());
        for errno in [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::NOTDIR, Errno::LOOP, Errno::NAMETOOLONG]
        {
            assert!(!failure(errno).is_passing(), "{errno}");
        }
    }
}
