//! What one kind of part of the requests of an operation took.

use iolag_model::{Nanoseconds, Operation};
use serde::{Deserialize, Serialize};

/// One kind of part of all attempts that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpent {
    /// What it is: [`Operation::is_mark`].
    pub part: Operation,
    /// How many there were. A request waits for one first byte, so that of these there are as many as requests.
    pub count: u64,
    /// How long they took together.
    pub total_ns: Nanoseconds,
}
