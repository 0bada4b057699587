//! What a configuration does to a task: days under each, and which attribute of hosts explains what takes too long.

pub(crate) mod attributes;
pub(crate) mod by_day;
pub(crate) mod names;
pub(crate) mod permutation;
pub(crate) mod ranking;
pub(crate) mod restricted_mean;
pub(crate) mod standardised;
