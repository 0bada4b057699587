//! The metadata bench.

mod measuring;
pub(crate) mod plan;
