//! The metadata bench.

mod measuring;
pub(crate) mod plan;
pub(in crate::bench) mod servers;
