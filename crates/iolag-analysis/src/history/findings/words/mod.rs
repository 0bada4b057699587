//! Names, moments, levels and factors in words.

pub(crate) mod amounts;
pub(crate) mod factors;
pub(crate) mod names;
