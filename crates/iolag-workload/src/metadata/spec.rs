//! What a metadata workload answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{Access, Datasets, MetadataSpec, Operation, Pattern, Phase, WorkloadSpec};

use super::script::Scripts;
use super::stages::{datasets_of_all, objects_created, operations_per_client, phases};
use super::validation::validate;
use crate::{SpecError, Workload};

impl Workload for MetadataSpec {
    fn validate(&self, clients: u32) -> Result<(), SpecError> {
        validate(self, clients)
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        phases(self)
    }

    fn objects_needed(&self, clients: u32) -> u64 {
        objects_created(self, clients)
    }

    fn object_bytes(&self) -> u64 {
        self.object_bytes
    }

    /// The working set is constant, but within an iteration a writer may be ahead of the client that removes by up to I objects.
    fn bytes_held(&self, clients: u32) -> u64 {
        let is_replacing = self.pattern != Pattern::Batch
            && self.access == Access::Replace
            && self.phases.contains(&Phase::Benchmark);
        let ahead = if is_replacing { self.objects } else { 0 };
        datasets_of_all(self, clients)
            .saturating_mul(self.precreated_objects.saturating_add(ahead))
            .saturating_mul(self.object_bytes)
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        phases(self).into_iter().flat_map(|(phase, _)| operations_of(self, phase)).collect()
    }

    fn with_datasets(&self, datasets: Datasets) -> Option<WorkloadSpec> {
        Some(WorkloadSpec::Metadata(Self { dataset_kind: datasets, ..self.clone() }))
    }

    fn samples_per_client(&self) -> Option<u64> {
        let others = phases(self).len() as u64 + 1;
        Some(operations_per_client(self).saturating_add(others))
    }

    fn samples_expected(&self, clients: u32) -> Option<u64> {
        if self.time_limit.is_some() {
            return None;
        }
        let datasets = datasets_of_all(self, clients);
        let per_object = (self.operations_needed().len().min(8) as u64 / 2).max(2);
        let set = datasets * self.precreated_objects;
        let work = datasets * self.objects * u64::from(self.iterations) * per_object;
        let in_phase = |phase: Phase, samples: u64| if self.phases.contains(&phase) { samples } else { 0 };
        Some(
            in_phase(Phase::Precreate, set)
                + in_phase(Phase::Benchmark, work)
                + in_phase(Phase::Cleanup, set),
        )
    }
}

fn operations_of(spec: &MetadataSpec, phase: Phase) -> Vec<Operation> {
    let scripts = Scripts::new(spec);
    let lines = |lines| Scripts::operations(lines).collect::<Vec<_>>();
    match phase {
        Phase::Precreate => [Vec::from_iter(scripts.make_directory), lines(&scripts.create)].concat(),
        Phase::Benchmark => lines(&scripts.replace),
        Phase::Cleanup => [lines(&scripts.remove), Vec::from_iter(scripts.remove_directory)].concat(),
        Phase::TreeCreate => Vec::from_iter(scripts.make_directory),
        Phase::BatchCreate => lines(&scripts.create),
        Phase::BatchStat => lines(&scripts.stat),
        Phase::BatchRead => lines(&scripts.read),
        Phase::BatchRemove => lines(&scripts.remove),
        Phase::TreeRemove => Vec::from_iter(scripts.remove_directory),
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Durability, Granularity, Think, Verification};

    fn spec(pattern: Pattern, phases: &[Phase]) -> MetadataSpec {
        MetadataSpec {
            pattern,
            granularity: Granularity::Operations,
            phases: phases.to_vec(),
            datasets: 3,
            precreated_objects: 5,
            objects: 2,
            iterations: 2,
            object_bytes: 10,
            offset: 1,
            think: Think::None,
            access: Access::Replace,
            time_limit: None,
            durability: Durability::Default,
            verification: Verification::Length,
            dataset_kind: Datasets::Made,
            connections: iolag_model::Connections::Reused,
        }
    }

    fn order(spec: MetadataSpec) -> Vec<(Phase, u32)> {
        let stages = spec.stages();
        let numbers: Vec<_> = stages.iter().map(|stage| usize::from(stage.stage.0)).collect();
        assert_eq!(numbers, (0..stages.len()).collect::<Vec<_>>());
        stages.iter().map(|stage| (stage.phase, stage.iteration)).collect()
    }

    const ALL: [Phase; 3] = [Phase::Cleanup, Phase::Precreate, Phase::Benchmark];

    #[test]
    fn stages_are_in_order_whatever_the_order_of_the_phases() {
        use Phase::{Benchmark, Cleanup, Precreate};
        assert_eq!(
            order(spec(Pattern::Code, &ALL)),
            [(Precreate, 0), (Benchmark, 0), (Benchmark, 1), (Cleanup, 0)]
        );
        assert_eq!(order(spec(Pattern::Paper, &[Cleanup])), [(Cleanup, 0)]);
    }

    #[test]
    fn a_batch_is_repeated_as_a_whole_or_in_its_middle() {
        use Phase::{BatchCreate, BatchRead, BatchRemove, BatchStat, Benchmark, TreeCreate, TreeRemove};
        let whole = [TreeCreate, BatchCreate, BatchStat, BatchRead, BatchRemove, TreeRemove];
        let expected: Vec<_> = (0..2).flat_map(|k| whole.map(|phase| (phase, k))).collect();
        assert_eq!(order(spec(Pattern::Batch, &ALL)), expected);
        assert_eq!(
            order(spec(Pattern::Batch, &[Phase::Precreate, Benchmark])),
            [
                (TreeCreate, 0),
                (BatchCreate, 0),
                (BatchStat, 0),
                (BatchRead, 0),
                (BatchStat, 1),
                (BatchRead, 1)
            ]
        );
    }

    #[test]
    fn totals_are_those_that_md_workbench_prints() {
        // D·(I·R + P)·N objects, N·D·P·S bytes of working set.
        let code = spec(Pattern::Code, &ALL);
        assert_eq!(code.objects_needed(4), 3 * (2 * 2 + 5) * 4);
        assert_eq!(code.bytes_needed(4), 3 * (2 * 2 + 5) * 4 * 10);
        assert_eq!(code.bytes_held(4), 4 * 3 * (5 + 2) * 10);
        let read_only = MetadataSpec { access: Access::ReadOnly, ..spec(Pattern::Code, &ALL) };
        assert_eq!(read_only.bytes_held(4), 4 * 3 * 5 * 10);
        let batch = spec(Pattern::Batch, &ALL);
        assert_eq!((batch.objects_needed(4), batch.bytes_held(4)), (2 * 3 * 5 * 4, 4 * 3 * 5 * 10));
    }

    #[test]
    fn no_client_records_more_than_its_bound() {
        let bound = |spec: MetadataSpec| spec.samples_per_client().unwrap();
        // 3 datasets made, 15 objects created, twice 6 objects replaced by 4 operations, 15 deleted, 3 datasets removed, 4 stages, a
        // session.
        assert!((84..=84 * 3).contains(&bound(spec(Pattern::Code, &ALL))));
        let calls = MetadataSpec { granularity: Granularity::Calls, ..spec(Pattern::Code, &ALL) };
        // A replaced object is eight calls, a created one three.
        assert!(bound(calls) > 3 + 15 * 3 + 12 * 8 + 15 + 3 + 4);
        // Twice: 3 made, 15 each created, seen, read and removed, 3 removed, 6 stages.
        assert!(bound(spec(Pattern::Batch, &ALL)) > 2 * (3 + 4 * 15 + 3 + 6));
        assert_eq!(
            bound(MetadataSpec { precreated_objects: u64::MAX, ..spec(Pattern::Code, &ALL) }),
            u64::MAX
        );
    }

    #[test]
    fn only_what_is_asked_is_needed_of_the_target() {
        use Operation::{Create, Delete, MakeDirectory, Read, RemoveDirectory, Stat};
        let needed = |spec: &MetadataSpec| Vec::from_iter(spec.operations_needed());
        let all = spec(Pattern::Code, &ALL);
        assert_eq!(needed(&all), [Create, Read, Stat, Delete, MakeDirectory, RemoveDirectory]);
        let read_only = MetadataSpec {
            access: Access::ReadOnly,
            granularity: Granularity::Calls,
            ..spec(Pattern::Code, &[Phase::Benchmark])
        };
        assert_eq!(
            needed(&read_only),
            [Operation::CallStat, Operation::CallOpen, Operation::CallRead, Operation::CallClose]
        );
    }
}
