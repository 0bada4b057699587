//! Where the calls of a program lie: of a directory that it never asked for, which may be misspelt, the user is told those that it did.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mapping::{Scope, below, is_system};
use crate::trace::{Map, PathId, Tables, lexical, path_text};

/// So many directories are told.
const TOLD_MAX: usize = 3;
/// Names of a directory that is told: where sites tell theirs apart, as in `/afs/sw` and `/usr/lib`.
const NAMES_MAX: usize = 2;

/// Where the calls of a program on files lie.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Whereabouts {
    /// What was said of directories in which none lies, as in `--map /afs/swx`.
    pub missed: Vec<String>,
    /// Directories of the program, and how many lie in each, most first.
    pub most: Vec<(String, u64)>,
}

impl Whereabouts {
    /// Of so many calls on each path.
    pub(super) fn of(calls: &Map<PathId, u64>, scope: &Scope, tables: &Tables) -> Self {
        let mut named: Vec<_> = scope.named().map(|(option, from)| (option, from, false)).collect();
        let mut by_directory: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (path, calls) in calls {
            let plain = lexical(tables.paths.path(*path));
            if is_system(&plain) || !plain.starts_with(b"/") {
                continue;
            }
            for (_, from, is_met) in &mut named {
                *is_met |= below(&plain, from).is_some();
            }
            *by_directory.entry(directory_of(&plain).to_vec()).or_default() += calls;
        }
        let missed = named.iter().filter(|(_, from, is_met)| !is_met && *from != b"/");
        let mut most: Vec<(String, u64)> =
            by_directory.into_iter().map(|(directory, calls)| (path_text(&directory), calls)).collect();
        most.sort_by_key(|(_, calls)| Reverse(*calls));
        most.truncate(TOLD_MAX);
        Self {
            missed: missed.map(|(option, from, _)| format!("{option} {}", path_text(from))).collect(),
            most,
        }
    }
}

/// The directory that a path lies in, or one above.
fn directory_of(plain: &[u8]) -> &[u8] {
    let slashes = plain.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    match slashes.take(NAMES_MAX + 1).last() {
        Some(end @ 1..) => &plain[..end],
        _ => b"/",
    }
}
