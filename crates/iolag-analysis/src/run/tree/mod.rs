//! Trees: how many names a second, what of that the processors took, what was found and what it sums to.

mod analysed;
pub(crate) mod analysis;
