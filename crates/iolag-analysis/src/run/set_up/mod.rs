//! Set-ups: how long the copies took, and whether that is too long.

mod analysed;
pub(crate) mod analysis;
