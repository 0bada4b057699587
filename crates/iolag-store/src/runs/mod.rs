//! Runs: their directories, what is in them while they are written and afterwards, and the store that holds them.

pub(crate) mod baseline;
pub(crate) mod belonging;
pub(crate) mod encode;
pub(crate) mod export;
mod finish;
mod leftovers;
pub(crate) mod liveness;
pub(crate) mod manifest;
pub(crate) mod part;
pub(crate) mod recovery;
pub(crate) mod retention;
pub(crate) mod run_directory;
pub(crate) mod scan;
pub(crate) mod spool;
pub(crate) mod store;
