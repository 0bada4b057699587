//! What was around those who measured: caches, memory, and the host that made the load.

pub(crate) mod caches;
pub(crate) mod generator;
pub(crate) mod memory;
