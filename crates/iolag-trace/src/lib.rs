//! What a program asks of the file systems.
//!
//! strace's text becomes a [`Trace`]: each system call with its times, its result and what it was about, who made it, and what tasks have to
//! do with each other. Each folder uses those above it in this list, and none below:
//!
//! - `trace`: what a trace consists of.
//! - `text`: strace's text, one line at a time.
//! - `calls`: system calls, their arguments and what they change.
//! - `state`: what a kernel keeps for its tasks.
//! - `reading`: from text to a trace.
//! - `file`: the portable format.
//! - `export`: for other programs.
//! - `anonymising`: without its names.
//! - `summary`: what it comes to.
//! - `replay`: what of it can be asked again.
//! - `capture`: how strace is asked for text.
//!
//! Invariants: no buffer, argument or environment of a program is kept, only paths and numbers. Paths are bytes. Nothing is guessed
//! silently: what the text does not say is absent, or counted.

mod anonymising;
mod calls;
mod capture;
mod export;
mod file;
mod reading;
mod replay;
mod state;
mod summary;
mod text;
mod trace;

pub use anonymising::{Anonymiser, anonymous, anonymous_ending};
pub use capture::{
    Precision, Refusal, Stops, StraceProgram, StraceVersion, Subject, Unsuitable, strace_arguments,
};
pub use export::{CsvWriter, ParquetCalls, write_strace};
pub use file::{
    About, Anonymity, CaptureTime, Cost, Ending, Network, Origin, Piece, ProgramEnd, TRACE_BEGINNING,
    TRACE_FORMAT, TraceFileError, TraceReader, TraceWriter, TracingCost,
};
pub use reading::{
    AtExecute, Beginning, Clockwork, PerProcessError, Reading, StandingFile, StandingProcess, StraceReader,
    read_per_process,
};
pub use replay::{
    After, Ask, At, Attribute, Bone, BoneKind, Change, Changes, Following, Item, Name, Own, OwnFiles, Place,
    PlaceId, Repeater, Repetition, Scope, ScopeError, Skeleton, TaskItems, Whereabouts,
};
pub use summary::{Divider, Likeness, Lists, NamedList, Summariser};
pub use trace::{
    Call, CallName, CallNames, DIRECTORY_OF_TASK, Edge, EdgeKind, Ended, PathId, Paths, Peer, Sharing, Sink,
    Tables, Task, TaskId, Trace, lexical, path_text,
};
