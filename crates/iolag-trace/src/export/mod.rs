//! A trace for other programs.

mod columns;
mod csv;
mod parquet;
mod strace;

pub use csv::CsvWriter;
pub use parquet::ParquetCalls;
pub use strace::write_strace;
