//! How what was recorded gets into a store, or into a place of rescue.

pub(crate) mod draining;
pub(crate) mod place;
pub(crate) mod rescue;
pub(crate) mod summarising;
mod target_failure;
pub(crate) mod writer;
pub(crate) mod writing;
