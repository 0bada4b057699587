//! What the user can type of a check, and of an explanation.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use iolag_backend::Target;
use iolag_model::{Nanoseconds, parse_bytes};

use crate::args::options::RunOptions;
use crate::args::values::target::{DirectoryParser, PlaceParser};
use crate::args::values::{parse_budget, parse_file, parse_period};

/// `iolag check`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  iolag check\n  iolag check /scratch s3://bucket/prefix davs://server/share postgres://me@server/database"
)]
pub struct Check {
    /// Directories and servers to measure, beside each other: s3://…, dav(s)://…, postgres://… [default: home, temporary and current
    /// directory, one per file system]
    #[arg(value_name = "DIR|URL", value_parser = PlaceParser)]
    pub targets: Vec<Target>,
    /// Time for everything: all targets, setting up, cleaning up
    #[arg(long, value_name = "DURATION", default_value = "45s", allow_hyphen_values = true, value_parser = parse_budget)]
    pub budget: Nanoseconds,
    /// After this long without an answer a target counts as not answering
    #[arg(long, value_name = "DURATION", default_value = "15s", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Nanoseconds,
    /// Tell every row, and how often each takes long
    #[arg(long)]
    pub full: bool,
    /// Explain the result in this HTML file
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub report: Option<PathBuf>,
    /// Trust servers for which an authority in this file vouches (PEM), and no others
    #[arg(long, value_name = "FILE", value_parser = parse_file)]
    pub ca_file: Option<PathBuf>,
    /// Show the share of attempts that took longer than these (with --full)
    #[arg(long, value_name = "DURATION,…", default_value = "100ms,1s,10s,60s", value_delimiter = ',', allow_hyphen_values = true, value_parser = parse_period)]
    pub thresholds: Vec<Nanoseconds>,
    /// Size of the short stream in directories
    #[arg(long, value_name = "SIZE", default_value = "2MiB", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub stream_size: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub run: RunOptions,
}

/// `iolag explain`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  iolag explain /home\n  iolag explain -- python3 -c 'import numpy'")]
pub struct Explain {
    /// Directory to look at; nothing is written there
    #[arg(value_name = "DIR", value_parser = DirectoryParser)]
    pub directory: Option<PathBuf>,
    /// The command to run and to look at, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<OsString>,
    /// After this long without an answer a directory hangs (15s), or a command that goes on is ended (never)
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_period)]
    pub deadline: Option<Nanoseconds>,
}
