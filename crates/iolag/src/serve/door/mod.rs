//! Who may come in, where, and in which form they are answered.

pub mod address;
pub mod admission;
pub mod answering;
pub mod connections;
pub mod negotiation;
