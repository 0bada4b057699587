//! Traces.

mod described;
mod judged;
mod text;
