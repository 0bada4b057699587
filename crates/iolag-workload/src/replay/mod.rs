//! A traced program, asked again: copies of it, each a process, whose threads are the tasks that were traced.
//!
//! A task's client walks through what the trace has of it; its session makes the same system calls below the directories that are mapped, and judges what comes back by
//! what came back then. Tasks share a table of descriptors and a current directory if theirs did: a thread is started by that of the task that began it, and copies the
//! table then if the program did.
//!
//! Limits: a task is a thread, so that memory, and what belongs to a process only (locks, limits, credentials), is shared by tasks that had their own.

mod ask;
mod buffers;
mod change;
mod client;
mod copy;
mod paths;
mod progress;
mod records;
mod session;
mod shared;
mod spec;
mod system_call;

pub use buffers::buffer_bytes;
pub use client::ReplayPace;
pub use copy::{CopyClients, ReplayCopy, run_copy};
pub use paths::{MapRoot, Paths};
