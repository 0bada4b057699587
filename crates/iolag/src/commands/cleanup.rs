//! `iolag cleanup`: removes what an interrupted run left on its target, by the run's manifest.

use iolag_keeper::Signals;
use iolag_model::PlaceIdentity;
use iolag_store::{KeeperIdentity, ManifestKind, boot_id};
use serde::{Deserialize, Serialize};

use super::{Located, is_absent};
use crate::args::{Cleanup, Common};
use crate::conduct::STORE_DEADLINE;
use crate::conduct::cleaning;
use crate::conduct::place::device_of;
use crate::conduct::scout::{Answer, ask};
use crate::conduct::supervision::Placed;
use crate::exit_code::{ExitCode, Failure};
use crate::output;

/// A working place in the manifest.
#[derive(Serialize, Deserialize)]
struct Entry {
    path: String,
    name: String,
    identity: Option<PlaceIdentity>,
}

/// Runs the command.
///
/// # Errors
/// If there is no such run, it is still running, or its target does not answer.
pub fn run(options: &Cleanup, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "cleanup")?;
    let located = Located::of(common)?;
    let signals = Signals::block().map_err(Failure::bug)?;
    let answer = ask("store", STORE_DEADLINE, || {
        entries(&located, &options.run).map_err(|failure| (failure.code as u8, failure.sentence))
    });
    let (run, entries) = match answer? {
        Answer::Given(Ok(found)) => found,
        Answer::Given(Err((code, sentence))) => {
            return Err(Failure { code: ExitCode::from_number(code), sentence });
        }
        Answer::None { age, .. } => {
            return Err(Failure::unusable(format!(
                "the store {} has not answered for {age}",
                located.root.display()
            )));
        }
    };
    let mut code = ExitCode::Fine;
    for entry in entries {
        let place = Placed { target: 0, path: entry.path, name: entry.name, identity: entry.identity };
        let where_ = place.whole_path();
        let is_gone = ask("scout", STORE_DEADLINE, || {
            place.directory().is_none_or(|directory| {
                // Looking for what is in it mounts what is mounted on demand.
                directory.join(&place.name).symlink_metadata().is_err_and(|error| is_absent(&error))
                    && !is_elsewhere(&place, directory.ancestors().find_map(device_of))
            })
        })?;
        if matches!(is_gone, Answer::Given(true)) {
            output::print(&format!("{where_} is not there: nothing to remove\n"));
            continue;
        }
        let left = cleaning::remove(&place, &run, STORE_DEADLINE, &mut || signals.next().is_some());
        if left.is_empty() {
            output::print(&format!("{where_} is removed\n"));
        } else {
            code = ExitCode::Incomplete;
            output::print(&(left.join("\n") + "\n"));
        }
    }
    Ok(code)
}

/// Whether another file system has the path now: then it says nothing that the working place is not there.
fn is_elsewhere(place: &Placed, device_now: Option<u64>) -> bool {
    let device = place.identity.and_then(|identity| identity.device);
    device.zip(device_now).is_some_and(|(then, now)| then != now)
}

/// The run's id, and the places in its manifest.
fn entries(located: &Located, name: &str) -> Result<(String, Vec<Entry>), Failure> {
    let (run, record) = super::show::open(located, name)?;
    if KeeperIdentity::of(&record).is_some_and(|keeper| keeper.is_alive()) {
        return Err(Failure::usage(format!("run {} is still running; end it first (Ctrl-C)", record.id)));
    }
    let owner = run.directory().status().map_err(Failure::unusable)?.st_uid;
    let user = rustix::process::geteuid().as_raw();
    if owner != user {
        return Err(Failure::unusable(format!(
            "run {} belongs to user {owner}, and you are user {user}: what its manifest says is not acted upon; let its owner clean up",
            record.id
        )));
    }
    // On another boot network file systems, btrfs and tmpfs have other device numbers.
    let is_same_boot = match (&record.environment.boot_id, boot_id()) {
        (Some(then), Some(now)) => *then == now,
        _ => true,
    };
    let manifest = run.manifest().map_err(Failure::unusable)?;
    let entries = manifest.entries.into_iter().filter(|entry| entry.kind == ManifestKind::WorkingDirectory);
    let entries = entries
        .map(|entry| Entry {
            path: entry.parent,
            name: entry.name,
            identity: entry
                .inode
                .map(|inode| PlaceIdentity { device: entry.device.filter(|_| is_same_boot), inode }),
        })
        .collect();
    Ok((record.id.to_string(), entries))
}
