//! How much a sequence is worth whose neighbours resemble each other.

pub(crate) mod block_sums;
pub(crate) mod clusters;
pub(crate) mod correlation_time;
pub(crate) mod effective_size;
pub(crate) mod long_memory;
pub(crate) mod regimes;
pub(crate) mod worth;
