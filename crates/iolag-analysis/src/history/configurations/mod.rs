//! What a configuration does to a task: days under each.

pub(crate) mod by_day;
pub(crate) mod names;
pub(crate) mod restricted_mean;
