//! What the user can type of stored runs.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use iolag_model::{Nanoseconds, parse_bytes, parse_count, parse_duration};
use iolag_store::BaselineName;

use crate::args::compare::{SideName, parse_side};
use crate::args::copies::{CopiesAsked, only_told};
use crate::args::history::{HistoryMethod, HistorySpan};
use crate::args::values::form::MetadataForm;
use crate::args::values::{parse_file, parse_form};

/// `iolag list`.
#[derive(Debug, Args)]
pub struct List {}

/// `iolag show`.
#[derive(Debug, Args)]
#[command(mut_arg("payload", only_told))]
pub struct Show {
    /// A run: its id, a part of it that no other has, `last`, or a path; `campaign:RUN` for what all runs of its campaign come to; or `history` for what was watched and
    /// imported
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// Form of what is printed: text, csv, json, or md-workbench (metadata runs)
    #[arg(long, value_name = "FORM", default_value = "text", value_parser = parse_form)]
    pub format: MetadataForm,
    /// Draw time line and ECDF on the terminal
    #[arg(long)]
    pub plot: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub asked: CopiesAsked,
    /// Of a check every row, and how often each takes long
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub method: HistoryMethod,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// `iolag report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Runs: ids, parts of ids that no other has, `last`, or paths, or `campaign:RUN` for all of a campaign; several are shown together; or `history` for what was watched
    /// [default: last]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// The file to write [default: iolag-report-RUN.html here]
    #[arg(short, long, value_name = "FILE", value_parser = parse_file)]
    pub output: Option<PathBuf>,
    /// The title [default: made from the runs]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Write the draft of an incident report instead, as Markdown
    #[arg(long, conflicts_with = "title")]
    pub incident: bool,
    /// Ask the desktop to show the file
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub method: HistoryMethod,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// `iolag rm`.
#[derive(Debug, Args)]
pub struct Rm {
    /// Runs: ids, parts of ids that no other has, `last`, or paths
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Remove also runs whose working directory is, or may be, left on a target (a file system that is gone for good): nobody
    /// can clean up after them then
    #[arg(long)]
    pub abandon_places: bool,
    /// Remove without asking; needed where nobody is at a terminal
    #[arg(long)]
    pub yes: bool,
}

/// `iolag prune`.
#[derive(Debug, Args)]
pub struct Prune {
    /// Keep at least the newest so many runs
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = parse_count)]
    pub keep_last: Option<u64>,
    /// Remove runs older than this
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true, value_parser = parse_duration)]
    pub older_than: Option<Nanoseconds>,
    /// Remove the oldest until the rest takes no more than this
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = parse_bytes)]
    pub max_size: Option<u64>,
    /// Really remove; without it only what would be removed is listed
    #[arg(long)]
    pub yes: bool,
}

/// `iolag cleanup`.
#[derive(Debug, Args)]
pub struct Cleanup {
    /// A run: its id, a part of it that no other has, `last`, or a path
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
}

/// `iolag baseline`.
#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Give runs a name under which others are compared with them; one that there is is replaced
    Set(BaselineSet),
    /// List the baselines
    List(BaselineList),
    /// Forget a baseline; its runs stay
    Remove(BaselineRemove),
}

/// `iolag baseline set`.
#[derive(Debug, Args)]
pub struct BaselineSet {
    /// Its name: 1 to 64 letters, digits, `-`, `.` and `_`, and nothing that may be a part of a run's id
    #[arg(value_name = "NAME")]
    pub name: BaselineName,
    /// Runs of this store: ids, parts of ids that no other has, `last`, or paths; `campaign:RUN` (all runs of its campaign),
    /// `campaign:RUN:TARGET` (or the name of a side), or `label:NAME=VALUE`
    #[arg(value_name = "RUN", required = true, value_parser = parse_side)]
    pub runs: Vec<SideName>,
}

/// `iolag baseline list`.
#[derive(Debug, Args)]
pub struct BaselineList {}

/// `iolag baseline remove`.
#[derive(Debug, Args)]
pub struct BaselineRemove {
    /// Its name
    #[arg(value_name = "NAME")]
    pub name: BaselineName,
}
