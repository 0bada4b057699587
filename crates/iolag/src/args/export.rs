//! What the user can type of exports.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::history::HistorySpan;

/// `iolag export`.
#[derive(Debug, Args)]
pub struct Export {
    /// A run: its id, a part of it that no other has, `last`, or a path; the file of a trace; or `history`, whose records another history imports
    #[arg(value_name = "RUN", default_value = "last")]
    pub run: String,
    /// csv and json write one stream, parquet and md-workbench a directory, of the history and of a trace parquet a file, strace (of a trace) the
    /// text that strace writes [default: csv; of the history json, the only form that can be imported again]
    #[arg(long, value_name = "FORM")]
    pub format: Option<ExportForm>,
    /// File (csv, json, strace, parquet of the history or of a trace) or directory (parquet, md-workbench); a file may be - for standard output
    #[arg(short, long, value_name = "PATH", default_value = "-")]
    pub output: PathBuf,
    #[command(flatten)]
    #[expect(missing_docs, reason = "flattened options document themselves")]
    pub span: HistorySpan,
}

/// Forms of exported samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportForm {
    /// One line per sample.
    Csv,
    /// One JSON object per line and sample; of the history everything, to be imported again.
    Json,
    /// The run's Parquet files; of the history one.
    Parquet,
    /// The latency files of md-workbench.
    MdWorkbench,
    /// Of a trace what strace would have written, with -f -y and times in nanoseconds.
    Strace,
}
