//! What every workload answers before it runs: whether it can, its stages, what it asks and what it writes.
//!
//! Each answers in its own folder.

use std::collections::BTreeSet;

use iolag_model::{
    Datasets, DeadlineRule, Nanoseconds, Operation, Phase, StageIndex, StageRecord, WorkloadSpec,
    whatever_workload,
};

use crate::SpecError;

/// The questions to a workload. Totals saturate.
pub trait Workload {
    /// Checks it before it runs with `clients` clients (directories, for a check).
    ///
    /// # Errors
    /// The first thing that is wrong, in the order of the fields.
    fn validate(&self, clients: u32) -> Result<(), SpecError>;

    /// What it does, in order, and in which iteration.
    fn phases(&self) -> Vec<(Phase, u32)>;

    /// Objects that a run creates in all, over `clients` clients (directories, for a check).
    fn objects_needed(&self, clients: u32) -> u64;

    /// Bytes of an object, or of the largest block of one.
    fn object_bytes(&self) -> u64;

    /// Bytes that a run writes in all, at most. For the announcement.
    fn bytes_needed(&self, clients: u32) -> u64 {
        self.objects_needed(clients).saturating_mul(self.object_bytes())
    }

    /// Bytes that the target must have room for at one time, at most. For the check against free space.
    fn bytes_held(&self, clients: u32) -> u64;

    /// The operations that a target must be able to execute, for [`iolag_backend::Capabilities::missing`]. Tasks are not among
    /// them: [`crate::TaskSession`] executes those.
    fn operations_needed(&self) -> BTreeSet<Operation>;

    /// How long operations may take of which the usual deadline says too little.
    fn deadlines(&self, _usual: Nanoseconds) -> Vec<DeadlineRule> {
        Vec::new()
    }

    /// Operations that a client has in flight at once, at most.
    fn lanes(&self) -> u32 {
        1
    }

    /// The same on a target whose datasets are so, where it makes any.
    fn with_datasets(&self, _datasets: Datasets) -> Option<WorkloadSpec> {
        None
    }

    /// The same with one operation at a time, each of which is waited for; `None` where nothing else is asked for.
    fn without_queue(&self) -> Option<WorkloadSpec> {
        None
    }

    /// Samples that one client records in all, at most: its operations, its stages and the opening of its session. `None` where
    /// only time ends it.
    fn samples_per_client(&self) -> Option<u64> {
        None
    }

    /// Samples that a run will record in all, about: for the time that is left. `None` where a clock ends it.
    fn samples_expected(&self, _clients: u32) -> Option<u64> {
        None
    }

    /// The stages of a run, numbered from 0. Samples point here, and all clients walk through the same list.
    fn stages(&self) -> Vec<StageRecord> {
        (0..)
            .zip(self.phases())
            .map(|(stage, (phase, iteration))| StageRecord { stage: StageIndex(stage), phase, iteration })
            .collect()
    }
}

/// The workload that a spec describes.
pub const fn workload(spec: &WorkloadSpec) -> &dyn Workload {
    whatever_workload!(spec, spec => spec)
}

/// No storage that serves a login node is slower.
const BYTES_PER_SECOND_MIN: u64 = 10 << 20;

/// How long it may take at most until so many bytes are moved, before that is called a hang.
pub const fn longest_for(bytes: u64) -> Nanoseconds {
    Nanoseconds::from_seconds(bytes / BYTES_PER_SECOND_MIN)
}

/// Phases with how often each came before.
pub(crate) fn numbered(phases: &[Phase]) -> impl Iterator<Item = (Phase, u32)> {
    let before = |place: usize, phase: Phase| phases[..place].iter().filter(|one| **one == phase).count();
    phases.iter().enumerate().map(move |(place, phase)| (*phase, before(place, *phase) as u32))
}
