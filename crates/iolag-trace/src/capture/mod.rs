//! strace as the tracer: which one is there, how it is called so that no data of the program reaches its text, and what its refusals mean.
//!
//! Starting it is not done here.

mod options;
mod program;
mod refusal;

pub use options::{Subject, strace_arguments};
pub use program::{Precision, Stops, StraceProgram, StraceVersion, Unsuitable};
pub use refusal::Refusal;
