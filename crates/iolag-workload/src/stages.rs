//! The stages of a run in order, and what a run will ask and write. All clients walk through the same list.

use std::collections::BTreeSet;

use iolag_model::{
    Access, Granularity, MetadataSpec, Operation, Pattern, Phase, PingProbe, PingSpec, StageIndex,
    StageRecord, WorkloadSpec,
};

use crate::check::unit;
use crate::metadata::script::Scripts;
use crate::ping::probe_session::PROBED;

/// The most rounds of a check: a quick target ends before its budget.
pub const ROUNDS_MAX: u32 = 75;

/// The stages of a run, numbered from 0. Samples point here.
///
/// Patterns code and paper: precreate once, benchmark R times, cleanup once, each if selected. Pattern batch: the phases
/// stand for two stages each (tree-create and batch-create; batch-stat and batch-read; batch-remove and tree-remove); if all
/// three are selected the whole is repeated R times, else only the middle. A check is one
/// stage: its directories meet nobody; so is a ping.
pub fn stages(spec: &WorkloadSpec) -> Vec<StageRecord> {
    let phases = match spec {
        WorkloadSpec::Check(_) => vec![(Phase::Check, 0)],
        WorkloadSpec::Ping(_) => vec![(Phase::Ping, 0)],
        WorkloadSpec::Metadata(spec) if spec.pattern == Pattern::Batch => batch_phases(spec),
        WorkloadSpec::Metadata(spec) => replacing_phases(spec),
    };
    (0..)
        .zip(phases)
        .map(|(stage, (phase, iteration))| StageRecord { stage: StageIndex(stage), phase, iteration })
        .collect()
}

/// Objects that a run creates in all, over `clients` clients (directories, for a check). Saturates.
pub fn objects_needed(spec: &WorkloadSpec, clients: u32) -> u64 {
    match spec {
        WorkloadSpec::Check(spec) => unit::objects_per_round(spec)
            .saturating_mul(u64::from(clients))
            .saturating_mul(u64::from(ROUNDS_MAX)),
        WorkloadSpec::Metadata(spec) => metadata_objects_created(spec, clients),
        WorkloadSpec::Ping(spec) => spec.count.map_or(u64::MAX, |count| count.saturating_add(1)),
    }
}

/// Bytes that a run writes in all, at most. For the announcement. Saturates.
pub fn bytes_needed(spec: &WorkloadSpec, clients: u32) -> u64 {
    match spec {
        WorkloadSpec::Check(spec) => unit::bytes_to_write(spec, clients),
        WorkloadSpec::Metadata(spec) => {
            metadata_objects_created(spec, clients).saturating_mul(spec.object_bytes)
        }
        WorkloadSpec::Ping(ping) => objects_needed(spec, clients).saturating_mul(ping_object_bytes(ping)),
    }
}

/// Bytes that the target must have room for at one time, at most. For the check against free space. Saturates.
///
/// The working set is constant, but within an iteration a writer may be ahead of the client that removes by up to I objects.
pub fn bytes_held(spec: &WorkloadSpec, clients: u32) -> u64 {
    match spec {
        WorkloadSpec::Check(spec) => unit::bytes_held(spec).saturating_mul(u64::from(clients)),
        // The file that is read, and the one that is created and removed again.
        WorkloadSpec::Ping(ping) => 2 * ping_object_bytes(ping),
        WorkloadSpec::Metadata(spec) => {
            let is_replacing = spec.pattern != Pattern::Batch
                && spec.access == Access::Replace
                && spec.phases.contains(&Phase::Benchmark);
            let ahead = if is_replacing { spec.objects } else { 0 };
            datasets_of_all(spec, clients)
                .saturating_mul(spec.precreated_objects.saturating_add(ahead))
                .saturating_mul(spec.object_bytes)
        }
    }
}

/// The operations that a target must be able to execute, for [`iolag_backend::Capabilities::missing`]. Tasks are not among
/// them: [`crate::TaskSession`] executes those.
pub fn operations_needed(spec: &WorkloadSpec) -> Vec<Operation> {
    let operations: BTreeSet<_> = match spec {
        WorkloadSpec::Check(_) => unit::operations().collect(),
        WorkloadSpec::Ping(PingSpec { probe: PingProbe::Task { .. }, .. }) => BTreeSet::new(),
        WorkloadSpec::Ping(_) => {
            [Operation::MakeDirectory, Operation::Delete].into_iter().chain(PROBED).collect()
        }
        WorkloadSpec::Metadata(spec) => {
            let stages = stages(&WorkloadSpec::Metadata(spec.clone()));
            stages.iter().flat_map(|stage| operations_of(spec, stage.phase)).collect()
        }
    };
    operations.into_iter().collect()
}

/// Samples that one client records in all, at most: its operations, its stages and the opening of its session. `None` where
/// only time ends it. Saturates.
pub fn samples_per_client(spec: &WorkloadSpec) -> Option<u64> {
    match spec {
        WorkloadSpec::Check(_) | WorkloadSpec::Ping(_) => None,
        WorkloadSpec::Metadata(metadata) => {
            let others = stages(spec).len() as u64 + 1;
            Some(metadata_operations_per_client(metadata).saturating_add(others))
        }
    }
}

/// Samples that a run will record in all, about: for the time that is left. `None` where a clock ends it.
pub fn samples_expected(spec: &WorkloadSpec, clients: u32) -> Option<u64> {
    let WorkloadSpec::Metadata(metadata) = spec else { return None };
    if metadata.time_limit.is_some() {
        return None;
    }
    let datasets = datasets_of_all(metadata, clients);
    let per_object = (operations_needed(spec).len().min(8) as u64 / 2).max(2);
    let set = datasets * metadata.precreated_objects;
    let work = datasets * metadata.objects * u64::from(metadata.iterations) * per_object;
    let in_phase = |phase: Phase, samples: u64| if metadata.phases.contains(&phase) { samples } else { 0 };
    Some(in_phase(Phase::Precreate, set) + in_phase(Phase::Benchmark, work) + in_phase(Phase::Cleanup, set))
}

/// Objects that a metadata run creates in all: N·D·(P + R·I), as md-workbench prints it; only what the selected phases make.
pub(crate) fn metadata_objects_created(spec: &MetadataSpec, clients: u32) -> u64 {
    let per_dataset = phases_of(spec).iter().fold(0_u64, |sum, (phase, _)| {
        sum.saturating_add(match (phase, spec.access) {
            (Phase::Precreate | Phase::BatchCreate, _) => spec.precreated_objects,
            (Phase::Benchmark, Access::Replace) => spec.objects,
            _ => 0,
        })
    });
    datasets_of_all(spec, clients).saturating_mul(per_dataset)
}

/// Operations of one client in all, at most. Saturates.
pub(crate) fn metadata_operations_per_client(spec: &MetadataSpec) -> u64 {
    let per_object = match spec.granularity {
        Granularity::Operations => 4,
        Granularity::Calls => 9,
    };
    let per_dataset = phases_of(spec).iter().fold(0_u64, |sum, (phase, _)| {
        let objects = if *phase == Phase::Benchmark { spec.objects } else { spec.precreated_objects };
        sum.saturating_add(objects.saturating_mul(per_object).saturating_add(1))
    });
    u64::from(spec.datasets).saturating_mul(per_dataset)
}

fn phases_of(spec: &MetadataSpec) -> Vec<(Phase, u32)> {
    if spec.pattern == Pattern::Batch { batch_phases(spec) } else { replacing_phases(spec) }
}

fn replacing_phases(spec: &MetadataSpec) -> Vec<(Phase, u32)> {
    let selected = |phase, times| {
        let times = if spec.phases.contains(&phase) { times } else { 0 };
        (0..times).map(move |iteration| (phase, iteration))
    };
    selected(Phase::Precreate, 1)
        .chain(selected(Phase::Benchmark, spec.iterations))
        .chain(selected(Phase::Cleanup, 1))
        .collect()
}

/// The whole is repeated only if each repetition removes what it made.
fn batch_phases(spec: &MetadataSpec) -> Vec<(Phase, u32)> {
    let group = |phase: Phase, stages: [Phase; 2], iteration: u32| {
        let is_selected = spec.phases.contains(&phase);
        stages.into_iter().filter(move |_| is_selected).map(move |stage| (stage, iteration))
    };
    let make = |iteration| group(Phase::Precreate, [Phase::TreeCreate, Phase::BatchCreate], iteration);
    let access = |iteration| group(Phase::Benchmark, [Phase::BatchStat, Phase::BatchRead], iteration);
    let remove = |iteration| group(Phase::Cleanup, [Phase::BatchRemove, Phase::TreeRemove], iteration);
    let iterations = 0..spec.iterations;
    if spec.phases.contains(&Phase::Precreate) && spec.phases.contains(&Phase::Cleanup) {
        iterations.flat_map(|k| make(k).chain(access(k)).chain(remove(k))).collect()
    } else {
        make(0).chain(iterations.flat_map(access)).chain(remove(0)).collect()
    }
}

fn operations_of(spec: &MetadataSpec, phase: Phase) -> Vec<Operation> {
    let scripts = Scripts::new(spec);
    let lines = |lines| Scripts::operations(lines).collect::<Vec<_>>();
    match phase {
        Phase::Precreate => [vec![scripts.make_directory], lines(&scripts.create)].concat(),
        Phase::Benchmark => lines(&scripts.replace),
        Phase::Cleanup => [lines(&scripts.remove), vec![scripts.remove_directory]].concat(),
        Phase::TreeCreate => vec![scripts.make_directory],
        Phase::BatchCreate => lines(&scripts.create),
        Phase::BatchStat => lines(&scripts.stat),
        Phase::BatchRead => lines(&scripts.read),
        Phase::BatchRemove => lines(&scripts.remove),
        Phase::TreeRemove => vec![scripts.remove_directory],
        Phase::Check | Phase::Ping => vec![],
    }
}

/// What a task writes is its own affair.
const fn ping_object_bytes(spec: &PingSpec) -> u64 {
    match spec.probe {
        PingProbe::Operations { object_bytes } => object_bytes,
        PingProbe::Task { .. } => 0,
    }
}

fn datasets_of_all(spec: &MetadataSpec, clients: u32) -> u64 {
    u64::from(spec.datasets) * u64::from(clients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{CheckSpec, Durability, Nanoseconds, Think, Verification};

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
        }
    }

    fn order(spec: MetadataSpec) -> Vec<(Phase, u32)> {
        let stages = stages(&WorkloadSpec::Metadata(spec));
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
        let code = WorkloadSpec::Metadata(spec(Pattern::Code, &ALL));
        assert_eq!(objects_needed(&code, 4), 3 * (2 * 2 + 5) * 4);
        assert_eq!(bytes_needed(&code, 4), 3 * (2 * 2 + 5) * 4 * 10);
        assert_eq!(bytes_held(&code, 4), 4 * 3 * (5 + 2) * 10);
        let read_only = MetadataSpec { access: Access::ReadOnly, ..spec(Pattern::Code, &ALL) };
        assert_eq!(bytes_held(&WorkloadSpec::Metadata(read_only), 4), 4 * 3 * 5 * 10);
        let batch = WorkloadSpec::Metadata(spec(Pattern::Batch, &ALL));
        assert_eq!((objects_needed(&batch, 4), bytes_held(&batch, 4)), (2 * 3 * 5 * 4, 4 * 3 * 5 * 10));
    }

    #[test]
    fn no_client_records_more_than_its_bound() {
        let bound = |spec| samples_per_client(&WorkloadSpec::Metadata(spec)).unwrap();
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
        let all = WorkloadSpec::Metadata(spec(Pattern::Code, &ALL));
        assert_eq!(operations_needed(&all), [Create, Read, Stat, Delete, MakeDirectory, RemoveDirectory]);
        let read_only = MetadataSpec {
            access: Access::ReadOnly,
            granularity: Granularity::Calls,
            ..spec(Pattern::Code, &[Phase::Benchmark])
        };
        assert_eq!(
            operations_needed(&WorkloadSpec::Metadata(read_only)),
            [Operation::CallStat, Operation::CallOpen, Operation::CallRead, Operation::CallClose]
        );
    }

    #[test]
    fn a_check_is_one_stage_and_needs_more_than_tasks() {
        let check = WorkloadSpec::Check(CheckSpec {
            budget_ns: Nanoseconds::from_seconds(45),
            listed_files: 6,
            created_files: 500,
            stream_bytes: 1 << 20,
            block_bytes: 1 << 16,
            object_bytes: 3901,
            thresholds_ns: vec![],
            control: None,
        });
        let stages = stages(&check);
        assert_eq!((stages.len(), stages[0].phase), (1, Phase::Check));
        assert!(operations_needed(&check).contains(&Operation::CallReaddir));
        assert!(operations_needed(&check).iter().all(|operation| *operation < Operation::TaskList));
    }
}
