//! What a history means: what was found, with its numbers. Words are made of it in iolag-report.

pub(crate) mod all;
pub(crate) mod bad_times;
pub(crate) mod bad_together;
pub(crate) mod changes;
pub(crate) mod correlations;
pub(crate) mod drifts;
pub(crate) mod endings;
pub(crate) mod host_attributes;
pub(crate) mod places_compared;
pub(crate) mod processor_time;
pub(crate) mod record;
pub(crate) mod said_together;
pub(crate) mod single_series;
pub(crate) mod tails;
