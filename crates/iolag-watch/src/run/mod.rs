//! A watch under way.

pub(crate) mod probing;
pub(crate) mod resuming;
pub(crate) mod running;
pub(crate) mod status;
