//! A tree that several sessions read: one walks, and what it has found all share afterwards.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use iolag_model::{PlaceIdentity, StageIndex, TreeNames, TreeRecord, TreeStage};

use super::list::{NameKind, TreeList};
use super::walk::Walk;

/// What a list may take: some hundred million names of usual length.
const LIST_BYTES_MAX: u64 = 4 << 30;

/// A tree that several sessions read.
#[derive(Debug)]
pub struct Tree {
    /// Which directory it is, once the first session has opened it.
    pub(super) identity: OnceLock<PlaceIdentity>,
    walk: Mutex<Walk>,
    list: OnceLock<TreeList>,
    stages: Mutex<BTreeMap<StageIndex, TreeStage>>,
}

impl Default for Tree {
    fn default() -> Self {
        Self::of_at_most(LIST_BYTES_MAX)
    }
}

impl Tree {
    /// A tree whose list may take so many bytes.
    pub(super) fn of_at_most(list_bytes: u64) -> Self {
        Self {
            identity: OnceLock::new(),
            walk: Mutex::new(Walk::new(list_bytes)),
            list: OnceLock::new(),
            stages: Mutex::default(),
        }
    }

    /// Whether there are directories that were found and not read.
    pub fn is_to_be_walked(&self) -> bool {
        self.walk().has_more()
    }

    /// Ends the walk: what it has found is what there is from now on.
    pub fn end_walk(&self) {
        let list = self.walk().take_list();
        // Whoever ends it again finds nothing more.
        let _ = self.list.set(list);
    }

    /// How many names the walk has found; none before it has ended.
    pub fn names(&self) -> u64 {
        self.list.get().map_or(0, |list| list.names.len() as u64)
    }

    /// Whether the name with this number is asked for at all: nobody asks for what is mounted on.
    pub fn is_asked(&self, number: u64) -> bool {
        self.kind(number).is_some_and(|kind| kind != NameKind::MountPoint)
    }

    /// Whether the name with this number is a regular file.
    pub fn is_file(&self, number: u64) -> bool {
        self.kind(number) == Some(NameKind::File)
    }

    /// Whether the walk was ended because the list would have become too large.
    pub fn is_too_large(&self) -> bool {
        self.walk().is_too_large()
    }

    /// What was found, and what sessions have made of it until now.
    pub fn record(&self) -> TreeRecord {
        let found: TreeNames = self.walk().found;
        TreeRecord { found, stages: lock(&self.stages).values().copied().collect() }
    }

    /// Adds what was done in a stage.
    pub(super) fn note(&self, done: TreeStage) {
        let mut stages = lock(&self.stages);
        let known =
            stages.entry(done.stage).or_insert(TreeStage { stage: done.stage, ..TreeStage::default() });
        *known = known.and(done);
    }

    pub(super) fn walk(&self) -> MutexGuard<'_, Walk> {
        lock(&self.walk)
    }

    pub(super) fn list(&self) -> Option<&TreeList> {
        self.list.get()
    }

    fn kind(&self, number: u64) -> Option<NameKind> {
        Some(self.list.get()?.names.get(usize::try_from(number).ok()?)?.kind)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
