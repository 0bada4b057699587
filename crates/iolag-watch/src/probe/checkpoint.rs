//! What a watch keeps in its runtime directory for the next one: the probes that have not ended, and the outages.
//!
//! Written whenever one of them begins or ends, as a whole. What another boot has written tells of processes that are gone.
//!
//! | left by the last watch of this boot | the next one |
//! |---|---|
//! | a probe of which a process lives | goes on with it, as if it had started it |
//! | the same within its deadline, killed with its watch and not gone yet | lets it block its mount; if it goes in time, records nothing |
//! | one that has ended and stamped so | records its true end |
//! | one that was hung and is gone without a stamp | leaves it hung, with the last age that is known; its outage lasts until the mount is seen to answer |
//! | one within its deadline, gone without a stamp | records nothing: it was killed together with its watch |
//!
//! What another boot has left is gone: what hung stays hung, and outages ended with that boot. The runtime directory mostly went with
//! it, so the outages that the history takes for open are looked at too:
//!
//! | open in the history, unknown to the runtime directory | |
//! |---|---|
//! | begun before this boot | ended when this boot began |
//! | begun in this boot, on a mount that is watched (the runtime directory was lost, as at a logout) | goes on until the mount is seen to answer |
//! | begun in this boot, on another mount | is somebody else's to end |

use std::path::Path;

use iolag_model::{MonotonicTime, ProbeId};
use serde::{Deserialize, Serialize};

use crate::memory::status_file::{boot_id, is_that_process};
use crate::probe::process::ProcessIdentity;
use crate::probe::purpose::Purpose;
use crate::probe::samples::ProbeDescription;
use crate::{Deadlines, MountKey, OpenOutage, RuntimeDirectory, RuntimeError};

const NAME: &str = "flights.json";
const VERSION: u32 = 1;
const BYTES_MAX: u64 = 16 << 20;

/// The contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    pub version: u32,
    /// The boot whose processes and monotonic clock are meant.
    pub boot_id: String,
    /// No probe of any watch so far has this name or a later one.
    pub next_probe: ProbeId,
    /// Probes that have not ended.
    pub flights: Vec<FlightCheckpoint>,
    /// Outages that have not ended.
    pub outages: Vec<OpenOutage>,
}

/// A probe that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FlightCheckpoint {
    pub description: ProbeDescription,
    /// Its processes, the child first.
    pub processes: Vec<ProcessIdentity>,
    pub mount: MountKey,
    pub mount_name: String,
    /// What it was started for.
    #[serde(default)]
    pub purpose: Purpose,
    pub deadlines: Deadlines,
    /// When it was first sent a signal.
    pub terminated: Option<MonotonicTime>,
    /// Until when it is known to have been there after its deadline; absent before.
    pub hung_seen: Option<MonotonicTime>,
}

impl Checkpoint {
    /// What the last watch left, if anything. A file that cannot be understood is nobody's: the watch starts afresh.
    pub fn read(directory: &RuntimeDirectory) -> Option<Self> {
        let text = directory.read_file(NAME, BYTES_MAX).ok()??;
        serde_json::from_slice(&text).ok().filter(|kept: &Self| kept.version == VERSION)
    }

    /// Keeps this.
    pub fn write(mut self, directory: &RuntimeDirectory) -> Result<(), RuntimeError> {
        self.version = VERSION;
        let text = serde_json::to_vec(&self).unwrap_or_default();
        directory.replace_file(NAME, &text)
    }
}

/// Which of the probes that a watch left behind have not ended: those of which a process is still there. For who looks at a watch that is gone;
/// one that runs says so itself.
///
/// # Errors
/// If the directory is no safe place.
pub fn probes_left(path: &Path) -> Result<Vec<ProbeId>, RuntimeError> {
    let proc = Path::new("/proc");
    let Some(directory) = RuntimeDirectory::open_read_only(path)? else { return Ok(Vec::new()) };
    let kept = Checkpoint::read(&directory).filter(|kept| boot_id(proc).as_ref() == Some(&kept.boot_id));
    let flights = kept.map(|kept| kept.flights).unwrap_or_default();
    let is_there = |process: &ProcessIdentity| is_that_process(proc, process.id, process.start_ticks);
    let left = flights.iter().filter(|flight| flight.processes.iter().any(is_there));
    Ok(left.map(|flight| flight.description.probe).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_damaged_file_is_nobodys(damage in prop::collection::vec((0_usize..200, any::<u8>()), 1..5)) {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("watch");
            let directory = RuntimeDirectory::open_on(&path, crate::Backing::Anything).unwrap();
            let kept = Checkpoint { boot_id: "one".into(), next_probe: ProbeId(5), ..Checkpoint::default() };
            kept.clone().write(&directory).unwrap();
            prop_assert_eq!(Checkpoint::read(&directory), Some(Checkpoint { version: VERSION, ..kept }));
            let mut bytes = directory.read_file(NAME, BYTES_MAX).unwrap().unwrap();
            for (at, byte) in damage {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            directory.replace_file(NAME, &bytes).unwrap();
            // Whatever it says, it is read or it is not.
            let _ = Checkpoint::read(&directory);
            directory.replace_file(NAME, &bytes[..bytes.len() / 2]).unwrap();
            prop_assert_eq!(Checkpoint::read(&directory), None);
        }
    }
}
