//! Tasks: small things that a user does at the prompt, executed for real.
//!
//! [`TaskSession`] adds them to a session: `ls -l` and `ls -n` of a small directory, creating many small files in an empty
//! directory, compiling and linking a small program. Everything they make is in the session's working directory and is named
//! `check-…`, so that the removal of the place finds it.

mod compiler;
mod files;
mod probe;
mod program;
mod session;

pub use compiler::{Compiler, Language, find_compiler};
pub use probe::{PartEnding, PartRecorder, ProbeTask, ProbeTaskError, TaskOutput, TaskSpec};
pub use session::{TaskError, TaskOptions, TaskSession};
