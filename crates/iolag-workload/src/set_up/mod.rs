//! The synthetic job set-up: copies that look up, open and read a tree of small files, as programs do when they start.

pub(crate) mod client;
pub(crate) mod order;
mod spec;
