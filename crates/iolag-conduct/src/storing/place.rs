//! Where a run is stored, and where its samples wait while it lasts.
//!
//! Nothing is written to a measured file system while it is measured, unless there is no other place; then the run says
//! so.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use iolag_model::{Environment, MemoryState, Nanoseconds, PlaceIdentity, RunId, RunRecord, counted};
use iolag_store::{Adoption, KeeperIdentity, Recovery, Store, StoreError, adopt, recover};
use serde::{Deserialize, Serialize};

use crate::contact::scout::{Answer, ask_all};
use crate::environment;
use crate::failure::Failure;

/// How long the store may take for one step before it counts as hung.
pub const STORE_DEADLINE: Nanoseconds = Nanoseconds::from_seconds(15);

/// How the store was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// By the user: a store that cannot be used is an error.
    Named,
    /// By default: a store that cannot be used is replaced by a place in memory, which is said.
    Default,
}

/// Where runs are kept.
#[derive(Debug, Clone)]
pub struct StoreChoice {
    /// The store's directory.
    pub root: PathBuf,
    /// Who chose it.
    pub choice: Choice,
}

impl StoreChoice {
    /// The store that the user named, else `$IOLAG_STORE`, else `$XDG_DATA_HOME/iolag`, else `~/.local/share/iolag`, else a
    /// place in the temporary directory. Touches none of them.
    pub fn new(named: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = named.map(Path::to_owned).or_else(|| set("IOLAG_STORE")) {
            return Self { root: crate::contact::scout::absolute(&root), choice: Choice::Named };
        }
        let root = set("XDG_DATA_HOME")
            .or_else(|| set("HOME").map(|home| home.join(".local/share")))
            .map_or_else(|| usual_root(Path::new("/tmp")), |data| data.join("iolag"));
        Self { root, choice: Choice::Default }
    }
}

/// Names that a store may have in a directory that all users share: a stranger may have taken the first ones.
const NAMES: u32 = 10;

fn shared_root(parent: &Path, number: u32) -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    parent.join(if number == 0 { format!("iolag-{user}") } else { format!("iolag-{user}-{number}") })
}

/// The first of the names of `memory_root`. Touches nothing.
pub fn usual_root(parent: &Path) -> PathBuf {
    shared_root(parent, 0)
}

fn shared_roots(parent: &Path) -> impl Iterator<Item = PathBuf> {
    (0..NAMES).map(|number| shared_root(parent, number))
}

/// The store in a directory that all users share: of its names the first that no stranger has. To be called in a process that may
/// hang.
pub fn memory_root(parent: &Path) -> PathBuf {
    let is_strangers = |root: &PathBuf| {
        owner_of(root).is_some_and(|(owner, _)| owner != rustix::process::geteuid().as_raw())
    };
    shared_roots(parent).find(|root| !is_strangers(root)).unwrap_or_else(|| usual_root(parent))
}

/// Whose it is, and whether it is a directory; links are not followed.
fn owner_of(path: &Path) -> Option<(u32, bool)> {
    path.symlink_metadata().ok().map(|metadata| (metadata.uid(), metadata.is_dir()))
}

/// The store with this root, made if it is missing: one in a directory that all users share never through a symbolic link.
///
/// # Errors
/// If that cannot be done.
pub fn open(root: &Path) -> Result<Store, StoreError> {
    let is_shared = spool_candidates().iter().any(|parent| shared_roots(parent).any(|shared| shared == root));
    if is_shared { Store::open_among_others(root) } else { Store::open(root) }
}

/// Places for samples, best first: memory, then temporary directories, then one that nobody else may write to, but which may be gone
/// when the user logs out.
pub fn spool_candidates() -> Vec<PathBuf> {
    let session = format!("/run/user/{}", rustix::process::geteuid().as_raw());
    ["/dev/shm", "/run/shm", "/tmp", "/var/tmp", &session].map(PathBuf::from).into()
}

/// What a child found out about the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoreFacts {
    /// Device of the store's file system; an error as a sentence if it cannot be used.
    pub device: Result<u64, String>,
    /// Which directory holds its runs, if it could be opened.
    pub identity: Option<PlaceIdentity>,
}

/// Where runs may have been rescued to.
#[derive(Debug, Clone, Default)]
pub struct RescuePlaces {
    /// Those that hold something.
    pub roots: Vec<PathBuf>,
    /// Those that did not answer: then it is not known of any run that it was not rescued.
    pub silent: Vec<PathBuf>,
}

impl RescuePlaces {
    /// Looks for them, each in a child of its own: `/tmp` may hang while the store is healthy.
    ///
    /// # Errors
    /// If no process can be made, or the user wants no answer any more.
    pub fn find() -> Result<Self, Failure> {
        const DEADLINE: Nanoseconds = Nanoseconds::from_seconds(5);
        let parents = spool_candidates();
        let answers = ask_all("scout", &parents, DEADLINE, |parent| rescue_roots(parent))?;
        let mut places = Self::default();
        for (parent, answer) in parents.iter().zip(answers) {
            match answer {
                Answer::Given(roots) => places.roots.extend(roots),
                Answer::None { .. } => places.silent.push(usual_root(parent)),
            }
        }
        Ok(places)
    }
}

/// The user's own stores in a directory that all users share.
fn rescue_roots(parent: &Path) -> Vec<PathBuf> {
    let own = Some((rustix::process::geteuid().as_raw(), true));
    shared_roots(parent).filter(|root| owner_of(root) == own && root.join("runs").is_dir()).collect()
}

/// Looks at the store; to be called in a process that may hang.
pub fn look_at(root: &Path) -> StoreFacts {
    let store = open(root);
    let device = store.as_ref().map_err(ToString::to_string).and_then(|store| {
        store.probe_writing().map_err(|error| error.to_string())?;
        device_of(root).ok_or_else(|| format!("cannot look at the store {}", root.display()))
    });
    let identity = store.as_ref().ok().and_then(|store| store.identity().ok());
    StoreFacts { device, identity }
}

/// Puts a store in order: what killed processes left is taken away, rescued runs are taken home, and what was not closed is
/// recovered. Says what is to be known about it, as sentences. To be called in a process that may hang; a store that is not there
/// is not made.
pub fn put_in_order(root: &Path, places: &RescuePlaces) -> Vec<String> {
    if !root.join("runs").is_dir() {
        return Vec::new();
    }
    let Ok(store) = open(root) else { return Vec::new() };
    let store = store.with_places(&places.roots);
    // What is left lying about is for the next command.
    let _ = store.tidy();
    let mut sentences = adopt_all(&store);
    if places.silent.is_empty() {
        sentences.extend(recover_all(&store));
    }
    sentences
}

/// The last run that left a working set in this place (a whole path without symbolic links); to be called in a process that
/// may hang.
pub fn continuation(root: &Path, working_place: &str) -> Option<RunRecord> {
    Store::open(root).ok().and_then(|store| last_with_working_set(&store, working_place))
}

/// The machine, and its load and memory now.
pub fn machine() -> (Environment, MemoryState) {
    let variables = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
    let environment = environment::machine::capture(Path::new("/proc"), Path::new("/sys"), variables);
    (environment, environment::memory::capture(Path::new("/proc")))
}

/// The device of a directory; to be called in a process that may hang.
pub fn device_of(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir).map(|metadata| metadata.dev())
}

fn adopt_all(store: &Store) -> Vec<String> {
    let Ok(adopted) = adopt(store, KeeperIdentity::is_alive) else { return Vec::new() };
    let sentence = |run: iolag_store::Adopted| {
        let (id, from) = (run.id, run.from.display());
        match run.result {
            Ok(Adoption::Adopted { samples }) => {
                let samples = counted(samples, "sample", "samples");
                format!("run {id} was rescued to {from} and is in the store now: {samples}")
            }
            Ok(Adoption::Removed) => {
                format!("run {id} is in the store; what was left of it in {from} is removed")
            }
            Ok(Adoption::Left { why }) => format!("run {id} lies in {from} and stays there: {why}"),
            Err(error) => format!("run {id} lies in {from} and cannot be taken into the store yet: {error}"),
        }
    };
    adopted.into_iter().map(sentence).collect()
}

fn recover_all(store: &Store) -> Vec<String> {
    let Ok(recovered) = recover(store, KeeperIdentity::is_alive) else { return Vec::new() };
    recovered
        .into_iter()
        .filter_map(|run| match run.result {
            Ok(Recovery::Encoded { samples, reason }) => {
                let samples = counted(samples, "sample", "samples");
                Some(format!("run {}: {samples} recovered; {reason}", run.id))
            }
            Ok(_) => None,
            Err(error) => Some(format!(
                "run {} was not closed by its iolag and cannot be recovered yet: {error}",
                run.id
            )),
        })
        .collect()
}

/// The newest run that did something in this working place. One that was refused there changed nothing: it must not hide
/// where an earlier one left its clients.
fn last_with_working_set(store: &Store, place: &str) -> Option<RunRecord> {
    let listed = store.list().ok()?;
    listed.into_iter().rev().find_map(|listed| {
        let record = store.run(&listed.id).ok()?.record().ok()?;
        let is_here = record.targets.iter().any(|target| target.working_place.as_deref() == Some(place));
        let did_something = record.parts.iter().any(|part| part.samples > 0);
        (is_here && did_something).then_some(record)
    })
}

/// Where the samples of a run wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spool {
    /// In the run directory.
    InRun,
    /// In this directory, because the store's file system is being measured.
    Elsewhere(PathBuf),
    /// In the run directory although that is being measured: there is no other place.
    InRunThoughMeasured,
}

/// The device of a directory in which files can be made; to be called in a process that may hang.
pub fn writable_device_of(path: &Path) -> Option<u64> {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    accessat(CWD, path, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS).ok()?;
    device_of(path)
}

/// Chooses the place by devices.
pub fn choose_spool(store_device: u64, measured: &[u64], candidates: &[(PathBuf, u64)]) -> Spool {
    if !measured.contains(&store_device) {
        return Spool::InRun;
    }
    candidates
        .iter()
        .find(|(_, device)| !measured.contains(device))
        .map_or(Spool::InRunThoughMeasured, |(path, _)| Spool::Elsewhere(path.clone()))
}

/// Names for a run that starts now, best first. What tells runs of one second apart is the part of the second that has
/// passed, so that names are in the order of their runs.
pub fn run_ids(realtime_ns: u64) -> impl Iterator<Item = RunId> {
    const SECOND_NS: u64 = 1_000_000_000;
    let timestamp =
        jiff::Timestamp::from_nanosecond(i128::from(realtime_ns)).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let text = timestamp.strftime("%Y%m%d-%H%M%S").to_string();
    let passed = ((realtime_ns % SECOND_NS) << u16::BITS) / SECOND_NS;
    (0..=u16::MAX).map(move |further| {
        let salt = (passed as u16).wrapping_add(further);
        RunId::new(&text, salt).expect("a formatted timestamp has the form of a run id")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_store_is_named_or_found_by_the_usual_variables() {
        let variables = |name: &str| match name {
            "HOME" => Some(OsString::from("/home/a")),
            _ => None,
        };
        assert_eq!(StoreChoice::new(None, variables).root, Path::new("/home/a/.local/share/iolag"));
        let named = StoreChoice::new(Some(Path::new("/x")), variables);
        assert_eq!((named.root.as_path(), named.choice), (Path::new("/x"), Choice::Named));
        assert!(StoreChoice::new(None, |_| None).root.starts_with("/tmp"));
    }

    #[test]
    fn the_spool_avoids_what_is_measured() {
        let candidates = [(PathBuf::from("/dev/shm"), 2), (PathBuf::from("/tmp"), 3)];
        assert_eq!(choose_spool(1, &[2, 3], &candidates), Spool::InRun);
        assert_eq!(choose_spool(1, &[1, 2], &candidates), Spool::Elsewhere(PathBuf::from("/tmp")));
        assert_eq!(choose_spool(1, &[1, 2, 3], &candidates), Spool::InRunThoughMeasured);
    }

    #[test]
    fn run_ids_are_in_the_order_of_their_runs() {
        let ids = |realtime_ns| run_ids(realtime_ns).take(2).map(String::from).collect::<Vec<_>>();
        assert_eq!(ids(1_795_201_140_000_000_000), ["20261120-185900-0000", "20261120-185900-0001"]);
        assert_eq!(ids(1_795_201_140_500_000_000), ["20261120-185900-8000", "20261120-185900-8001"]);
        assert_eq!(ids(1_795_201_140_999_999_999), ["20261120-185900-ffff", "20261120-185900-0000"]);
    }
}
