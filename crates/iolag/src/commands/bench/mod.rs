//! The benches: the table of them.

mod campaign;
pub(super) mod conducting;
mod metadata;

use clap::Subcommand;
use iolag_conduct::{ExitCode, Failure};

use crate::args::{BenchArguments, Common, Metadata};

/// The workloads.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Many small objects: create, stat, read, delete on a constant working set (the workload of md-workbench)
    Metadata(Box<Metadata>),
}

impl Bench {
    /// What it is told besides its workload.
    pub const fn arguments(&self) -> &BenchArguments {
        match self {
            Self::Metadata(options) => &options.bench,
        }
    }
}

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(bench: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    match bench {
        Bench::Metadata(options) => metadata::run(options, common),
    }
}
