//! What a check answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{CheckSpec, Operation, Phase};

use super::group::LIVES;
use super::unit::operations;
use crate::spec_error::{OBJECT_BYTES_MAX, SpecError, at_least_one, not_longer, object_not_longer, within};
use crate::tasks::CREATED_FILE_BYTES;
use crate::workload::Workload;

/// The most rounds of a check: a quick target ends before its budget.
pub const ROUNDS_MAX: u32 = 75;
/// Bytes that a compiler writes for a small program, at most.
const PROGRAM_BYTES_MAX: u64 = 4 << 20;

impl Workload for CheckSpec {
    fn validate(&self, directories: u32) -> Result<(), SpecError> {
        within("the number of directories", u64::from(directories), 1_000, "name fewer")?;
        within(
            "the budget in ns",
            self.budget_ns.0,
            366 * 86_400 * 1_000_000_000,
            "give a --budget of at most 366d",
        )?;
        within("the number of listed files", u64::from(self.listed_files), 100_000, "choose fewer")?;
        within("the number of created files", u64::from(self.created_files), 100_000, "choose fewer")?;
        at_least_one("the stream size in bytes", self.stream_bytes)?;
        at_least_one("the block size in bytes", self.block_bytes)?;
        not_longer("the block size", self.block_bytes, OBJECT_BYTES_MAX, "reduce --stream-size")?;
        not_longer("the stream size", self.stream_bytes, 1 << 40, "reduce --stream-size")?;
        object_not_longer(self.object_bytes)?;
        if self.block_bytes > self.stream_bytes {
            let (stream_bytes, block_bytes) = (self.stream_bytes, self.block_bytes);
            return Err(SpecError::BlockLongerThanStream { stream_bytes, block_bytes });
        }
        Ok(())
    }

    /// One stage: its directories meet nobody.
    fn phases(&self) -> Vec<(Phase, u32)> {
        vec![(Phase::Check, 0)]
    }

    fn objects_needed(&self, directories: u32) -> u64 {
        (u64::from(self.created_files) + u64::from(self.listed_files) + 2 * u64::from(LIVES) + 2)
            .saturating_mul(u64::from(directories))
            .saturating_mul(u64::from(ROUNDS_MAX))
    }

    fn object_bytes(&self) -> u64 {
        self.object_bytes
    }

    /// If the budget suffices for every round.
    fn bytes_needed(&self, directories: u32) -> u64 {
        // An object's life writes it three times as operations and once as calls.
        let objects = u64::from(LIVES) * 4 * self.object_bytes;
        let round = task_bytes(self).saturating_add(objects).saturating_add(self.stream_bytes);
        let listed = u64::from(self.listed_files) * self.object_bytes;
        round
            .saturating_mul(u64::from(ROUNDS_MAX))
            .saturating_add(listed)
            .saturating_mul(u64::from(directories))
    }

    fn bytes_held(&self, directories: u32) -> u64 {
        task_bytes(self)
            .saturating_add((u64::from(self.listed_files) + 2) * self.object_bytes)
            .saturating_add(self.stream_bytes)
            .saturating_mul(u64::from(directories))
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        operations().collect()
    }
}

/// What is written on servers in all, if the budget suffices for every round: no tasks, no stream, and of an object's life only its making.
pub fn check_bytes_of_servers(spec: &CheckSpec, servers: u32) -> u64 {
    (u64::from(servers) * u64::from(ROUNDS_MAX) * u64::from(LIVES)).saturating_mul(spec.object_bytes)
}

/// What the tasks write in one round, at most.
fn task_bytes(spec: &CheckSpec) -> u64 {
    u64::from(spec.created_files) * CREATED_FILE_BYTES + PROGRAM_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::Nanoseconds;

    fn spec() -> CheckSpec {
        CheckSpec {
            budget_ns: Nanoseconds::from_seconds(45),
            listed_files: 6,
            created_files: 500,
            stream_bytes: 1 << 20,
            block_bytes: 1 << 16,
            object_bytes: 3901,
            thresholds_ns: vec![],
            control: None,
        }
    }

    #[test]
    fn a_check_is_one_stage_and_needs_more_than_tasks() {
        let stages = spec().stages();
        assert_eq!((stages.len(), stages[0].phase), (1, Phase::Check));
        let needed = spec().operations_needed();
        assert!(needed.contains(&Operation::CallReaddir));
        assert!(needed.iter().all(|operation| *operation < Operation::TaskList));
    }

    #[test]
    fn a_check_needs_blocks_that_fit_its_stream() {
        assert_eq!(spec().validate(3), Ok(()));
        let refused = CheckSpec { block_bytes: 2 << 20, ..spec() }.validate(3);
        assert!(matches!(refused, Err(SpecError::BlockLongerThanStream { .. })));
        assert!(CheckSpec { budget_ns: Nanoseconds(0), ..spec() }.validate(1).is_err());
    }
}
