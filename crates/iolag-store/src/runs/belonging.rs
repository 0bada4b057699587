//! What is a part of a store, for those who are about to write a file.

use std::path::Path;

use iolag_model::RunId;

use super::baseline::BASELINES_DIRECTORY;
use super::run_directory::{MANIFEST_FILE, RECORD_FILE};
use super::store::RUNS_DIRECTORY;

/// Whether a file of this name is, or would be, a part of a store: in a run's directory, or among its baselines. To be called in a child.
pub fn is_of_store(file: &Path) -> bool {
    let Some(directory) = file.parent().and_then(|parent| parent.canonicalize().ok()) else { return false };
    let is_run = |directory: &Path| {
        let name = directory.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.parse::<RunId>().is_ok())
            && [RECORD_FILE, MANIFEST_FILE].iter().any(|own| directory.join(own).exists())
    };
    let is_beside_runs =
        || directory.ends_with(BASELINES_DIRECTORY) && directory.with_file_name(RUNS_DIRECTORY).is_dir();
    directory.ancestors().any(is_run) || is_beside_runs()
}
