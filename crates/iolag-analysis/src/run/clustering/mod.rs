//! How much the attempts of a run depend on each other: a second reading of its samples.

pub(crate) mod counted;
pub(crate) mod listed;
pub(crate) mod reading;
pub(crate) mod second_reading;
pub(crate) mod worth;
