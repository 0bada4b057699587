//! Parquet parts: the samples of one target, in row groups of at most 1 Mi rows.
//!
//! Columns that have few values (numbers of operations, clients, names...) are dictionary-encoded here, because the
//! numbers that the sample already carries are nearly the indices that the file needs: no string is hashed per row.
//! Times, durations and attempts go through the Parquet library as DELTA_BINARY_PACKED under zstd; the
//! figures behind that choice are in docs/store-format.md and come from `examples/encodings.rs`.

mod codes;
mod details;
mod reader;
mod writer;

pub(crate) use details::{DETAILS_FILE, DetailsWriter, read_details};
pub(crate) use reader::{ColumnBuffer, PartReader};
pub(crate) use writer::{PartContext, PartWriter};

/// The columns of a part, all required. Only signed numbers and UTF-8, so that every reader takes them as they are.
pub(crate) const SCHEMA: &str = "message sample {
    REQUIRED INT64 attempt;
    REQUIRED INT32 client;
    REQUIRED INT32 target;
    REQUIRED INT32 stage;
    REQUIRED BYTE_ARRAY operation (UTF8);
    REQUIRED INT32 operation_code;
    REQUIRED BYTE_ARRAY outcome (UTF8);
    REQUIRED INT32 outcome_code;
    REQUIRED INT32 failure_code;
    REQUIRED BYTE_ARRAY phase (UTF8);
    REQUIRED INT32 iteration;
    REQUIRED INT64 intended_ns;
    REQUIRED INT64 start_ns;
    REQUIRED INT64 duration_ns;
    REQUIRED INT64 bytes;
    REQUIRED INT32 tag;
}";
