//! The benches: the table of them.

pub(super) mod campaign;
pub(super) mod conducting;
mod metadata;
mod set_up;
mod stream;
mod tree;

use clap::Subcommand;
use iolag_conduct::{ExitCode, Failure};

use crate::args::{BenchArguments, Common, Metadata, SetUp, Stream, Tree};

/// The workloads.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Many small objects: create, stat, read, delete on a constant working set (the workload of md-workbench)
    Metadata(Box<Metadata>),
    /// What a job asks of the file system when it sets itself up, by more and more copies at once
    Setup(Box<SetUp>),
    /// Large files: write, read and write over, block by block
    Stream(Box<Stream>),
    /// A tree of files that is there already, which is only read: attributes of all, and all of them read and summed
    Tree(Box<Tree>),
}

impl Bench {
    /// What it is told besides its workload.
    pub const fn arguments(&self) -> &BenchArguments {
        match self {
            Self::Metadata(options) => &options.bench,
            Self::Setup(options) => &options.bench,
            Self::Stream(options) => &options.bench,
            Self::Tree(options) => &options.bench,
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
        Bench::Setup(options) => set_up::run(options, common),
        Bench::Stream(options) => stream::run(options, common),
        Bench::Tree(options) => tree::run(options, common),
    }
}
