//! What a tree answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{DeadlineRule, Nanoseconds, Operation, Phase, TreeSpec};

use crate::spec_error::SpecError;
use crate::workload::{Workload, numbered};

const PHASES: [Phase; 3] = [Phase::Stat, Phase::Sum, Phase::Combined];
/// How large a file or a directory is that is read is known only afterwards: 6 GiB at 10 MiB/s are no reason to call a storage hung.
const READING: Nanoseconds = Nanoseconds::from_seconds(600);

impl Workload for TreeSpec {
    fn validate(&self, _clients: u32) -> Result<(), SpecError> {
        if self.phases.is_empty() {
            return Err(SpecError::NoTreePhase);
        }
        match self.phases.iter().find(|phase| !PHASES.contains(phase)) {
            Some(phase) => Err(SpecError::NoPhaseOfTrees { phase: *phase }),
            None => Ok(()),
        }
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        std::iter::once((Phase::Walk, 0)).chain(numbered(&self.phases)).collect()
    }

    fn objects_needed(&self, _clients: u32) -> u64 {
        0
    }

    fn object_bytes(&self) -> u64 {
        0
    }

    fn bytes_held(&self, _clients: u32) -> u64 {
        0
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        BTreeSet::from([Operation::TreeList, Operation::TreeStat, Operation::TreeRead])
    }

    fn deadlines(&self, usual: Nanoseconds) -> Vec<DeadlineRule> {
        let deadline_ns = Nanoseconds(usual.0.saturating_add(READING.0));
        [Operation::TreeList, Operation::TreeRead]
            .map(|operation| DeadlineRule { role: None, operation: Some(operation), deadline_ns })
            .to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence_and_the_walk_comes_first() {
        let of = |phases: &[Phase]| TreeSpec { phases: phases.to_vec(), ..TreeSpec::default() };
        let refused = |phases: &[Phase]| of(phases).validate(1).unwrap_err().to_string();
        assert_eq!(TreeSpec::default().validate(4), Ok(()));
        assert!(refused(&[]).starts_with("no phase is selected"));
        assert_eq!(
            refused(&[Phase::Stat, Phase::Write]),
            "a tree has no phase write: choose of stat, sum, combined"
        );
        let phases = of(&[Phase::Sum, Phase::Stat, Phase::Sum]).phases();
        assert_eq!(phases, [(Phase::Walk, 0), (Phase::Sum, 0), (Phase::Stat, 0), (Phase::Sum, 1)]);
    }
}
