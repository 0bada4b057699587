//! The command line as users meet it: the real binary, each test with a home, a store and directories of its own.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[path = "../support/mod.rs"]
mod support;
mod user;
#[path = "../support/written_before.rs"]
mod written_before;

mod bench;
mod check;
mod check_servers;
mod compare;
mod copies;
mod explain;
mod lost_output;
mod payload;
mod replay;
mod replay_caches;
mod report;
mod runs;
mod secrets;
mod servers;
mod stage_clock;
mod terminal;
mod trace;
mod usage;
