//! Which rows of a check a user knows, and what feels immediate.

use iolag_model::{Nanoseconds, Operation};

/// Within this an answer feels immediate.
pub(crate) const IMMEDIATE: Nanoseconds = Nanoseconds::from_milliseconds(100);

/// The rows of a check that a user knows, in their order: the others are told only to who asks for all.
pub const KNOWN_ROWS: [Operation; 8] = [
    Operation::TaskList,
    Operation::TaskCreate,
    Operation::TaskCompile,
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::WriteDurably,
    Operation::StreamWrite,
];

/// The same where servers are among the targets: of objects one also asks which there are, and removes them.
pub const KNOWN_ROWS_WITH_SERVERS: [Operation; 10] = [
    Operation::TaskList,
    Operation::TaskCreate,
    Operation::TaskCompile,
    Operation::Create,
    Operation::Read,
    Operation::Stat,
    Operation::List,
    Operation::Delete,
    Operation::WriteDurably,
    Operation::StreamWrite,
];
