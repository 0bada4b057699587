//! The schedule of probes: what is executed when, what happens at a deadline, and what is remembered of it.
//!
//! A watch is one process that cannot hang (the keeper's side) and many short-lived children that may: one per probe, one
//! that writes the history, one that looks up circumstances. docs/watch.md says what is promised.

mod mounts;
mod plan;
mod published;
mod runtime;
mod spool;
mod surroundings;

pub use mounts::{MountIdentity, MountTable};
pub use plan::{AtDeadline, PlannedCovariate, PlannedTask, WatchPlan, WatchTarget};
pub use published::{PublishedStatus, STATUS_VERSION, publish, read_status, read_status_below};
pub use runtime::{Backing, RuntimeDirectory, RuntimeError};
pub use spool::{Keeping, Spool, SpoolLimits, SpoolLosses};
pub use surroundings::{SurroundingsMeter, SurroundingsStart};
