//! How many copies of a job a node should run: jobs per hour against copies, under a limit of time-outs.

pub(crate) mod answer;
pub(crate) mod level;
pub(crate) mod payload;
pub(crate) mod setting;
pub(crate) mod share;
pub(crate) mod slot;
