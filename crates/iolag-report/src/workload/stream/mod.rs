//! Streams.

mod described;
mod judged;
mod text;
