//! The check: one client per directory, in turns.

pub(crate) mod client;
pub(crate) mod group;
pub(crate) mod holdings;
pub(crate) mod spec;
mod stream;
pub(crate) mod turns;
mod unit;
