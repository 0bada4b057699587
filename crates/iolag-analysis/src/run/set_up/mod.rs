//! Set-ups: how long the copies took, and whether that is too long.

pub(crate) mod against;
mod analysed;
pub(crate) mod analysis;
pub(crate) mod copies;
pub(crate) mod line;
