//! `ping`: one probe after the other of one directory.

pub(crate) mod conducting;
pub(crate) mod flight;
mod measurer;
pub(crate) mod plan;
mod programs;
