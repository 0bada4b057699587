//! What the probes of a history have counted up to.

pub(crate) mod durations;
pub(crate) mod series_tally;
