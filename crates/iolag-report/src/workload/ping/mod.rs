//! Pings.

mod described;
mod judged;
pub(crate) mod text;
