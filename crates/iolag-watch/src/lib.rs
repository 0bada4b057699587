//! The schedule of probes: what is executed when, what happens at a deadline, and what is remembered of it.
//!
//! A watch is one process that cannot hang (the keeper's side) and many short-lived children that may: one per probe, one
//! that writes the history, one that looks up circumstances. docs/watch.md says what is promised.

mod plan;

pub use plan::{AtDeadline, PlannedCovariate, PlannedTask, WatchPlan, WatchTarget};
