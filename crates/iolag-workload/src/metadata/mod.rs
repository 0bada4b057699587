//! The metadata workloads: many clients in each other's datasets, and what is known of the working set.

pub(crate) mod accounting;
pub(crate) mod batch;
pub(crate) mod mixed;
pub(crate) mod options;
mod peers;
mod script;
pub(crate) mod sharing;
mod spec;
mod stages;
pub(crate) mod validation;
