//! Durations as distributions, some of which are only known to be "at least".

pub(crate) mod censored;
pub(crate) mod exact_durations;
pub(crate) mod histogram;
pub(crate) mod interpolated;
