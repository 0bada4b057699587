//! Traces: what a program asked of the file systems, and what to change.

mod analysed;
pub(crate) mod analysis;
pub(crate) mod findings;
pub(crate) mod lists;
mod never_back;
