//! Runs that were rescued: their store refused them or did not answer, so they were written to a place of rescue.
//!
//! A place of rescue is the root of another store, in memory at best. What the store has of such a run is a stump. One run,
//! one truth: of the stump and the rescued run exactly one counts at each moment, and everybody who opens the store finds the
//! same one ([`Store::run`]). What counts is decided by the records alone:
//!
//! | the store has | the place of rescue has | what counts |
//! |---|---|---|
//! | nothing, or what cannot be read | the run | the rescued run |
//! | a run of its own that its keeper closed | any | the store's |
//! | a stump | the run, closed by its keeper | the rescued run, unless the recovered stump has more samples |
//! | a stump | a run that its keeper did not close | whichever has more samples |
//!
//! Limits: places of rescue are local to a host, so that another host sees the stump alone; it says where the rest is.

use std::path::{Path, PathBuf};

use iolag_model::{PlaceIdentity, Rescue, RunId, RunRecord, RunState};

use crate::error::{Flaw, FlawKind};
use crate::runs::liveness::KeeperIdentity;
use crate::runs::run_directory::RunDirectory;
use crate::{Directory, Store, StoreError};

/// A run of a store that lies in a place of rescue.
#[derive(Debug)]
pub(crate) struct RescuedRun {
    /// Its directory there.
    pub run: RunDirectory,
    /// Its record.
    pub record: RunRecord,
}

impl RescuedRun {
    pub(crate) fn is_closed(&self) -> bool {
        is_closed(&self.record)
    }
}

/// Whether its keeper said its last word.
pub(crate) fn is_closed(record: &RunRecord) -> bool {
    matches!(record.state, RunState::Complete | RunState::Incomplete { .. })
}

pub(crate) fn samples_of(record: &RunRecord) -> u64 {
    record.parts.iter().map(|part| part.samples).sum()
}

/// Whether two records with one id are of one run: ids hold a second and four digits, which may meet.
pub(crate) fn is_same_run(one: &RunRecord, other: &RunRecord) -> bool {
    one.id == other.id
        && one.anchors.first() == other.anchors.first()
        && one.environment.host == other.environment.host
        && one.environment.boot_id == other.environment.boot_id
        && one.command == other.command
}

impl Store {
    /// The same store, with its runs that lie in these places of rescue. What is no place, is this store itself, or belongs to
    /// somebody else is left out; nothing is made.
    pub fn with_places(mut self, roots: &[PathBuf]) -> Self {
        for root in roots {
            let Ok(place) = Self::open_place(root) else { continue };
            let is_new = [&self].into_iter().chain(&self.places).all(|known| !known.is_same_place(&place));
            if is_new && place.refuse_foreign().is_ok() {
                self.places.push(place);
            }
        }
        self
    }

    /// A store that is there, never through a symbolic link.
    fn open_place(root: &Path) -> Result<Self, StoreError> {
        let directory = Directory::open(root)?;
        Ok(Self::new(directory.directory(crate::runs::store::RUNS_DIRECTORY)?, root.to_owned()))
    }

    fn is_same_place(&self, other: &Self) -> bool {
        self.identity().ok().is_some_and(|own| Some(own) == other.identity().ok())
    }

    /// Which directory holds the runs: a store keeps it under whatever name it is reached.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn identity(&self) -> Result<PlaceIdentity, StoreError> {
        let status = self.runs().status()?;
        Ok(PlaceIdentity { device: Some(status.st_dev), inode: status.st_ino })
    }

    /// Whether a rescued run belongs to this store, as far as can be known.
    fn is_home_of(&self, record: &RunRecord) -> bool {
        let Some(rescue) = &record.rescue else { return false };
        match (rescue.identity, self.identity()) {
            (Some(_), Ok(_)) => self.is_certainly_home_of(record) || self.has_place_of(rescue),
            _ => self.has_path_of(rescue),
        }
    }

    fn has_path_of(&self, rescue: &Rescue) -> bool {
        Path::new(&rescue.store).canonicalize().is_ok_and(|path| path == self.root())
    }

    /// Whether it is where the home was, but perhaps mounted anew, by which many file systems get another device number.
    fn has_place_of(&self, rescue: &Rescue) -> bool {
        let inode = self.identity().ok().map(|now| now.inode);
        inode == rescue.identity.map(|then| then.inode) && self.has_path_of(rescue)
    }

    fn has_stump_of(&self, record: &RunRecord) -> bool {
        let own = self.own_run(&record.id).and_then(|run| run.record());
        own.is_ok_and(|own| is_same_run(&own, record))
    }

    /// Device numbers last for one boot, and paths may lead elsewhere: only together with the boot they settle it.
    pub(crate) fn is_certainly_home_of(&self, record: &RunRecord) -> bool {
        let is_of_this_boot =
            KeeperIdentity::of_rescue(record).is_some_and(|keeper| keeper.is_of_this_boot());
        let Some(rescue) = record.rescue.as_ref().filter(|_| is_of_this_boot) else { return false };
        match rescue.identity {
            Some(then) => {
                self.identity().is_ok_and(|now| now == then)
                    || self.has_place_of(rescue) && self.has_stump_of(record)
            }
            // Never opened: the path as it was named is all there is.
            None => self.has_path_of(rescue),
        }
    }

    /// Names of this store's runs in places of rescue.
    pub(crate) fn rescued_ids(&self) -> Vec<RunId> {
        let ids = self.places.iter().flat_map(|place| place.own_ids().unwrap_or_default());
        let mut ids: Vec<_> = ids.filter(|id| !self.rescued(id).is_empty()).collect();
        ids.sort();
        ids.dedup();
        ids
    }

    /// The run's copies in places of rescue, those that its keeper closed first, then those with more samples.
    pub(crate) fn rescued(&self, id: &RunId) -> Vec<RescuedRun> {
        let mut copies: Vec<_> =
            self.places.iter().filter_map(|place| place.rescued_here(self, id)).collect();
        copies.sort_by_key(|copy| std::cmp::Reverse((copy.is_closed(), samples_of(&copy.record))));
        copies
    }

    fn rescued_here(&self, home: &Self, id: &RunId) -> Option<RescuedRun> {
        let run = self.own_run(id).ok()?;
        let record = run.record().ok()?;
        home.is_home_of(&record).then_some(RescuedRun { run, record })
    }

    /// Why it is not known whether this run was rescued: a place holds something of that name which cannot be read now.
    pub(crate) fn doubt(&self, id: &RunId) -> Option<Flaw> {
        self.places.iter().find_map(|place| {
            let error = place.own_run(id).and_then(|run| run.record()).err()?;
            let is_absent = matches!(error, StoreError::RunMissing { .. });
            Some(Flaw::of(&error)).filter(|flaw| !is_absent && flaw.kind != FlawKind::Damaged)
        })
    }

    /// The rescued run of this name, if that is what counts.
    pub(crate) fn counting(&self, id: &RunId) -> Option<RescuedRun> {
        let best = self.rescued(id).into_iter().next()?;
        let counts = match self.own_run(id).and_then(|run| run.record()) {
            Err(_) => true,
            Ok(own) if is_closed(&own) || !is_same_run(&own, &best.record) => false,
            // What a stump's spool holds the keeper has put into the rescued run as well.
            Ok(RunRecord { state: RunState::Running { .. }, .. }) => {
                best.is_closed() || samples_of(&best.record) > 0
            }
            Ok(own) => {
                let (own, rescued) = (samples_of(&own), samples_of(&best.record));
                rescued > own || best.is_closed() && rescued == own
            }
        };
        counts.then_some(best)
    }
}
