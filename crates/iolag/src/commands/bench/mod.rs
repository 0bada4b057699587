//! The workloads.

mod campaign;
pub mod metadata;
