//! Touch: how long creating and removing a file take.

mod analysed;
pub(crate) mod analysis;
