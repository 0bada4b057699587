//! Working directories that stored runs may have left on targets: what `cleanup`, `rm` and `prune` know of them. Without its
//! manifest nobody could clean up after a run.
//!
//! Limits: device numbers tell file systems apart within one boot only. After another one a file system counts as mounted if any
//! is mounted where it was; and what lies on a disk of another host cannot be told from what is gone.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

use iolag_backend::{BackendError, PosixBackend, Target, token_name};
use iolag_conduct::{Answer, Failure, Placed, STORE_DEADLINE, ask_all, device_of};
use iolag_model::{MonotonicClock, PlaceIdentity, PlaceToken, RunId, RunRecord};
use iolag_store::{ManifestEntry, ManifestKind, RunDirectory, StoreError, boot_id};
use serde::{Deserialize, Serialize};

use crate::commands::is_absent;
use iolag_conduct::environment::file_system::identify;

/// A working directory in a run's manifest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeftPlace {
    directory: String,
    name: String,
    /// Absent if the run did not note that it made it.
    identity: Option<PlaceIdentity>,
    /// What is left in it; absent in runs of older versions.
    token: Option<PlaceToken>,
    /// The number of its file system; absent if it has none, or was seen on another boot.
    file_system: Option<u64>,
    mounted: Mounted,
}

/// Where the file system of a place was mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Mounted {
    At(String),
    /// The record does not say.
    Unnoted,
    /// The record that says so cannot be read.
    Unreadable,
}

/// What is found at the path of a place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Found {
    /// Nothing, and the run did not note that it made it.
    Nothing,
    /// Nothing, where the run made it: somebody removed it, or moved it or a directory that it is in.
    Gone,
    /// What the run did not make, and perhaps who did.
    Another(Option<RunId>),
    /// What the run made.
    Itself,
    /// Something, and the run did not note what it made.
    Unnoted,
    /// Another file system: then it says nothing that the place is not there.
    Elsewhere,
    /// The system refuses to say.
    Unknown(String),
}

/// Why a run is needed for cleaning up.
pub struct Need {
    /// The working directory, and what is known of it, as a relative clause.
    pub clause: String,
    /// What to do.
    pub advice: String,
}

/// The working directories in the manifest of a run.
///
/// # Errors
/// If the manifest cannot be read.
pub fn of(run: &RunDirectory, record: Option<&RunRecord>) -> Result<Vec<LeftPlace>, StoreError> {
    let is_of_this_boot = record.is_some_and(|record| {
        let boots = record.environment.boot_id.clone().zip(boot_id());
        boots.is_none_or(|(then, now)| then == now)
    });
    let place = |entry: ManifestEntry| {
        let device = entry.device.filter(|_| is_of_this_boot);
        let mut place = LeftPlace {
            identity: entry.inode.map(|inode| PlaceIdentity { device, inode }),
            token: entry.token,
            file_system: entry.file_system.filter(|_| is_of_this_boot),
            directory: entry.parent,
            name: entry.name,
            mounted: Mounted::Unreadable,
        };
        if let Some(record) = record {
            place.mounted = mount_point(record, &place.path()).map_or(Mounted::Unnoted, Mounted::At);
        }
        place
    };
    let is_on_target = |entry: &ManifestEntry| {
        entry.kind == ManifestKind::WorkingDirectory
            && (entry.parent.starts_with('/')
                || Target::parse(&entry.parent).map_or(true, |target| target.is_server()))
    };
    Ok(run.manifest()?.entries.into_iter().filter(is_on_target).map(place).collect())
}

/// Where the file system of a working directory was mounted.
fn mount_point(record: &RunRecord, path: &str) -> Option<String> {
    let target = record.targets.iter().find(|target| target.working_place.as_deref() == Some(path))?;
    let file_system = target.file_system.as_ref()?;
    Some(file_system.mount_point.clone()).filter(|mount_point| !mount_point.is_empty())
}

impl LeftPlace {
    /// As clean-up takes it.
    pub fn placed(&self) -> Placed {
        Placed {
            target: 0,
            path: self.directory.clone(),
            name: self.name.clone(),
            identity: self.identity,
            token: self.token,
            file_system: self.file_system,
        }
    }

    /// Whether this entry of the manifest names it.
    pub fn is_named_by(&self, entry: &ManifestEntry) -> bool {
        entry.parent == self.directory && entry.name == self.name
    }

    /// What whoever looks for it has to look for, as in `a directory that holds .iolag-…`.
    pub fn mark(&self) -> String {
        match (self.token, self.identity) {
            (Some(token), _) => format!("a directory that holds {}", token_name(token)),
            (None, Some(identity)) => format!("the directory with inode {}", identity.inode),
            (None, None) => "a directory of that name".to_owned(),
        }
    }

    /// Looks at it; to be called in a process that may hang.
    pub fn look(&self) -> Found {
        if !self.directory.starts_with('/') {
            // What nobody understands any more may still be there.
            return Target::parse(&self.directory)
                .map_or_else(|error| Found::Unknown(error.to_string()), |server| self.look_at(&server));
        }
        // Looking for what is in it mounts what is mounted on demand.
        let there = match Path::new(&self.directory).join(&self.name).symlink_metadata() {
            Ok(there) => Some(PlaceIdentity { device: Some(there.dev()), inode: there.ino() }),
            Err(error) if is_absent(&error) => None,
            Err(error) => return Found::Unknown(error.to_string()),
        };
        if let (Some(token), Some(there)) = (self.token, there) {
            return self.look_for(token, there);
        }
        match (self.identity, there) {
            (None, Some(_)) => Found::Unnoted,
            (Some(identity), Some(there)) if identity.admits(there) => Found::Itself,
            (Some(_), _) if self.mounted == Mounted::Unreadable => Found::Unknown(
                "the run's record cannot be read, which says where its file system was mounted".into(),
            ),
            _ if self.is_elsewhere() => Found::Elsewhere,
            (_, Some(_)) => Found::Another(owner_of(&self.directory, &self.name)),
            (Some(_), None) => Found::Gone,
            (None, None) => Found::Nothing,
        }
    }

    /// What is on a server; who removes it looks again.
    fn look_at(&self, server: &Target) -> Found {
        let found = server.backend(&self.name, Arc::new(MonotonicClock)).and_then(|backend| {
            backend.expect_place(&self.placed().expected());
            if !backend.has_place()? {
                return Ok(Found::Nothing);
            }
            // A place without objects is one, too.
            backend.reopen_place().map(|_| Found::Itself)
        });
        match found {
            Ok(found) => found,
            Err(BackendError::NoWorkingSet { .. }) => Found::Itself,
            Err(BackendError::Claimed { run, .. }) => Found::Another(Some(run)),
            Err(BackendError::NotEmpty { .. }) => Found::Another(None),
            Err(error) => Found::Unknown(error.to_string()),
        }
    }

    /// What has the name of the place, which is there.
    fn look_for(&self, token: PlaceToken, there: PlaceIdentity) -> Found {
        let working = Path::new(&self.directory).join(&self.name);
        match working.join(token_name(token)).symlink_metadata() {
            Ok(_) => Found::Itself,
            Err(error) if !is_absent(&error) => Found::Unknown(error.to_string()),
            Err(_) if self.is_elsewhere() => Found::Elsewhere,
            // Its maker was killed before it could leave the token there, or its remover after it had taken it away.
            Err(_) if is_empty(&working) && self.identity.is_none_or(|noted| noted.admits(there)) => {
                Found::Itself
            }
            Err(_) => Found::Another(owner_of(&self.directory, &self.name)),
        }
    }

    /// Whether another file system has the path now, or another part of the same one.
    fn is_elsewhere(&self) -> bool {
        let ancestors = || Path::new(&self.directory).ancestors();
        let device = self.identity.and_then(|identity| identity.device);
        if device.zip(ancestors().find_map(device_of)).is_some_and(|(then, now)| then != now) {
            return true;
        }
        let number = |directory: &Path| rustix::fs::statvfs(directory).ok().map(|found| found.f_fsid);
        if self.file_system.zip(ancestors().find_map(number)).is_some_and(|(then, now)| then != now) {
            return true;
        }
        let Mounted::At(then) = &self.mounted else { return false };
        ancestors().find(|directory| directory.is_dir()).is_some_and(|directory| {
            let now = identify(directory, Path::new("/proc"), Path::new("/sys")).mount_point;
            !now.is_empty() && now != *then
        })
    }

    fn path(&self) -> String {
        self.placed().whole_path()
    }

    fn need(&self, run: &str, answer: &Answer<Found>) -> Option<Need> {
        let mut advice = format!("remove it first with iolag cleanup {run}");
        let what = match answer {
            Answer::Given(Found::Nothing | Found::Gone | Found::Another(_)) => return None,
            Answer::Given(Found::Itself) => "is still there".to_owned(),
            Answer::Given(Found::Unnoted) => {
                "may be what is there: the run did not note that it made it".to_owned()
            }
            Answer::Given(Found::Elsewhere) => {
                advice = format!("mount that again, then iolag cleanup {run}");
                "may be left on the file system that was mounted there when it was made".to_owned()
            }
            Answer::Given(Found::Unknown(error)) => format!("may still be there ({error})"),
            Answer::None { age, .. } => format!("may still be there, and has not answered for {age}"),
        };
        Some(Need { clause: format!("the working directory {} of run {run} {what}", self.path()), advice })
    }
}

fn owner_of(directory: &str, name: &str) -> Option<RunId> {
    PosixBackend::new(directory.into(), name).ok()?.owner()
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

/// Why each of these runs, named with its places, is needed: nothing for one that is not. A directory that does not answer holds
/// up only what was made in it.
///
/// # Errors
/// If no process can be made, or the user wants no answer any more.
pub fn needs(runs: &[(&str, &[LeftPlace])]) -> Result<Vec<Vec<Need>>, Failure> {
    const CHILDREN_MAX: usize = 32;
    let places = || runs.iter().flat_map(|(_, places)| *places);
    let directories: Vec<&String> =
        places().map(|place| &place.directory).collect::<BTreeSet<_>>().into_iter().collect();
    let mut needs: Vec<Vec<Need>> = runs.iter().map(|_| Vec::new()).collect();
    for directories in directories.chunks(CHILDREN_MAX) {
        let answers = ask_all("scout", directories, STORE_DEADLINE, |directory| {
            places().filter(|place| place.directory == **directory).map(LeftPlace::look).collect::<Vec<_>>()
        })?;
        for (directory, answer) in directories.iter().zip(answers) {
            let mut answers = one_by_one(answer);
            for (need, (run, places)) in needs.iter_mut().zip(runs) {
                let places = places.iter().filter(|place| place.directory == **directory);
                need.extend(places.filter_map(|place| place.need(run, &answers.next()?)));
            }
        }
    }
    Ok(needs)
}

/// The answers about places in one directory, in order.
fn one_by_one(answer: Answer<Vec<Found>>) -> Box<dyn Iterator<Item = Answer<Found>>> {
    match answer {
        Answer::Given(found) => Box::new(found.into_iter().map(Answer::Given)),
        Answer::None { age, came_back, unkillable } => {
            Box::new(std::iter::repeat_with(move || Answer::None { age, came_back, unkillable }))
        }
    }
}
