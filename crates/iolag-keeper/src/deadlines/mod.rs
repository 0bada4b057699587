//! Whether a deadline has passed: which client hangs, and when the keeper itself did not run.

pub(crate) mod hang_detection;
pub(crate) mod sleeps;
