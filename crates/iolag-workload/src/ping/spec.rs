//! What a ping answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{Nanoseconds, Operation, Phase, PingProbe, PingSpec};

use super::probe_session::{PROBED, PROBED_BY_NAME};
use crate::spec_error::{SpecError, within};
use crate::workload::Workload;

/// The most probes: those that are not sent have numbers of their own in the upper half of the operations'.
const PROBES_MAX: u64 = 1 << 38;
/// The shortest interval between probes.
const EVERY_MIN: Nanoseconds = Nanoseconds::from_milliseconds(1);
/// The longest interval in ns: a year.
const EVERY_NS_MAX: u64 = 366 * 86_400 * 1_000_000_000;

impl Workload for PingSpec {
    fn validate(&self, _clients: u32) -> Result<(), SpecError> {
        if self.every_ns < EVERY_MIN {
            return Err(SpecError::TooOften { every: self.every_ns, every_min: EVERY_MIN });
        }
        within("the interval in ns", self.every_ns.0, EVERY_NS_MAX, "give a shorter --every")?;
        within("the number of probes", self.count.unwrap_or(1), PROBES_MAX, "give a smaller --count")
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        vec![(Phase::Ping, 0)]
    }

    fn objects_needed(&self, _clients: u32) -> u64 {
        self.count.map_or(u64::MAX, |count| count.saturating_add(1))
    }

    /// What a task writes is its own affair.
    fn object_bytes(&self) -> u64 {
        match self.probe {
            PingProbe::Operations { object_bytes } => object_bytes,
            PingProbe::Object | PingProbe::Task { .. } => 0,
        }
    }

    /// The file that is read, and the one that is created and removed again.
    fn bytes_held(&self, _clients: u32) -> u64 {
        2 * self.object_bytes()
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        match self.probe {
            PingProbe::Task { .. } => BTreeSet::new(),
            PingProbe::Object => PROBED_BY_NAME.iter().copied().collect(),
            PingProbe::Operations { .. } => {
                [Operation::MakeDirectory, Operation::Delete].into_iter().chain(PROBED).collect()
            }
        }
    }
}
