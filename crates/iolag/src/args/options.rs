//! What many commands take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::values::{parse_document, parse_label, parse_readable};

/// Options of all commands.
#[derive(Debug, Args)]
pub struct Common {
    /// Where runs are kept [default: $IOLAG_STORE, else ~/.local/share/iolag]
    #[arg(long, global = true, value_name = "DIR", value_parser = parse_readable, help_heading = "Common options")]
    pub store: Option<PathBuf>,
    /// Write the result as JSON to this file; - prints it instead of the tables
    #[arg(long, global = true, value_name = "FILE", value_parser = parse_document, help_heading = "Common options")]
    pub json: Option<PathBuf>,
    /// No progress and no notices
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// When to colour: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Common options"
    )]
    pub colour: ColourWhen,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColourWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Even into a file.
    Always,
    /// Not at all.
    Never,
}

/// Options of every command that measures.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// Attach a label to the run
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
    pub labels: Vec<(String, String)>,
    /// Seed of everything random
    #[arg(long, value_name = "NUMBER", default_value_t = 1, allow_hyphen_values = true)]
    pub seed: u64,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub launch: Launch,
}

/// How a command that measures may be started.
#[derive(Debug, Args)]
pub struct Launch {
    /// Measure although a launcher (mpirun, srun) started several copies: no other copy measures
    #[arg(long)]
    pub alone: bool,
}
