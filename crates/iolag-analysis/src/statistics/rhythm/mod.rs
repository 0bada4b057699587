//! What the clock explains: hours of the day and of the week.

pub(crate) mod other_days;
pub(crate) mod profile;
pub(crate) mod regular_hours;
