//! Benches: a campaign is planned, and its runs are conducted one after the other.

pub(crate) mod campaign;
pub(crate) mod conducting;
mod continuing;
mod measurer;
pub(crate) mod options;
pub(crate) mod plan;
