//! Runs of copies of a job at once, whichever workload they had: how long a copy takes, and what more copies do to that.

pub(crate) mod against;
pub(crate) mod at_work;
pub(crate) mod line;
pub(crate) mod of_run;
pub(crate) mod payload;
pub(crate) mod recommend;
pub(crate) mod time;
pub(crate) mod waits;
