//! The command line as users meet it: the real binary, each test with a home, a store and directories of its own.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

mod user;

mod check;
mod metadata;
mod metadata_options;
mod order;
mod report;
mod stored;
mod terminal;
mod usage;
