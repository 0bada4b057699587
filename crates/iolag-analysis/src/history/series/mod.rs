//! One series by itself: what is read of it, how it is weighed, how it is distributed, and its summary.

pub(crate) mod analysis;
pub(crate) mod clock_steps;
pub(crate) mod covariates;
pub(crate) mod distribution;
pub(crate) mod estimate;
pub(crate) mod kept_amounts;
pub(crate) mod modes;
pub(crate) mod observations;
pub(crate) mod shares;
pub(crate) mod summary;
pub(crate) mod timed_values;
