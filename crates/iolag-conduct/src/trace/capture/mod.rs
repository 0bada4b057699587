//! Tracing a command: strace is started below a child of the keeper, at the user's terminal; what it writes is read by that child, and kept.
//!
//! ```text
//! keeper -> capturer -> strace -> the command
//!              ^___ pipe ___|
//! ```
//! Invariants: the command has the terminal, the directory, the environment, the signals and the process group that it would have without
//! iolag, and no descriptor more. Nothing is printed between its start and its end. The capturer outlives the keeper, and completes the
//! trace. A file that takes no bytes does not stop the command (see [`behind`]). A process that strace was attached to is never ended.
//!
//! Limits: what strace costs is on the command's account; see docs/trace.md.

mod about;
mod behind;
mod calibration;
mod capturer;
mod destination;
mod gulps;
mod keeping;
mod observing;
mod plan;
mod program;
mod rights;
mod standing;
mod starting;
mod talk;

pub use calibration::perform_calibrating_calls;
pub use destination::Destination;
pub use keeping::{CaptureAttendant, Captured, CapturedTime, conduct_capture};
pub use plan::{Capture, CaptureSubject, Purpose};
