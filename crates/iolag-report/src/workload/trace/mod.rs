//! Traces.

mod described;
mod judged;
pub(crate) mod over_time;
pub(crate) mod tables;
mod text;
pub(crate) mod tree;
