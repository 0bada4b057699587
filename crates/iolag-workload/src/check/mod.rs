//! The check: one client per directory, in turns.

pub(crate) mod client;
pub(crate) mod turns;
pub(crate) mod unit;
