//! Stored runs, found by what the user calls them and brought into their final form.

use iolag_conduct::Failure;
use iolag_model::RunRecord;
use iolag_store::{KeeperIdentity, RunDirectory, recover_one, recover_run};

use crate::commands::Located;

/// Finds a run, in its final form.
///
/// # Errors
/// If there is none, more than one, or it cannot be read.
pub fn open(located: &Located, name: &str) -> Result<(RunDirectory, RunRecord), Failure> {
    let (store, mut run) = located.find(name)?;
    // A run that was not closed is brought into its final form; one that is being written is shown as far as it goes. The
    // store that the user means is in order; a path may lead into another one.
    match store {
        Some(store) => {
            recover_one(&store, run.id(), KeeperIdentity::is_alive);
            run = store.run(run.id()).map_err(Failure::unusable)?;
        }
        None => drop(recover_run(&run, KeeperIdentity::is_alive)),
    }
    let record = run.record().map_err(Failure::unusable)?;
    Ok((run, record))
}

/// Finds a run that has samples, in its final form.
///
/// # Errors
/// If there is none, more than one, it cannot be read, or it is a trace: then nothing was measured of which there is a `what`.
pub fn open_measured(
    located: &Located,
    name: &str,
    what: &str,
) -> Result<(RunDirectory, RunRecord), Failure> {
    let (run, record) = open(located, name)?;
    match record.spec.workload.trace() {
        None => Ok((run, record)),
        Some(_) => Err(Failure::usage(format!(
            "run {0} is a trace, of which there is no {what}: iolag show {0} tells what was asked, and iolag export {0} writes the calls",
            record.id
        ))),
    }
}
