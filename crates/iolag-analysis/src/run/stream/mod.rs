//! Streams: how many bytes a second, what of that the processors took, and how long each block.

mod analysed;
pub(crate) mod analysis;
pub(crate) mod copies;
mod from_cache;
