//! Programs that a file names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Programs for which `PATH` has to be searched, found in `path`; what is not executable is not found. Touches the
/// directories of `path`: only in a child.
pub fn find_programs(names: &BTreeSet<String>, path: &std::ffi::OsStr) -> BTreeMap<String, PathBuf> {
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
