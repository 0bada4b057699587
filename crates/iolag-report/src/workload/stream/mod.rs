//! Streams.

pub(super) mod campaign;
mod described;
mod judged;
pub(super) mod matrix;
pub(super) mod text;
