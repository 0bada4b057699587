//! Watching, end to end: the real program on directories that are healthy, hang, fill up or are not there, under signals and
//! kills, as its users and their cron would run it. What was once told is in the history afterwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod remembered;
mod stage;
mod terminal;

mod guest;
mod hanging;
mod nothing_lost;
mod pinging;
mod servers;
mod start_to_end;
