//! The commands. Each decides what the options mean together, and says so in one sentence if that is nothing.

pub mod bench_metadata;
mod campaign;
pub mod check;
pub mod cleanup;
pub mod export;
pub mod history;
pub mod import;
mod incident_history;
pub mod list;
pub mod moment;
pub mod note;
pub mod pictures;
pub mod ping;
pub mod plot;
pub mod prune;
pub mod report;
mod report_history;
pub mod serve;
pub mod show;
mod start;
pub mod watch;

use std::path::Path;

use iolag_store::Store;

use crate::args::RunOptions;
use crate::exit_code::Failure;

/// A store that is there: looking makes none.
///
/// # Errors
/// If there is none, or it cannot be used.
fn open_store(root: &Path) -> Result<Store, Failure> {
    if let Err(error) = root.metadata()
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        return Err(Failure::unusable(format!(
            "the store {} may not be looked at: {error}; name another with --store, or ask its owner",
            root.display()
        )));
    }
    if !root.is_dir() {
        return Err(Failure::unusable(format!(
            "there is no store in {}: name another with --store, or make a run with: iolag check",
            root.display()
        )));
    }
    Store::open(root).map_err(Failure::unusable)
}

/// The labels of a run.
///
/// # Errors
/// If a name appears twice: one of the values would be lost.
fn labels(options: &RunOptions) -> Result<Vec<(String, String)>, Failure> {
    for (index, (name, _)) in options.labels.iter().enumerate() {
        if options.labels[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(Failure::usage(format!(
                "--label {name} is given twice: a run has one value per name"
            )));
        }
    }
    Ok(options.labels.clone())
}
