//! The stream: a file of each client's own that is written, read and written over, block by block.

pub(crate) mod client;
pub(crate) mod ledger;
mod order;
pub(crate) mod spec;
