//! What was around those who measured: caches, memory, processors, and the host that made the load.

pub(crate) mod caches;
pub(crate) mod generator;
pub(crate) mod memory;
pub(crate) mod processor_time;
