//! System calls: what stands where among their arguments, what the words in them mean, and what they change.

mod shape;
mod symbols;
mod table;

pub(crate) use shape::{Asks, Effect, Shape};
pub(crate) use symbols::{Group, bits};
pub(crate) use table::shape_of;
