//! Caches of a bench: a child of the measurer makes them cold or warm and looks what they hold; whoever waits for it does so to a deadline.
//!
//! Limits: what was achieved is told of the pages of files, not of names and attributes, and not of servers.

mod child;
mod maker;

pub(super) use maker::{Making, Preparer};

use iolag_model::{CacheState, DeadlineRule, Nanoseconds, Operation};
use iolag_workload::longest_for;
use serde::{Deserialize, Serialize};

/// So long a command for servers, and whatever waits for no bytes, may take. The study waited 50 s for 128 GiB.
pub(super) const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(600);

/// How long the child may take for each of its tasks, where the run holds so many bytes.
pub(super) fn patience(bytes_held: u64) -> Nanoseconds {
    Nanoseconds(PATIENCE.0.saturating_add(longest_for(bytes_held).0))
}

/// When what was asked of the child counts as hung: the client goes on before.
pub(super) fn deadlines(caches: CacheState, bytes_held: u64) -> Vec<DeadlineRule> {
    let deadline_ns = Nanoseconds(patience(bytes_held).0.saturating_add(PATIENCE.0));
    let rule = |operation| DeadlineRule { role: None, operation: Some(operation), deadline_ns };
    match caches {
        CacheState::Asis => Vec::new(),
        CacheState::Cold | CacheState::Warm => {
            [Operation::CachesDrop, Operation::CachesWarm, Operation::CachesResident, Operation::CachesHeld]
                .map(rule)
                .to_vec()
        }
    }
}

/// What the child is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Task {
    Drop,
    Warm,
    Look,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Done {
    /// 0, or why not.
    errno: i32,
    /// What was read, or what is in memory.
    bytes: u64,
    /// What was looked at.
    held_bytes: u64,
    /// How it was done, as a sentence.
    said: Option<String>,
    /// Why it was not, as a sentence.
    doubt: Option<String>,
}
