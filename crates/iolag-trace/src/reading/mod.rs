//! From strace's text to a trace.

mod clock;
mod effects;
mod interpreting;
mod kernel;
mod reader;

pub use clock::Clockwork;
pub use reader::{Beginning, Reading, StraceReader};
