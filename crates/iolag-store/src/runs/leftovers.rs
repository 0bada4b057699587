//! Takes away what killed processes left in a store besides runs.
//!
//! Invariant: nothing goes that anybody may still need. An empty directory of a run is removed at any moment, since whoever
//! had just made it makes it again ([`Store::create_run`]). A file that shows whether the store takes bytes has process and
//! boot in its name; of another host or an older iolag, and where a record was not even begun, a day settles it.

use std::time::{Duration, SystemTime};

use super::liveness::KeeperIdentity;
use super::run_directory::{RECORD_FILE, was_never_begun};
use super::store::probe_name;
use crate::{Directory, Store, StoreError};

/// Nobody writes a first record, or shows that a store takes bytes, for so long.
const LONG_AGO: Duration = Duration::from_secs(24 * 60 * 60);

impl Store {
    /// Removes what killed processes left. What cannot be removed stays for the next command.
    ///
    /// # Errors
    /// If the store cannot be listed, or belongs to somebody else.
    pub fn tidy(&self) -> Result<(), StoreError> {
        self.refuse_foreign()?;
        for name in self.runs().names()? {
            if is_leftover_probe(self.runs(), &name) {
                let _ = self.runs().remove_file(&name);
            }
        }
        self.tidy_baselines();
        for id in self.own_ids()? {
            let Ok(run) = self.own_run(&id) else { continue };
            if !run.directory().look_at(RECORD_FILE).is_err_and(|error| error.is_missing()) {
                continue;
            }
            // A directory that is not empty refuses.
            let is_gone = self.runs().remove_directory(id.as_str()).is_ok();
            if !is_gone
                && was_never_begun(run.directory())
                && is_forgotten(run.directory())
                && run.lock().is_ok()
            {
                for name in run.directory().names()? {
                    run.directory().remove_file(&name)?;
                }
                self.runs().remove_directory(id.as_str())?;
            }
        }
        for place in &self.places {
            place.tidy()?;
            place.remove_if_empty();
        }
        Ok(())
    }
}

fn is_leftover_probe(runs: &Directory, name: &str) -> bool {
    let Some(rest) = name.strip_suffix(".new").unwrap_or(name).strip_prefix("probe-") else { return false };
    let Ok(pid) = rest.split('-').next().unwrap_or_default().parse::<u32>() else { return false };
    let is_of_this_boot = name.strip_suffix(".new").unwrap_or(name) == probe_name(pid);
    // One that was killed, and that nobody has taken note of, still has its directory in /proc.
    let is_alive = || KeeperIdentity::of_process(pid).is_some_and(|process| process.is_alive());
    let is_dead = is_of_this_boot && !is_alive();
    is_dead || is_old(runs, name)
}

/// Whether nobody has touched its files for long.
fn is_forgotten(directory: &Directory) -> bool {
    directory.names().is_ok_and(|names| names.iter().all(|name| is_old(directory, name)))
}

pub(super) fn is_old(directory: &Directory, name: &str) -> bool {
    let modified = directory.open_file(name).and_then(|file| {
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        modified.map_err(|error| StoreError::system("look at", directory.path().join(name), error))
    });
    modified.is_ok_and(|modified| SystemTime::now().duration_since(modified).is_ok_and(|age| age > LONG_AGO))
}
