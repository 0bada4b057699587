//! The history as users meet it: the real binary notes, imports, exports, merges and shows, on files and on a real PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test ends at what it did not expect")]

#[path = "../support/mod.rs"]
mod support;
#[path = "../support/written_before.rs"]
mod written_before;

mod study;
mod user;

mod configurations;
mod faults;
mod importing;
mod incident;
mod merging;
mod older_histories;
mod postgres;
mod renaming;
mod reporting;
mod showing;
mod sides;
mod strata;
mod written;
