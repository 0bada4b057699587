//! A process that lets nothing outlive the probe that started it: seen from the probe, and from within.

pub(crate) mod handle;
mod process;
pub(crate) mod report;
