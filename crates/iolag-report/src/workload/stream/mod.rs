//! Streams.

pub(super) mod campaign;
mod described;
mod judged;
mod text;
