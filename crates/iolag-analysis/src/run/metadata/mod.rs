//! Metadata runs: stages, their rates and balance, the working set, and what was found in them.

mod analysed;
pub(crate) mod analysis;
mod cells;
pub(crate) mod lost_objects;
pub(crate) mod self_read;
pub(crate) mod stage;
pub(crate) mod stage_endings;
pub(crate) mod stage_findings;
pub(crate) mod working_set;
