//! Benches: a campaign is planned, and its runs are conducted one after the other. Each workload measures in its own folder.

mod beside;
mod caches;
pub(crate) mod campaign;
pub(crate) mod compared;
pub(crate) mod conducting;
pub(crate) mod conductor;
mod continuing;
mod differing;
mod floor;
mod measurer;
pub(crate) mod metadata;
pub(crate) mod options;
mod order;
pub(crate) mod payload;
pub(crate) mod plan;
pub(crate) mod replay;
mod room;
pub(crate) mod set_up;
pub(crate) mod sides;
mod stopping;
pub(crate) mod stream;
pub(crate) mod tree;

use iolag_model::{RunRecord, RunSpec, Standpoint, WorkloadSpec};
use iolag_workload::{DriveEnd, Workload};

use crate::bench::floor::Floor;
use crate::failure::Failure;
use crate::messages::MeasurerEnd;

/// What a bench works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    /// A working place in the target, which iolag makes.
    WorkingPlace,
    /// What is there already, which is only read.
    Tree,
    /// What is there already, of which what a program asked for is only read.
    Named,
}

/// The questions to the workload of a bench.
trait Benched: Workload {
    /// The options that decide how much room it needs: in bytes, and in objects.
    fn sizes(&self) -> (&'static str, &'static str);

    /// Objects that are there at one time, at least.
    fn objects_held(&self, clients: u32) -> u64;

    /// What it works on.
    fn ground(&self) -> Ground {
        Ground::WorkingPlace
    }

    /// What caches are made cold of.
    fn ground_of_caches(&self) -> Ground {
        self.ground()
    }

    /// Where somebody may stand who measures beside it.
    fn standpoints(&self) -> &'static [Standpoint] {
        &[Standpoint::Sibling, Standpoint::Control]
    }

    /// Whether a run begins with an empty working place.
    fn makes_working_set(&self) -> bool {
        true
    }

    /// Whether a run removes the working set.
    fn removes_working_set(&self) -> bool {
        true
    }

    /// Whether nobody needs the working set any more when the first measurer has ended, so that it removes it; otherwise the keeper does.
    fn ends_together(&self) -> bool {
        true
    }

    /// Where the run before left each client of this one, which goes on with its working set.
    fn positions_after(&self, before: &RunRecord, _spec: &RunSpec) -> Result<Vec<u64>, Failure> {
        Ok(before.positions.clone())
    }

    /// Runs the clients to their ends, and says what it knows then.
    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String>;
}

/// The workload of a bench: the table of those that are one.
fn benched(spec: &WorkloadSpec) -> Result<&dyn Benched, Failure> {
    match spec {
        WorkloadSpec::Metadata(spec) => Ok(spec),
        WorkloadSpec::SetUp(spec) => Ok(spec),
        WorkloadSpec::Stream(spec) => Ok(spec),
        WorkloadSpec::Tree(spec) => Ok(spec),
        WorkloadSpec::Replay(spec) => Ok(spec),
        _ => Err(Failure::bug("a campaign is of benches")),
    }
}
