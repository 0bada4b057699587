//! How many objects each dataset must hold: counted by the clients while they work, compared afterwards with what is
//! really there.
//!
//! Every client writes only its own counters, so counting takes a load and a store and no lock. The counters are read by
//! whoever runs the clients, also while a client hangs: an operation that was asked and has not ended widens the expected
//! range instead of making it wrong.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iolag_backend::Request;
use iolag_model::{Access, FailureCode, MetadataSpec, Operation, Phase};

use super::peers::Peers;
use super::script::Effect;
use super::sharing::Sharing;
use super::validation::validate_positions;
use crate::SpecError;

/// What all clients of one metadata run have done to the working set.
#[derive(Debug)]
pub struct Accounting {
    sharing: Sharing,
    precreated_before: u64,
    start_positions: Vec<u64>,
    progress: Vec<Arc<Progress>>,
    peers: Arc<SharedPeers>,
}

/// What the clients know about each other; taken for a moment at the beginning of each stage.
#[derive(Debug)]
pub(crate) struct SharedPeers(Mutex<Peers>);

/// What one client has done so far. Written by that client only.
#[derive(Debug)]
pub(crate) struct Progress {
    position: AtomicU64,
    unknown: AtomicU64,
    in_own: Box<[Counts]>,
    in_shared: Box<[Counts]>,
}

/// Whose datasets a client changes in a stage: its own, or those that [`Sharing`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Own,
    Shared,
}

#[derive(Debug, Default)]
struct Counts {
    creations_asked: AtomicU64,
    creations_done: AtomicU64,
    removals_asked: AtomicU64,
    removals_done: AtomicU64,
}

impl Accounting {
    /// Books for `clients` clients. `positions` are those of the run that made the working set
    /// ([`iolag_model::RunRecord::positions`], objects consumed per dataset, by rank), or `None` for a new one.
    ///
    /// # Errors
    /// If the positions do not fit the spec.
    pub fn new(spec: &MetadataSpec, clients: u32, positions: Option<&[u64]>) -> Result<Self, SpecError> {
        let start_positions = positions.map_or_else(|| vec![0; clients as usize], <[u64]>::to_vec);
        validate_positions(spec, clients, &start_positions)?;
        let makes_working_set = spec.phases.contains(&Phase::Precreate);
        let sharing = Sharing::new(spec, clients);
        let consumed_per_iteration = match spec.access {
            Access::Replace => spec.objects,
            Access::ReadOnly => 0,
        };
        let peers = Peers::new(sharing, spec.precreated_objects, consumed_per_iteration, &start_positions);
        Ok(Self {
            sharing,
            peers: Arc::new(SharedPeers(Mutex::new(peers))),
            precreated_before: if makes_working_set { 0 } else { spec.precreated_objects },
            progress: start_positions
                .iter()
                .map(|position| Arc::new(Progress::starting_at(*position, spec.datasets)))
                .collect(),
            start_positions,
        })
    }

    /// Who works in whose datasets.
    pub const fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// Where every client is now: objects consumed per dataset, by rank. For
    /// [`iolag_model::RunRecord::positions`] once the clients have ended.
    pub fn positions(&self) -> Vec<u64> {
        self.progress.iter().map(|progress| progress.position.load(Ordering::Relaxed)).collect()
    }

    /// How many objects nobody knows to be there or not: what made or removed them had no answer at its deadline, or when the client
    /// was told to stop. The cleanup phase asks for them like for all others, and removing the place removes what is found.
    pub fn unknown_objects(&self) -> u64 {
        self.progress.iter().map(|progress| progress.unknown.load(Ordering::Relaxed)).sum()
    }

    /// How many objects dataset `dataset` of client `rank` must hold now. A single number if every operation that changes
    /// it succeeded; operations that failed or have not ended may or may not have had their effect, which widens the range.
    pub fn expected_objects(&self, rank: u32, dataset: u32) -> RangeInclusive<u64> {
        let own = &self.progress[rank as usize].in_own[dataset as usize];
        let remover = self.sharing.remover_of(rank, dataset);
        let writer = self.sharing.writer_of(rank, dataset);
        let removed = &self.progress[remover as usize].in_shared[dataset as usize];
        let made = &self.progress[writer as usize].in_shared[dataset as usize];
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let before = self.objects_before(remover, writer);
        let least = (before + load(&own.creations_done) + load(&made.creations_done))
            .saturating_sub(load(&own.removals_asked) + load(&removed.removals_asked));
        let most = (before + load(&own.creations_asked) + load(&made.creations_asked))
            .saturating_sub(load(&own.removals_done) + load(&removed.removals_done));
        least..=most
    }

    /// What the working set held when the run started: P, plus what its writer was ahead of its remover.
    fn objects_before(&self, remover: u32, writer: u32) -> u64 {
        let position = |rank: u32| self.start_positions[rank as usize];
        (self.precreated_before + position(writer)).saturating_sub(position(remover))
    }

    pub(crate) fn start_position(&self, rank: u32) -> u64 {
        self.start_positions[rank as usize]
    }

    pub(crate) fn peers(&self) -> Arc<SharedPeers> {
        Arc::clone(&self.peers)
    }

    pub(crate) fn progress(&self, rank: u32) -> Arc<Progress> {
        Arc::clone(&self.progress[rank as usize])
    }
}

impl SharedPeers {
    pub(crate) fn take(&self) -> MutexGuard<'_, Peers> {
        // A client that panicked ends its process; until then the others go on with what there is.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress {
    fn starting_at(position: u64, datasets: u32) -> Self {
        let counts = || (0..datasets).map(|_| Counts::default()).collect();
        Self {
            position: AtomicU64::new(position),
            unknown: AtomicU64::new(0),
            in_own: counts(),
            in_shared: counts(),
        }
    }

    #[inline]
    pub(crate) fn set_position(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// An operation with this effect is about to be asked.
    #[inline]
    pub(crate) fn asked(&self, effect: Effect, place: Place, dataset: u32) {
        let counts = self.counts(place, dataset);
        match effect {
            Effect::None => {}
            Effect::Creates => count(&counts.creations_asked),
            Effect::Removes => count(&counts.removals_asked),
        }
    }

    /// An operation with this effect has succeeded.
    #[inline]
    pub(crate) fn done(&self, effect: Effect, place: Place, dataset: u32) {
        let counts = self.counts(place, dataset);
        match effect {
            Effect::None => {}
            Effect::Creates => count(&counts.creations_done),
            Effect::Removes => count(&counts.removals_done),
        }
    }

    /// A request failed for this reason: one that was cut off may have had its effect.
    #[cold]
    pub(crate) fn failed(&self, request: &Request, code: FailureCode) {
        let is_cut_off = matches!(code, FailureCode::DEADLINE | FailureCode::CUT);
        if is_cut_off && changes_objects(request.operation) {
            count(&self.unknown);
        }
    }

    #[inline]
    fn counts(&self, place: Place, dataset: u32) -> &Counts {
        match place {
            Place::Own => &self.in_own[dataset as usize],
            Place::Shared => &self.in_shared[dataset as usize],
        }
    }
}

const fn changes_objects(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Create
            | Operation::Delete
            | Operation::Rename
            | Operation::CallCreate
            | Operation::CallUnlink
            | Operation::CallRename
    )
}

/// A counter has one writer, so a plain load and store is enough; a locked addition would cost 20 times as much.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}
