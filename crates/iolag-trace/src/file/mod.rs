//! The portable format of traces. docs/trace-format.md says what stands where.
//!
//! A file is a header and blocks, each compressed and with a checksum of its own, and is only ever appended to: whatever ends the writer,
//! all blocks before are whole. A block of calls is understood with the tables of the blocks before it, so that a trace of any length is read
//! in the memory that its paths take.

mod about;
mod block;
mod columns;
mod error;
mod reader;
mod tables;
mod varint;
mod writer;

pub use about::{About, Anonymity, CaptureTime, Cost, Ending, Network, Origin, ProgramEnd, TracingCost};
pub use block::{TRACE_BEGINNING, TRACE_FORMAT};
pub use error::TraceFileError;
pub use reader::{Piece, TraceReader};
pub use writer::TraceWriter;
