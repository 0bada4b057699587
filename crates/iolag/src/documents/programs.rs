//! Programs that a file names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use iolag_conduct::{Answer, Failure, ask};

use super::file::DEADLINE;
use super::{DocumentError, Source, Text};

/// Whole paths of the programs that a file names, found by a child; `noun` is what the file is called.
///
/// # Errors
/// If a directory does not answer.
pub fn found_programs(names: &BTreeSet<String>, noun: &str) -> Result<BTreeMap<String, PathBuf>, Failure> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    match ask("scout", DEADLINE, || find_programs(names, &path))? {
        Answer::Given(programs) => Ok(programs),
        Answer::None { age, .. } => Err(Failure::unusable(format!(
            "a directory of $PATH has not answered for {age}; write whole paths of programs into the {noun}"
        ))),
    }
}

/// Programs for which `PATH` has to be searched, found in `path`; what is not executable is not found. Touches the
/// directories of `path`: only in a child.
fn find_programs(names: &BTreeSet<String>, path: &std::ffi::OsStr) -> BTreeMap<String, PathBuf> {
    let is_program = |candidate: &Path| {
        rustix::fs::access(candidate, rustix::fs::Access::EXEC_OK).is_ok() && candidate.is_file()
    };
    let find = |name: &str| {
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
        }
        std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(name))
            .find(|candidate| is_program(candidate))
    };
    names.iter().filter_map(|name| Some((name.clone(), find(name)?))).collect()
}

/// A command of the file with the whole path of its program, which was found as [`found_programs`] does; `None` of an empty one.
///
/// # Errors
/// If the program was not found, one sentence with file and line.
pub fn command_of(
    source: &Source<'_>,
    command: &[Text],
    programs: &BTreeMap<String, PathBuf>,
) -> Result<Option<Vec<String>>, DocumentError> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let Some(path) = programs.get(program.get_ref()) else {
        let message =
            format!("the program {:?} is not to be found in $PATH; write its whole path", program.get_ref());
        return Err(source.error(program, message));
    };
    let arguments = arguments.iter().map(|argument| argument.get_ref().clone());
    Ok(Some(std::iter::once(path.display().to_string()).chain(arguments).collect()))
}
