//! The tree: files that are there already are asked for and read, and nothing is written.

pub(crate) mod client;
mod spec;
