//! The stages of a metadata workload in order, and what all of them together come to.

use iolag_model::{Access, Granularity, MetadataSpec, Pattern, Phase};

/// Patterns code and paper: precreate once, benchmark R times, cleanup once, each if selected. Pattern batch: the phases
/// stand for two stages each (tree-create and batch-create; batch-stat and batch-read; batch-remove and tree-remove); if all
/// three are selected the whole is repeated R times, else only the middle.
pub(super) fn phases(spec: &MetadataSpec) -> Vec<(Phase, u32)> {
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
        let is_nothing =
            |stage| matches!(stage, Phase::TreeCreate | Phase::TreeRemove) && !spec.dataset_kind.are_made();
        let is_done = move |stage: &Phase| is_selected && !is_nothing(*stage);
        stages.into_iter().filter(is_done).map(move |stage| (stage, iteration))
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

/// Objects that a metadata run creates in all: N·D·(P + R·I), as md-workbench prints it; only what the selected phases make.
pub(super) fn objects_created(spec: &MetadataSpec, clients: u32) -> u64 {
    let per_dataset = phases(spec).iter().fold(0_u64, |sum, (phase, _)| {
        sum.saturating_add(match (phase, spec.access) {
            (Phase::Precreate | Phase::BatchCreate, _) => spec.precreated_objects,
            (Phase::Benchmark, Access::Replace) => spec.objects,
            _ => 0,
        })
    });
    datasets_of_all(spec, clients).saturating_mul(per_dataset)
}

/// Operations of one client in all, at most. Saturates.
pub(super) fn operations_per_client(spec: &MetadataSpec) -> u64 {
    let per_object = match spec.granularity {
        Granularity::Operations => 4,
        Granularity::Calls => 9,
    };
    let per_dataset = phases(spec).iter().fold(0_u64, |sum, (phase, _)| {
        let objects = if *phase == Phase::Benchmark { spec.objects } else { spec.precreated_objects };
        sum.saturating_add(objects.saturating_mul(per_object).saturating_add(1))
    });
    u64::from(spec.datasets).saturating_mul(per_dataset)
}

pub(super) fn datasets_of_all(spec: &MetadataSpec, clients: u32) -> u64 {
    u64::from(spec.datasets) * u64::from(clients)
}
