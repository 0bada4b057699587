//! The store: a directory with runs, each its own fault domain. There is no index that could disagree with them.

use std::path::{Path, PathBuf};

use iolag_model::{RunId, RunRecord};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::liveness::{KeeperIdentity, boot_id};
use super::run_directory::{RunDirectory, is_known_file, was_never_begun};
use crate::error::{Flaw, FlawKind};
use crate::{Directory, StoreError};

pub(crate) const RUNS_DIRECTORY: &str = "runs";
const CANDIDATES_SHOWN_MAX: usize = 8;

/// An open store.
#[derive(Debug)]
pub struct Store {
    runs: Directory,
    root: PathBuf,
    /// Where runs of it may have been rescued to.
    pub(crate) places: Vec<Self>,
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name.
    pub id: RunId,
    /// Its directory.
    pub path: PathBuf,
    /// Bytes of all its files, spool included.
    pub bytes: u64,
    /// When it started, in ns since 1970: by its first anchor, else by its name.
    pub started_realtime_ns: u64,
    /// Its record, or what is wrong with it.
    pub record: Result<Box<RunRecord>, Flaw>,
}

/// What removing a run left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Nothing.
    Complete,
    /// Files that no run writes: left where they are, with the directory.
    Strangers(Vec<String>),
}

impl Removal {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Strangers(mut names), Self::Strangers(more)) => {
                names.extend(more);
                Self::Strangers(names)
            }
            (Self::Complete, other) | (other, Self::Complete) => other,
        }
    }
}

impl Store {
    /// Opens the store at `root`, making it if it is missing.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        let directory = Directory::open_or_create(root)?;
        Ok(Self::new(directory.directory_or_new(RUNS_DIRECTORY)?, directory.path().to_owned()))
    }

    /// Opens a store in a directory in which others may make names, too, making it if it is missing: never through a symbolic
    /// link, which would lead its files to where somebody else wants them, and nobody looks for them. The directory itself is
    /// the system's, which may have made it a link.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn open_among_others(root: &Path) -> Result<Self, StoreError> {
        let missing = || StoreError::damaged(root, "it names no directory in another");
        let (parent, name) =
            root.parent().zip(root.file_name().and_then(|name| name.to_str())).ok_or_else(missing)?;
        let parent = parent.canonicalize().map_err(|error| StoreError::system("find", parent, error))?;
        let directory = Directory::open(&parent)?.directory_or_new(name)?;
        Ok(Self::new(directory.directory_or_new(RUNS_DIRECTORY)?, root.to_owned()))
    }

    pub(crate) const fn new(runs: Directory, root: PathBuf) -> Self {
        Self { runs, root, places: Vec::new() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) const fn runs(&self) -> &Directory {
        &self.runs
    }

    /// Refuses a store in which somebody else could plant runs, manifests or links: one that belongs to another user, or
    /// that others may write to. To be asked before anything is written to it or anything in it is acted upon; other users'
    /// stores may be read.
    ///
    /// # Errors
    /// [`StoreError::Foreign`].
    pub fn refuse_foreign(&self) -> Result<(), StoreError> {
        const STICKY: u32 = 0o1000;
        let user = rustix::process::geteuid().as_raw();
        let root = Directory::open(&self.root)?;
        let status = root.status()?;
        // As /tmp: everybody may add names, nobody may replace another's.
        let is_shared_safely = status.st_mode & STICKY != 0 && (status.st_uid == user || status.st_uid == 0);
        if !is_shared_safely {
            refuse_others(&root)?;
        }
        refuse_others(&self.runs)
    }

    /// Whether the store takes bytes, by writing some and removing them: a full disk still takes directories.
    ///
    /// # Errors
    /// [`StoreError::Full`] or another failure of the system; [`StoreError::Foreign`].
    pub fn probe_writing(&self) -> Result<(), StoreError> {
        const BYTES: usize = 64 << 10;
        self.refuse_foreign()?;
        let name = probe_name(std::process::id());
        // Replaced as a whole below a new name, never through what somebody may have put there.
        self.runs.replace_file(&name, &vec![0x5a; BYTES])?;
        self.runs.remove_file(&name)
    }

    /// Takes the first of these names that is free, by making its directory: no other process takes it then.
    ///
    /// # Errors
    /// [`StoreError::Foreign`]; [`StoreError::RunExists`] if none is free; else if it cannot be made.
    pub fn claim(&self, names: impl IntoIterator<Item = RunId>) -> Result<RunId, StoreError> {
        self.refuse_foreign()?;
        let mut taken = None;
        for id in names {
            match self.runs.create_directory(id.as_str()) {
                Ok(_) => return Ok(id),
                Err(error) if error.errno() == Some(Errno::EXIST.raw_os_error()) => taken = Some(id),
                Err(error) => return Err(error),
            }
        }
        Err(self.exists(&taken.map(String::from).unwrap_or_default()))
    }

    fn exists(&self, id: &str) -> StoreError {
        StoreError::RunExists { id: id.to_owned(), root: self.root.clone() }
    }

    /// Writes the record of a new run into the directory that was claimed for it, or into one that it makes.
    ///
    /// # Errors
    /// [`StoreError::RunExists`] if a run of this name has begun; [`StoreError::Foreign`]; else if it cannot be written.
    pub fn create_run(&self, record: &RunRecord) -> Result<RunDirectory, StoreError> {
        // Empty directories are taken away by whoever tidies the store, at any moment.
        const TRIES: usize = 3;
        let mut created = self.try_create_run(record);
        for _ in 1..TRIES {
            match created {
                Err(error) if error.is_missing() => {
                    created = Self::open_among_others(&self.root)?.try_create_run(record)
                }
                other => return other,
            }
        }
        created
    }

    fn try_create_run(&self, record: &RunRecord) -> Result<RunDirectory, StoreError> {
        self.refuse_foreign()?;
        let directory = self.runs.directory_or_new(record.id.as_str())?;
        if !was_never_begun(&directory) {
            return Err(self.exists(record.id.as_str()));
        }
        let run = RunDirectory::new(directory, record.id.clone());
        run.write_record(record)?;
        Ok(run)
    }

    /// The run of this name: what counts of it, in the store or in a place of rescue.
    ///
    /// # Errors
    /// If it does not exist.
    pub fn run(&self, id: &RunId) -> Result<RunDirectory, StoreError> {
        match self.counting(id) {
            Some(rescued) => Ok(rescued.run),
            None => self.own_run(id),
        }
    }

    /// What the store itself has of the run of this name.
    pub(crate) fn own_run(&self, id: &RunId) -> Result<RunDirectory, StoreError> {
        match self.runs.directory(id.as_str()) {
            Ok(directory) => Ok(RunDirectory::new(directory, id.clone())),
            Err(error) if error.is_missing() => Err(self.missing(id.as_str())),
            Err(error) => Err(error),
        }
    }

    /// All runs, oldest first by their names, as `last` takes them; damaged ones with what is wrong.
    ///
    /// # Errors
    /// Only if the store itself cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        Ok(self.ids()?.into_iter().filter_map(|id| self.look_at(id)).collect())
    }

    /// The run that `text` means: its name, the beginning or the end of it, `last`, or a path to its directory.
    ///
    /// # Errors
    /// [`StoreError::RunMissing`], [`StoreError::RunAmbiguous`], or if it cannot be opened.
    pub fn find(&self, text: &str) -> Result<RunDirectory, StoreError> {
        if text.contains('/') {
            let path =
                Path::new(text).canonicalize().map_err(|error| StoreError::system("find", text, error))?;
            let run = RunDirectory::open(&path)?;
            // A path into this store means what counts of the run, as its name does.
            return if path.parent() == Some(self.runs.path()) { self.run(run.id()) } else { Ok(run) };
        }
        let ids = self.ids()?;
        let mut candidates: Vec<&RunId> = match text {
            "" => Vec::new(),
            // Names begin with date and time, so the last one in order is the latest.
            "last" => ids.iter().rev().find(|id| self.has_begun(id)).into_iter().collect(),
            _ => {
                let matches = |id: &&RunId| id.as_str().starts_with(text) || id.as_str().ends_with(text);
                ids.iter().filter(matches).collect()
            }
        };
        match candidates.as_slice() {
            [] => Err(self.missing(text)),
            [id] => self.run(id),
            _ => {
                let more = candidates.len().saturating_sub(CANDIDATES_SHOWN_MAX);
                candidates.truncate(CANDIDATES_SHOWN_MAX);
                let mut candidates: Vec<String> = candidates.into_iter().map(ToString::to_string).collect();
                candidates.extend((more > 0).then(|| format!("{more} more")));
                Err(StoreError::RunAmbiguous { text: text.to_owned(), candidates })
            }
        }
    }

    /// Removes a run: its known files, its spool wherever it is, its directory. Files that no run writes stay.
    /// What the manifest names on targets is not touched: clean it up first.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] and [`StoreError::Stranger`] if others wrote it; [`StoreError::RunAlive`] while its keeper lives; [`StoreError::Locked`] while it is being recovered; else if
    /// something cannot be removed.
    pub fn remove_run(
        &self,
        id: &RunId,
        is_alive: impl Fn(&KeeperIdentity) -> bool,
    ) -> Result<Removal, StoreError> {
        self.refuse_foreign()?;
        let copies = self.rescued(id);
        let mut removal = match self.own_run(id) {
            Err(StoreError::RunMissing { .. }) if !copies.is_empty() => Removal::Complete,
            Err(error) => return Err(error),
            Ok(run) => {
                let _lock = run.lock()?;
                refuse_living(&run, &is_alive)?;
                for copy in &copies {
                    refuse_living(&copy.run, &is_alive)?;
                }
                self.remove_locked(&run)?
            }
        };
        for copy in copies {
            let _lock = copy.run.lock()?;
            refuse_living(&copy.run, &is_alive)?;
            removal = removal.and(self.remove_from_place(&copy.run)?);
        }
        Ok(removal)
    }

    /// Removes a rescued run that nobody needs any more, and the place of rescue with the last one.
    pub(crate) fn remove_from_place(&self, run: &RunDirectory) -> Result<Removal, StoreError> {
        let is_here = |place: &&Self| run.path().parent() == Some(place.runs.path());
        let Some(place) = self.places.iter().find(is_here) else { return Ok(Removal::Complete) };
        let removal = place.remove_locked(run)?;
        place.remove_if_empty();
        Ok(removal)
    }

    /// Removes a place of rescue that holds nothing any more. Where something else is kept, or another run is just being
    /// rescued to, it stays.
    pub(crate) fn remove_if_empty(&self) {
        if std::fs::remove_dir(self.runs.path()).is_ok() {
            let _ = std::fs::remove_dir(&self.root);
        }
    }

    fn remove_locked(&self, run: &RunDirectory) -> Result<Removal, StoreError> {
        run.refuse_stranger()?;
        // With a manifest that cannot be read, a spool elsewhere stays; the run must be removable all the same.
        if run.manifest().is_ok() {
            run.remove_spool()?;
        }
        let mut strangers = Vec::new();
        // run.json goes last: whoever is killed before leaves a run that can be found and removed again.
        let mut names = run.directory().names()?;
        names.sort_by_key(|name| name == super::run_directory::RECORD_FILE);
        for name in names {
            if is_known_file(&name) && run.directory().look_at(&name)?.1 == FileType::RegularFile {
                run.directory().remove_file(&name)?;
            } else {
                strangers.push(name);
            }
        }
        if strangers.is_empty() {
            self.runs.remove_directory(run.id().as_str())?;
            self.runs.sync()?;
            Ok(Removal::Complete)
        } else {
            Ok(Removal::Strangers(strangers))
        }
    }

    /// Names of all runs, in order, rescued ones too.
    pub(crate) fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        let mut ids = self.own_ids()?;
        ids.extend(self.rescued_ids());
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// Names of the runs of which the store itself has something.
    pub(crate) fn own_ids(&self) -> Result<Vec<RunId>, StoreError> {
        Ok(self.runs.names()?.iter().filter_map(|name| name.parse().ok()).collect())
    }

    /// Whether there is more than an empty directory or an unfinished first record, in which nobody can have measured yet.
    fn has_begun(&self, id: &RunId) -> bool {
        self.run(id).is_ok_and(|run| !was_never_begun(run.directory()))
    }

    /// What a list shows of one run; nothing of one that has not begun or is just gone.
    pub fn look_at(&self, id: RunId) -> Option<Listed> {
        let opened = self.run(&id);
        match &opened {
            Err(StoreError::RunMissing { .. }) => return None,
            Ok(run) if was_never_begun(run.directory()) => return None,
            _ => {}
        }
        let (bytes, record) = match &opened {
            Ok(run) => (bytes_of(run), run.record().map(Box::new).map_err(|error| Flaw::of(&error))),
            Err(error) => (0, Err(Flaw::of(error))),
        };
        let path = opened.map_or_else(|_| self.runs.path().join(id.as_str()), |run| run.path().to_owned());
        let started = record.as_ref().ok().and_then(|record| record.anchors.first());
        let started_realtime_ns = started.map_or_else(|| realtime_of_name(&id), |anchor| anchor.realtime_ns);
        Some(Listed { id, path, bytes, started_realtime_ns, record })
    }

    fn missing(&self, text: &str) -> StoreError {
        StoreError::RunMissing { text: text.to_owned(), root: self.root.clone() }
    }
}

/// Refuses a directory that is not ours alone.
pub(crate) fn refuse_others(directory: &Directory) -> Result<(), StoreError> {
    const OTHERS_MAY_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    let status = directory.status()?;
    if status.st_uid == user && status.st_mode & OTHERS_MAY_WRITE == 0 {
        return Ok(());
    }
    let (path, mode) = (directory.path().to_owned(), status.st_mode & 0o7777);
    Err(StoreError::Foreign { path, owner: status.st_uid, mode, user })
}

/// The file that a process of this boot shows with that the store takes bytes: whoever finds it knows whether it is needed.
pub(crate) fn probe_name(pid: u32) -> String {
    let boot = boot_id().unwrap_or_default();
    format!("probe-{pid}-{}", boot.get(..8).unwrap_or("unknown"))
}

fn refuse_living(run: &RunDirectory, is_alive: impl Fn(&KeeperIdentity) -> bool) -> Result<(), StoreError> {
    let keeper = match run.record() {
        Ok(record) => KeeperIdentity::of(&record),
        // Nothing is known of it: whether it is needed, neither.
        Err(error) if Flaw::of(&error).kind == FlawKind::Unreadable => return Err(error),
        Err(_) => None,
    };
    match keeper.filter(is_alive) {
        Some(keeper) => {
            Err(StoreError::RunAlive { id: run.id().to_string(), keeper_pid: keeper.pid, host: keeper.host })
        }
        None => Ok(()),
    }
}

/// Bytes of a run's files. What cannot be looked at counts nothing: this is for lists, which must not fail.
fn bytes_of(run: &RunDirectory) -> u64 {
    let names = run.directory().names().unwrap_or_default();
    let known = names.iter().filter(|name| is_known_file(name));
    let sizes = known.filter_map(|name| run.directory().look_at(name).ok());
    run.spool_bytes() + sizes.map(|(bytes, _)| bytes).sum::<u64>()
}

/// The moment in a run's name; 1970 if it names none (month 13, say).
fn realtime_of_name(id: &RunId) -> u64 {
    let date_time = &id.as_str()[..15];
    jiff::civil::DateTime::strptime("%Y%m%d-%H%M%S", date_time)
        .and_then(|moment| moment.to_zoned(jiff::tz::TimeZone::UTC))
        .ok()
        .and_then(|moment| u64::try_from(moment.timestamp().as_nanosecond()).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn allow(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_store_that_others_may_write_to_is_read_but_not_acted_upon() {
        let root = tempfile::tempdir().unwrap();
        let store = Store::open(root.path()).unwrap();
        store.probe_writing().unwrap();
        allow(root.path(), 0o1777);
        store.probe_writing().unwrap();
        allow(root.path(), 0o777);
        assert!(matches!(store.probe_writing(), Err(StoreError::Foreign { mode: 0o777, .. })));
        allow(root.path(), 0o700);
        allow(&root.path().join(RUNS_DIRECTORY), 0o770);
        assert!(matches!(store.refuse_foreign(), Err(StoreError::Foreign { .. })));
        assert!(store.list().unwrap().is_empty());
        if rustix::process::geteuid().is_root() {
            allow(&root.path().join(RUNS_DIRECTORY), 0o700);
            std::os::unix::fs::chown(root.path(), Some(65534), None).unwrap();
            assert!(matches!(store.refuse_foreign(), Err(StoreError::Foreign { owner: 65534, .. })));
        }
    }

    #[test]
    fn a_store_among_others_is_no_link_and_its_parent_may_be_one() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("real");
        std::fs::create_dir(&real).unwrap();
        for name in ["link", "planted"] {
            std::os::unix::fs::symlink(&real, place.path().join(name)).unwrap();
        }
        assert!(Store::open_among_others(&place.path().join("planted")).is_err());
        assert_eq!(std::fs::read_dir(&real).unwrap().count(), 0);
        Store::open_among_others(&place.path().join("link/own")).unwrap();
        assert!(real.join("own/runs").is_dir());
    }

    #[test]
    fn a_name_tells_its_moment() {
        let id = |text: &str| text.parse::<RunId>().unwrap();
        assert_eq!(realtime_of_name(&id("20261120-185900-3fa7")), 1_795_201_140_000_000_000);
        assert_eq!(realtime_of_name(&id("20261320-185900-3fa7")), 0);
    }
}
