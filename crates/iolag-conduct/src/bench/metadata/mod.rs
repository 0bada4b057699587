//! The metadata bench.

mod continuing;
mod measuring;
pub(crate) mod plan;
