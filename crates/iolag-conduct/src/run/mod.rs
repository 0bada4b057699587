//! The keeper's part of a run, from the first fork to the last word.

pub(crate) mod beginning;
pub(crate) mod cleaning;
pub(crate) mod conduct;
mod generator;
mod halting;
pub(crate) mod interruption;
mod measurer;
mod memory_watch;
pub(crate) mod policy;
mod recording;
mod supervision;
pub(crate) mod telling;
pub(crate) mod watched;
