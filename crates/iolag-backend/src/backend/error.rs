//! Why the harness cannot go on with a target, in one sentence.

use iolag_model::{ErrorClass, FailureCode, RunId};

use crate::ObjectKey;

/// The harness cannot go on with this target.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// The text that names the target cannot be understood.
    #[error("cannot understand the target {target:?}: {reason}")]
    Target {
        /// What was given.
        target: String,
        /// What was expected.
        reason: String,
    },
    /// The target answered with an error.
    #[error("cannot {action} {path}: {}{}", .class, advice(.class))]
    Failed {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: String,
        /// What the answer means.
        class: ErrorClass,
        /// What the answer was.
        code: FailureCode,
    },
    /// The target is something else than a directory.
    #[error("{path} is not a directory: name a directory to measure in")]
    NotADirectory {
        /// What was given.
        path: String,
    },
    /// The working place exists and has something in it.
    #[error(
        "the working directory {path} is not empty: if it holds a working set of iolag bench metadata, continue with --phases benchmark,cleanup, \
         else remove it or choose another target"
    )]
    NotEmpty {
        /// The working place.
        path: String,
    },
    /// The working place is that of another run.
    #[error(
        "the working directory {path} is that of run {run}: let that end if it still measures; else remove it with iolag cleanup {run} (by hand, if no store \
         knows that run any more), or, after bench metadata, continue on its working set with --phases benchmark,cleanup"
    )]
    Claimed {
        /// The working place.
        path: String,
        /// Whose it is.
        run: RunId,
    },
    /// Something else is where the working directory, or a dataset in it, should be.
    #[error("{path} is {found}, not what iolag made there: remove it, or choose another target")]
    NotOurs {
        /// What was looked at.
        path: String,
        /// What it is.
        found: String,
    },
    /// Another file system is where the one was that the working place was made on.
    #[error(
        "{path} is left on the file system that was mounted there when it was made, and another one is there now: mount that again, \
         then remove it with: iolag cleanup"
    )]
    Unmounted {
        /// The working place.
        path: String,
    },
    /// Somebody gave the working place another name or put it elsewhere.
    #[error(
        "{path} was moved by somebody: what is left of it is {now}; look into that and remove it yourself"
    )]
    Moved {
        /// The working place.
        path: String,
        /// Where it is.
        now: String,
    },
    /// Content of objects this long cannot be compared.
    #[error(
        "objects of {bytes} bytes are too long to compare their content: use --object-size of at most {bytes_max} bytes, or \
         leave out --verify"
    )]
    TooLarge {
        /// What was asked.
        bytes: u64,
        /// What is possible.
        bytes_max: u64,
    },
    /// A server was not reached, does not let us in, or does not do what a working place needs.
    #[error("cannot measure on {target}: {said}")]
    Server {
        /// The target, secrets removed.
        target: String,
        /// Why, with what to do, without secrets.
        said: String,
        /// Why, as a number.
        code: FailureCode,
    },
    /// Its sessions have one request in flight.
    #[error("{target} takes one request at a time: choose --engine sync")]
    NoQueue {
        /// The target, secrets removed.
        target: String,
    },
    /// There is no working set to go on with.
    #[error("there is no working set in {path}: run the precreate phase first")]
    NoWorkingSet {
        /// The working place.
        path: String,
    },
    /// An object of the working set has a name that the backend cannot form.
    #[error("object {key:?} cannot be named on this target")]
    Name {
        /// Which.
        key: ObjectKey,
    },
}

fn advice(class: &ErrorClass) -> &'static str {
    match class {
        ErrorClass::NotFound => "; check the spelling, or create it first",
        ErrorClass::Permission => "; choose a directory that you may write to",
        ErrorClass::ReadOnly => "; choose a target that is mounted for writing",
        ErrorClass::NoSpace => "; free some space, or choose another directory",
        ErrorClass::Stale => "; the directory was removed on the server, mount it again",
        ErrorClass::TooManyFiles => "; raise the limit of open files (ulimit -n), or use fewer clients",
        _ => "",
    }
}
