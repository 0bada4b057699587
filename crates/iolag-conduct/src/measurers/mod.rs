//! What the processes do that may hang with a target.

mod calibration;
pub(crate) mod check;
pub(crate) mod flight;
pub(crate) mod metadata;
pub(crate) mod ping;
mod ping_programs;
