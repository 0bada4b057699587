//! What a trace consists of.

mod call;
mod map;
mod names;
mod paths;
mod peer;
mod task;

pub use call::{Call, DIRECTORY_OF_TASK};
pub(crate) use map::Map;
pub use names::{CallName, CallNames};
pub(crate) use paths::PATH_BYTES_MAX;
pub use paths::{PathId, Paths, lexical, path_text};
pub use peer::Peer;
pub(crate) use task::clone_flags;
pub use task::{Edge, EdgeKind, Ended, Sharing, Task, TaskId};

use std::io;

/// What calls and edges refer to by number. It only grows: a number means the same for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// What calls are called.
    pub names: CallNames,
    /// What they are about.
    pub paths: Paths,
    /// Who made them.
    pub tasks: Vec<Task>,
}

/// Who takes a trace, as it comes.
pub trait Sink {
    /// A call has ended, or will not any more.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()>;

    /// Two tasks had to do with each other, or one with its end.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()>;

    /// A call, which is told next, speaks with somebody through this descriptor.
    fn speaks(&mut self, _task: TaskId, _descriptor: i32, _peer: Peer, _tables: &Tables) {}
}

/// A whole trace in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// What the others refer to.
    pub tables: Tables,
    /// In the order in which they ended.
    pub calls: Vec<Call>,
    /// In the order in which they were seen.
    pub edges: Vec<Edge>,
}

impl Sink for Trace {
    fn call(&mut self, call: &Call, _: &Tables) -> io::Result<()> {
        self.calls.push(*call);
        Ok(())
    }

    fn edge(&mut self, edge: &Edge, _: &Tables) -> io::Result<()> {
        self.edges.push(*edge);
        Ok(())
    }
}
