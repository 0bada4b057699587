//! What those who measured beside the load of a bench felt.

pub(crate) mod analysis;
pub(crate) mod felt;
pub(crate) mod times;
