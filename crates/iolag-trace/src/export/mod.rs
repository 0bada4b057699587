//! A trace for other programs.

mod csv;
mod strace;

pub use csv::{CSV_HEADER, CsvWriter};
pub use strace::write_strace;
