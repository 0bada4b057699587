//! What is found out before anything is measured, by children that may hang.

pub(crate) mod greeting;
pub(crate) mod memory_place;
pub(crate) mod scout;
pub(crate) mod start;
