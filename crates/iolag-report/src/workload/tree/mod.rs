//! Trees.

mod described;
mod judged;
mod text;
