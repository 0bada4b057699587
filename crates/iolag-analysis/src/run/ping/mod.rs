//! Pings: what became of the probes, and what was found in them.

mod analysed;
pub(crate) mod analysis;
pub(crate) mod counts;
