//! What can go wrong with a store, each as one sentence: what, where, what to do next.

use std::io;
use std::path::{Path, PathBuf};

use iolag_model::{FormatError, SampleError};
use rustix::io::Errno;

/// A failure of the store. Failures of measured operations are samples, never errors.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
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
    /// No space, or no quota, is left.
    #[error("cannot {action} {}: {source}; {} or choose another store", path.display(), room(source))]
    Full {
        /// What was tried, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A directory that runs are to be written to belongs to somebody else, or others may write to it.
    #[error(
        "{} is no safe place for runs: it belongs to user {owner} with mode {mode:o}, and you are user {user}; name another with --store",
        path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Its permissions.
        mode: u32,
        /// Who asked.
        user: u32,
    },
    /// A run that somebody else wrote, or may write to: nothing that it says is acted upon.
    #[error(
        "{} belongs to user {owner} with mode {mode:o}, and you are user {user}: what it says is not acted upon; let its owner clean up",
        path.display()
    )]
    Stranger {
        /// The run's directory, or a file in it.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Its permissions.
        mode: u32,
        /// Who asked.
        user: u32,
    },
    /// Another format than this program's.
    #[error("cannot read {}: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Which format, and where to look for help.
        source: FormatError,
    },
    /// A file's content is not what it should be.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, with what was expected.
        what: String,
    },
    /// A sample with an unknown number is to be stored, or was.
    #[error("{} has a sample that this iolag does not know: {source}; use a newer iolag", path.display())]
    Sample {
        /// The spool file.
        path: PathBuf,
        /// Which number.
        source: SampleError,
    },
    /// A Parquet file that run.json names is not there.
    #[error("{} is missing, run.json says that it holds {samples} samples; restore it from a copy, or remove the run with iolag rm", path.display())]
    PartMissing {
        /// The part.
        path: PathBuf,
        /// How many rows it should have.
        samples: u64,
    },
    /// A run of that name exists.
    #[error("run {id} exists already in {}; start again to get another name", root.display())]
    RunExists {
        /// Its name.
        id: String,
        /// Where.
        root: PathBuf,
    },
    /// Nothing has that name.
    #[error("no run {text:?} in {}; `iolag list` shows the runs", root.display())]
    RunMissing {
        /// What was asked for.
        text: String,
        /// Where.
        root: PathBuf,
    },
    /// A path leads to no run.
    #[error("{} is no run of iolag, whose directories have names such as 20261120-185900-3fa7; iolag list shows the runs", path.display())]
    NoRun {
        /// The path.
        path: PathBuf,
    },
    /// Several have that name.
    #[error("{text:?} may be any of {}; give more of the name", candidates.join(", "))]
    RunAmbiguous {
        /// What was asked for.
        text: String,
        /// What it may be, at most eight of them.
        candidates: Vec<String>,
    },
    /// Its keeper is alive.
    #[error(
        "run {id} is still being measured by process {keeper_pid} of host {host}; wait for it or end that process"
    )]
    RunAlive {
        /// The run.
        id: String,
        /// Its keeper.
        keeper_pid: u32,
        /// Where that is.
        host: String,
    },
    /// Another process holds the lock.
    #[error("{} is in use by another iolag process; wait for it to end", path.display())]
    Locked {
        /// What is locked.
        path: PathBuf,
    },
}

/// Why a run cannot be read, for those who decide what becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlawKind {
    /// It has the format of another iolag, which can read it.
    OtherFormat,
    /// It is not, or no longer, what was written; nobody can read it.
    Damaged,
    /// The system refuses it at present: nothing is known of it, and nothing may be done because of that.
    Unreadable,
}

/// What is wrong with a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Of which kind.
    pub kind: FlawKind,
    /// One sentence.
    pub sentence: String,
}

impl Flaw {
    /// What `error` says of a run that could not be read.
    pub fn of(error: &StoreError) -> Self {
        let (kind, advice) = match error {
            StoreError::Format { .. } => (FlawKind::OtherFormat, ""),
            error if error.is_missing() => (FlawKind::Damaged, "; iolag rm removes what is left of the run"),
            StoreError::System { .. } | StoreError::Full { .. } => (FlawKind::Unreadable, ""),
            _ => (FlawKind::Damaged, "; iolag rm removes the run"),
        };
        Self { kind, sentence: format!("{error}{advice}") }
    }
}

impl StoreError {
    /// What the system answered to `action` on `path`.
    pub(crate) fn system(action: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        let path = path.as_ref().to_owned();
        let source = source.into();
        if is_full(&source) {
            Self::Full { action, path, source }
        } else {
            Self::System { action, path, source }
        }
    }

    /// `path` is not what it should be.
    pub(crate) fn damaged(path: impl AsRef<Path>, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.as_ref().to_owned(), what: what.into() }
    }

    /// What the Parquet library says of `path`; a full disk is told as such.
    pub(crate) fn parquet(
        action: &'static str,
        path: impl AsRef<Path>,
        error: parquet::errors::ParquetError,
    ) -> Self {
        use parquet::errors::ParquetError;
        match error {
            ParquetError::External(source) => match source.downcast::<io::Error>() {
                Ok(source) => Self::system(action, path, *source),
                Err(source) => Self::damaged(path, source.to_string()),
            },
            other => Self::damaged(path, other.to_string()),
        }
    }

    /// The errno, if the system refused.
    pub fn errno(&self) -> Option<i32> {
        match self {
            Self::System { source, .. } | Self::Full { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.errno() == Some(Errno::NOENT.raw_os_error())
    }
}

/// How to get room.
fn room(source: &io::Error) -> &'static str {
    match source.raw_os_error() {
        Some(number) if number == Errno::FBIG.raw_os_error() => "allow this process larger files (ulimit -f)",
        _ => "free some space there",
    }
}

fn is_full(error: &io::Error) -> bool {
    let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    full.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_with_path_and_errno() {
        let error = StoreError::system("append to", "/store/ring-0.spool", Errno::NOSPC);
        assert_eq!(
            error.to_string(),
            "cannot append to /store/ring-0.spool: No space left on device (os error 28); \
             free some space there or choose another store"
        );
        assert_eq!(error.errno(), Some(28));
        let error = StoreError::system("append to", "/store/ring-0.spool", Errno::FBIG).to_string();
        assert!(
            error.ends_with("; allow this process larger files (ulimit -f) or choose another store"),
            "{error}"
        );
    }
}
