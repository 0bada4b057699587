//! A directory in the machine's own memory, with which others are compared.

use std::path::PathBuf;

use crate::contact::scout::Answer;
use crate::messages::{DirectoryFacts, ScoutAnswer};

/// Where the machine's own memory can be written like a directory.
pub fn memory_places() -> [PathBuf; 3] {
    ["/dev/shm", "/run/shm", "/tmp"].map(PathBuf::from)
}

/// The first of them with more room than that, on none of these devices.
pub fn memory_place<'a>(
    found: &'a [Answer<ScoutAnswer>],
    bytes: u64,
    devices: &[&str],
) -> Option<&'a DirectoryFacts> {
    let is_fit = |facts: &&DirectoryFacts| {
        let file_system = &facts.file_system;
        file_system.kind == "tmpfs"
            && file_system.free_bytes.is_none_or(|free| free > bytes)
            && !devices.contains(&file_system.device.as_str())
    };
    let given = found.iter().filter_map(|answer| match answer {
        Answer::Given(Ok(facts)) => Some(facts),
        _ => None,
    });
    given.into_iter().find(is_fit)
}
