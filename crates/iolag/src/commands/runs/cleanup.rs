//! `iolag cleanup`: removes what an interrupted run left on its target, by the run's manifest.

use std::time::Duration;

use iolag_backend::BackendError;
use iolag_conduct::{Answer, ExitCode, Failure, STORE_DEADLINE, ask, remove_place};
use iolag_keeper::Signals;
use iolag_model::{Clock, MonotonicClock, Nanoseconds};
use iolag_store::{DirectoryLock, KeeperIdentity, RunDirectory, Store, StoreError};

use crate::args::{Cleanup, Common};
use crate::commands::runs::left_places::{self, Found, LeftPlace};
use crate::commands::{Located, refuse_running};
use crate::output;

/// How long the processes of a killed run may take to end.
const PATIENCE: Nanoseconds = Nanoseconds::from_seconds(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs the command.
///
/// # Errors
/// If there is no such run, it is still running, or its target does not answer.
pub fn run(options: &Cleanup, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "cleanup")?;
    let located = Located::of(common)?;
    let signals = Signals::block()?;
    let (run, places) = output::ask_store(&located.root, || places(&located, &options.run))?;
    let mut code = ExitCode::Fine;
    if places.is_empty() {
        code = output::print(&format!("run {run} has left nothing on its targets: nothing to remove\n"));
    }
    let mut removed = Vec::new();
    for left_place in places {
        let place = left_place.placed();
        let where_ = place.whole_path();
        let left = match ask("scout", STORE_DEADLINE, || left_place.look())? {
            Answer::Given(Found::Nothing) => {
                code = code.max(output::print(&format!("{where_} is not there: nothing to remove\n")));
                continue;
            }
            Answer::Given(Found::Gone) => {
                let mark = left_place.mark();
                code = code.max(output::print(&format!(
                    "{where_} is not there any more, where run {run} made it: if nobody removed it, it was moved; look on that file system \
                     for {mark}, and move it back to clean up, or remove it\n"
                )));
                continue;
            }
            Answer::Given(Found::Another(owner)) => {
                let sentence = match owner {
                    Some(owner) => {
                        format!("{where_} is that of run {owner}: nothing to remove of run {run}\n")
                    }
                    None => format!("{where_} is not what run {run} made: nothing to remove\n"),
                };
                code = code.max(output::print(&sentence));
                continue;
            }
            Answer::Given(Found::Elsewhere) => {
                vec![format!("{} {run}", BackendError::Unmounted { path: where_.clone() })]
            }
            _ => remove_place((&place, None), &run, STORE_DEADLINE, &mut || signals.next().is_some()),
        };
        if left.is_empty() {
            code = code.max(output::print(&format!("{where_} is removed\n")));
            removed.push(left_place);
        } else {
            code = ExitCode::Incomplete;
            let _ = output::print(&(left.join("\n") + "\n"));
        }
    }
    if !removed.is_empty() {
        // `last` may be another one by now.
        let name = if options.run.contains('/') { &options.run } else { &run };
        output::ask_store(&located.root, || forget(&located, name, &removed))?;
    }
    Ok(code)
}

/// The run's id, and the places in its manifest.
fn places(located: &Located, name: &str) -> Result<(String, Vec<LeftPlace>), Failure> {
    let (run, record) = crate::commands::runs::opening::open(located, name)?;
    refuse_running(&record)?;
    let places = left_places::of(&run, Some(&record)).map_err(Failure::unusable)?;
    // A path may lead into another store.
    let of_path = located.find(name).ok().and_then(|(store, _)| store);
    for store in located.open().ok().into_iter().chain(of_path) {
        refuse_living(&store, &places)?;
    }
    Ok((record.id.to_string(), places))
}

/// Refuses places in which another run of the store is at work: one may go on with the working set of another.
fn refuse_living(store: &Store, places: &[LeftPlace]) -> Result<(), Failure> {
    for listed in store.list().map_err(Failure::unusable)? {
        let Ok(record) = &listed.record else { continue };
        if !KeeperIdentity::of(record).is_some_and(|keeper| keeper.is_alive()) {
            continue;
        }
        let entries =
            store.run(&listed.id).and_then(|run| run.manifest()).map_err(Failure::unusable)?.entries;
        if let Some(entry) = entries.iter().find(|entry| places.iter().any(|place| place.is_named_by(entry)))
        {
            let (id, place) = (&listed.id, format!("{}/{}", entry.parent.trim_end_matches('/'), entry.name));
            return Err(Failure::usage(format!("run {id} is at work in {place}; end it first (Ctrl-C)")));
        }
    }
    Ok(())
}

/// What is left of the processes of a run that was just killed holds its lock until it has ended.
fn lock_when_free(run: &RunDirectory) -> Result<DirectoryLock, StoreError> {
    let until = MonotonicClock.now().after(PATIENCE);
    loop {
        match run.lock() {
            Err(StoreError::Locked { .. }) if MonotonicClock.now() < until => std::thread::sleep(LOOK_EVERY),
            locked => return locked,
        }
    }
}

/// Notes what is removed: once its file system is unmounted, nobody could see that it is.
fn forget(located: &Located, name: &str, removed: &[LeftPlace]) -> Result<(), Failure> {
    let (_, run) = located.find(name)?;
    let _lock = lock_when_free(&run).map_err(Failure::unusable)?;
    let mut manifest = run.manifest().map_err(Failure::unusable)?;
    manifest.entries.retain(|entry| !removed.iter().any(|place| place.is_named_by(entry)));
    run.write_manifest(&manifest).map_err(Failure::unusable)
}
