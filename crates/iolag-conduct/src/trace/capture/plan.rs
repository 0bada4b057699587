//! What is to be captured.

use std::ffi::OsString;

use iolag_model::Nanoseconds;
use iolag_trace::Network;

use super::destination::Destination;

/// What is to be captured.
#[derive(Debug, Clone)]
pub struct Capture {
    /// What is traced.
    pub subject: CaptureSubject,
    /// Whether calls on sockets are traced, too.
    pub network: Network,
    /// Where the trace is kept.
    pub destination: Destination,
    /// What else is wanted.
    pub purpose: Purpose,
}

/// What a trace is captured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be kept.
    Trace,
    /// To say where the time went: the time that passes is divided, and tasks are looked at while they wait.
    Explain {
        /// When the command is ended, if it has not done so by itself.
        deadline: Option<Nanoseconds>,
    },
}

/// What is traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureSubject {
    /// A command: program and arguments.
    Command(Vec<OsString>),
    /// A process that is there, with all its threads and what it starts.
    Process(u32),
}
