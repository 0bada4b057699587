//! Recovers what was measured by runs that their keeper did not close.

use iolag_model::{RunId, RunRecord, RunState, counted, format_bytes};

use super::rescue::RescuedRun;
use crate::directory::lock_file;
use crate::runs::encode::{Encoded, encode};
use crate::runs::liveness::KeeperIdentity;
use crate::runs::run_directory::RunDirectory;
use crate::runs::spool::spools;
use crate::runs::store::Store;
use crate::{Directory, StoreError};

/// A run that was looked at because its keeper is gone.
#[derive(Debug)]
pub struct Recovered {
    /// The run.
    pub id: RunId,
    /// What became of it.
    pub result: Result<Recovery, StoreError>,
}

/// What recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// The spool was encoded; run.json says so.
    Encoded {
        /// Samples that the run now has.
        samples: u64,
        /// What is missing, as in [`RunState::Recovered`].
        reason: String,
    },
    /// The run had ended well but its spool was still there; it was removed.
    SpoolRemoved,
    /// There was nothing to do.
    Nothing,
}

/// Recovers every run of the store whose keeper is gone. One that fails does not stop the others; one that another
/// command recovers at this moment is passed over.
///
/// # Errors
/// Only if the store itself cannot be read, or belongs to somebody else: what is in it is not acted upon then.
pub fn recover(
    store: &Store,
    is_alive: impl Fn(&KeeperIdentity) -> bool,
) -> Result<Vec<Recovered>, StoreError> {
    store.refuse_foreign()?;
    let mut recovered = Vec::new();
    for id in store.ids()? {
        recovered.extend(recover_one(store, &id, &is_alive));
    }
    Ok(recovered)
}

/// Recovers what the store and places of rescue have of one run, if its keeper is gone; what was done, or failed.
pub fn recover_one(store: &Store, id: &RunId, is_alive: impl Fn(&KeeperIdentity) -> bool) -> Vec<Recovered> {
    let mut recovered = Vec::new();
    if store.refuse_foreign().is_err() {
        return recovered;
    }
    let copies = store.rescued(id);
    // What a place of rescue has of the run may be all of it: a stump is not recovered as if it were the run.
    // Nor is what an unfinished rescue left behind, once another was completed.
    let has_closed = copies.iter().any(RescuedRun::is_closed);
    let is_stump = has_closed || store.doubt(id).is_some();
    let own = store.own_run(id).ok().filter(|_| !is_stump);
    let copies = copies.into_iter().filter(|copy| copy.is_closed() || !has_closed);
    for run in own.into_iter().chain(copies.map(|copy| copy.run)) {
        // A run that cannot be read is listed with what is wrong; recovery could do nothing for it.
        // What another user wrote is read, and nothing is done about it.
        if run.record().is_err() || run.refuse_stranger().is_err() {
            continue;
        }
        match recover_run(&run, &is_alive) {
            Ok(Recovery::Nothing) | Err(StoreError::Locked { .. }) => {}
            result => recovered.push(Recovered { id: id.clone(), result }),
        }
    }
    recovered
}

/// Recovers what one directory has of a run, unless its keeper is alive.
///
/// # Errors
/// [`StoreError::Locked`] if another command does so at this moment; else if the record cannot be read, or the spool
/// cannot be encoded: it is kept then.
pub fn recover_run(
    run: &RunDirectory,
    is_alive: impl Fn(&KeeperIdentity) -> bool,
) -> Result<Recovery, StoreError> {
    // The writer of a run that begins takes the lock: who only looks is not to be in its way.
    if KeeperIdentity::of(&run.record()?).is_some_and(|keeper| is_alive(&keeper)) {
        return Ok(Recovery::Nothing);
    }
    let _lock = run.lock()?;
    let mut record = run.record()?;
    match KeeperIdentity::of(&record) {
        Some(keeper) if is_alive(&keeper) => Ok(Recovery::Nothing),
        Some(_) => encode_rest(run, &mut record),
        None => remove_rest(run, &record),
    }
}

fn encode_rest(run: &RunDirectory, record: &mut RunRecord) -> Result<Recovery, StoreError> {
    let (samples, reason) = match run.open_spool(record)? {
        Some(spool) => {
            // A writer that outlived its keeper may still append: its lock says so.
            refuse_living_writers(&spool)?;
            let encoded = encode(&spool, run.directory(), record)?;
            let reason = what_is_missing(run, record, &encoded);
            record.parts = encoded.parts;
            (encoded.samples, reason)
        }
        None => (0, where_the_spool_was(run, record)),
    };
    // Fields that a newer minor added were not read and are not written: it must not look as if they were.
    record.format = record.spec.workload.run_format();
    record.state = RunState::Recovered { reason: reason.clone() };
    run.write_record(record)?;
    run.remove_spool()?;
    Ok(Recovery::Encoded { samples, reason })
}

fn remove_rest(run: &RunDirectory, record: &RunRecord) -> Result<Recovery, StoreError> {
    let inside = run.open_spool(record)?.is_some();
    // Also one elsewhere, of which only the manifest knows; without one this looks at nothing.
    run.remove_spool()?;
    Ok(if inside { Recovery::SpoolRemoved } else { Recovery::Nothing })
}

fn refuse_living_writers(spool: &Directory) -> Result<(), StoreError> {
    for number in spools(spool)? {
        let name = number.file_name();
        lock_file(&spool.open_file(&name)?, &spool.path().join(&name))?;
    }
    Ok(())
}

/// How the run ended, as far as that is known: whoever was killed, or had no room for a last word, says nothing.
fn ending(run: &RunDirectory, record: &RunRecord) -> String {
    if let Some(rescue) = &record.rescue {
        if run.path().starts_with(&rescue.place) {
            return "iolag ended while it rescued the run".to_owned();
        }
        let (cause, place, host) = (&rescue.cause, &rescue.place, &record.environment.host);
        return format!("{cause}; the run was rescued to {place} on {host}, and is not there any more");
    }
    match KeeperIdentity::of(record) {
        Some(keeper) if keeper.boot_id.is_some() && !keeper.is_of_this_boot() => {
            "iolag ended without closing the run, and the machine was restarted since".to_owned()
        }
        _ => "iolag ended without closing the run".to_owned(),
    }
}

fn what_is_missing(run: &RunDirectory, record: &RunRecord, encoded: &Encoded) -> String {
    let what = match &record.rescue {
        Some(_) => "what the store had not taken is lost",
        None => "what clients had in flight then is missing",
    };
    let mut missing = vec![ending(run, record), what.to_owned()];
    for (number, bytes) in &encoded.dropped {
        missing.push(format!("{} of spool {} were torn and dropped", format_bytes(*bytes), number.0));
    }
    if encoded.still_hung > 0 {
        missing.push(format!("{} still hung", counted(encoded.still_hung, "attempt was", "attempts were")));
    }
    missing.join("; ")
}

fn where_the_spool_was(run: &RunDirectory, record: &RunRecord) -> String {
    match &record.state {
        _ if record.spec.workload.trace().is_some() => {
            format!("{}; its trace goes as far as it had been written", ending(run, record))
        }
        RunState::Running { spool: Some(path), .. } => {
            format!("{}; its spool {path} is gone: its samples are lost", ending(run, record))
        }
        _ => format!("{}; the store has none of its samples", ending(run, record)),
    }
}
