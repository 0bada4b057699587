//! From strace's text to a trace.

mod beginning;
mod clock;
mod effects;
mod interpreting;
mod kernel;
mod per_process;
mod reader;

pub use beginning::{AtExecute, Beginning, StandingFile, StandingProcess};
pub use clock::Clockwork;
pub use per_process::{PerProcessError, read_per_process};
pub use reader::{Reading, StraceReader};
