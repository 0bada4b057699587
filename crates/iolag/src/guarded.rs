//! Work that may take long or wait for a slow reader: in a child, so that Ctrl-C always ends it, and into files that appear as
//! a whole or not at all.

use std::fs::File;
use std::path::Path;

use iolag_keeper::{Child, Ending, Orphanage, Signals};
use iolag_model::Nanoseconds;

use crate::output;
use crate::replacing::{replace, replace_trace};
use iolag_conduct::{ExitCode, Failure};

/// Does something in a child without a deadline; Ctrl-C ends it. The child prints its own results and failures.
///
/// # Errors
/// If there is no process for it, or it was interrupted.
pub fn in_child(what: &'static str, work: impl FnOnce() -> Result<(), Failure>) -> Result<ExitCode, Failure> {
    const LOOK: Nanoseconds = Nanoseconds::from_milliseconds(20);
    const GRACE: Nanoseconds = Nanoseconds::from_milliseconds(300);
    let signals = Signals::block()?;
    let mut child = Child::fork(what, Orphanage::Die, || match work() {
        Ok(()) => ExitCode::Fine as i32,
        Err(failure) => {
            output::complain(&failure.sentence);
            failure.code as i32
        }
    })?;
    loop {
        if let Some(ending) = child.wait(LOOK) {
            return Ok(match ending {
                Ending::Exited(status) => ExitCode::from_number(u8::try_from(status).unwrap_or(70)),
                Ending::Killed(_) => ExitCode::Incomplete,
            });
        }
        if signals.next().is_some() {
            child.end(GRACE);
            return Err(Failure {
                code: ExitCode::Incomplete,
                sentence: format!("interrupted: the {what} is not complete"),
            });
        }
    }
}

/// Writes a file for the user, as a whole or not at all. A pipe or device of the user's is written as it is. `option` names the file
/// in the command.
///
/// # Errors
/// One sentence, if it cannot be written; nothing half-written stays.
pub fn replace_by(
    path: &Path,
    option: &str,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    replace(path, write).map_err(|error| unwritten(path, option, &error))
}

/// The same with a trace.
///
/// # Errors
/// As [`replace_by`].
pub fn replace_trace_by(
    path: &Path,
    option: &str,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    replace_trace(path, write).map_err(|error| unwritten(path, option, &error))
}

fn unwritten(path: &Path, option: &str, error: &std::io::Error) -> Failure {
    let path = path.display();
    Failure::unusable(format!("cannot write {path}: {error}; name another place with {option}"))
}
