//! Pings.

mod described;
mod document;
mod judged;
pub(crate) mod text;
