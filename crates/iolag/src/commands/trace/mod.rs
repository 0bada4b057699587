//! `iolag trace`: what a program asks of the file systems, and where its time goes.

mod capturing;
pub mod export;
pub mod file;
mod from;

use std::path::Path;

use iolag_conduct::{ExitCode, Failure};

pub(super) use self::capturing::{Teller, refuse_printed_document};

use crate::args::{Common, Trace};
use crate::commands::refuse_equal_names;
use crate::output;

/// Runs the command.
///
/// # Errors
/// If there is nothing to trace or to read, or the trace cannot be kept.
pub fn run(options: &Trace, common: &Common) -> Result<ExitCode, Failure> {
    refuse_equal_names(&options.labels)?;
    output::refuse_lost_document(common)?;
    let read = options.from.iter().map(|path| from::opened(path));
    let files: Vec<&Path> = read.chain(options.output.as_deref()).collect();
    output::refuse_needed_files(None, common, &files)?;
    if options.from.is_empty() { capturing::run(options, common) } else { from::run(options, common) }
}
