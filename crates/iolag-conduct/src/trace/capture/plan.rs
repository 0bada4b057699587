//! What is to be captured.

use std::ffi::OsString;

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
}

/// What is traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaptureSubject {
    /// A command: program and arguments.
    Command(Vec<OsString>),
    /// A process that is there, with all its threads and what it starts.
    Process(u32),
}
