//! What a replay answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{DeadlineRule, Nanoseconds, Operation, Phase, ReplaySpec};

use crate::Workload;
use crate::payload::deadline;
use crate::spec_error::{SpecError, within};

/// A copy of more tasks than this is no program any more: each is a thread.
const TASKS_MAX: u64 = 1 << 15;
/// Tasks of all copies.
const CLIENTS_MAX: u64 = 1 << 16;

impl Workload for ReplaySpec {
    fn validate(&self, clients: u32) -> Result<(), SpecError> {
        let tasks = u64::from(self.tasks);
        within("the number of tasks of the program", tasks, TASKS_MAX, "trace a part of it")?;
        let all = tasks.saturating_mul(clients.into());
        within("the number of tasks of all copies", all, CLIENTS_MAX, "reduce --copies")
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        vec![(Phase::Benchmark, 0)]
    }

    fn objects_needed(&self, clients: u32) -> u64 {
        self.own.map_or(0, |own| own.files.saturating_mul(clients.into()))
    }

    fn object_bytes(&self) -> u64 {
        0
    }

    fn bytes_held(&self, clients: u32) -> u64 {
        self.own.map_or(0, |own| own.bytes.saturating_mul(clients.into()))
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        [Operation::CallStat, Operation::CallOpen, Operation::CallRead, Operation::CallClose].into()
    }

    /// What a task waits for in others takes as long as they do; what these ask has deadlines of its own.
    fn deadlines(&self, _usual: Nanoseconds) -> Vec<DeadlineRule> {
        let rule = |operation| DeadlineRule { role: None, operation, deadline_ns: Nanoseconds(u64::MAX) };
        let of_payload = self.terms.payload_command.iter().map(|_| deadline());
        std::iter::once(rule(Some(Operation::Edge))).chain(of_payload).collect()
    }

    fn samples_per_client(&self) -> Option<u64> {
        // Each item may have been waited for, and so may all others at the end; the stage, the opening, the processors and a payload are recorded, too.
        Some(self.items_max.saturating_mul(2).saturating_add(10))
    }

    fn samples_expected(&self, clients: u32) -> Option<u64> {
        Some(self.coverage.repeated.saturating_mul(clients.into()))
    }
}
