//! What the user can type of traces.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::values::{parse_file, parse_label};

/// `iolag trace`.
#[derive(Debug, Args)]
#[command(
    override_usage = "iolag trace [OPTIONS] -- COMMAND…\n       iolag trace [OPTIONS] --attach PID\n       iolag trace [OPTIONS] --from FILE…",
    after_help = "A command keeps terminal, directory, environment and signals. Of what it reads, writes and is given nothing is kept: only\n\
                  which files it asks for, how long that takes, and what comes of it.\n\n\
                  Examples:\n  iolag trace -- python3 -c 'import numpy'\n  iolag trace -o build.iolag -- make -j4\n  \
                  iolag trace --attach 4711\n  iolag trace --from strace.out"
)]
pub struct Trace {
    /// The command, with its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<OsString>,
    /// Trace a process that is there, until Ctrl-C or its end; it goes on
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pub attach: Option<u32>,
    /// Read what strace wrote (with any of -f, -t, -tt, -ttt, -r, -T, -y; the files of -ff together), or a trace that iolag wrote; - for standard input
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["command", "attach", "with"])]
    pub from: Vec<PathBuf>,
    /// Trace calls on the network, too
    #[arg(long, value_name = "WHAT")]
    pub with: Option<TracedToo>,
    /// Write the trace to this file instead of keeping it as a run
    #[arg(short, long, value_name = "FILE", value_parser = parse_file)]
    pub output: Option<PathBuf>,
    /// Replace each name in paths by another of the same length (with --from)
    #[arg(long)]
    pub anonymise: bool,
    /// Attach a label to the run
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label, conflicts_with = "output")]
    pub labels: Vec<(String, String)>,
}

/// What can be traced besides files and processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TracedToo {
    /// Calls on sockets.
    Network,
}
