//! `check`: how does this storage feel right now?

pub(crate) mod conducting;
pub(crate) mod measurer;
pub(crate) mod plan;
mod scouted;
