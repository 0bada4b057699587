//! The memory that keeper, measurers and writer share: where samples, texts, slots and meetings lie in it.

pub(crate) mod coordinator;
pub(crate) mod detail_ring;
pub(crate) mod layout;
mod load_course;
pub(crate) mod memory;
pub(crate) mod recorders;
pub(crate) mod ring;
pub(crate) mod room;
pub(crate) mod slot;
pub(crate) mod tags;
pub(crate) mod words;
