//! Days, weeks and hours of a place, and what swings with them.

pub(crate) mod daily_levels;
pub(crate) mod local_time;
pub(crate) mod outcome_shares;
pub(crate) mod periodicity;
