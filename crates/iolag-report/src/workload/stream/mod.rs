//! Streams.

pub(super) mod campaign;
mod described;
mod judged;
mod matrix;
pub(super) mod text;
