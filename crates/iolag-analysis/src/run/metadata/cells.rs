//! What of a metadata run is compared: its operations, in the phases that work on objects.

use iolag_model::{
    Access, Durability, Granularity, MetadataSpec, Operation, Phase, StageRecord, TargetIndex,
};

use crate::run::values::{Cell, CellStages, Pace};

/// The cells of these stages, planned or done. An operation of the benchmark phase, or of mdtest's school, is a cell by its own name, so
/// that the one can stand beside the other; making and removing the working set are cells of their phases.
pub(super) fn cells(spec: &MetadataSpec, stages: &[StageRecord]) -> Vec<CellStages> {
    let mut cells: Vec<CellStages> = Vec::new();
    for stage in stages {
        let phase = Some(stage.phase).filter(|phase| matches!(phase, Phase::Precreate | Phase::Cleanup));
        for operation in operations_of(spec, stage.phase) {
            let cell = Cell { operation, phase };
            match cells.iter_mut().find(|known| known.cell == cell) {
                Some(known) => known.stages.push(stage.stage),
                None => cells.push(CellStages {
                    cell,
                    target: TargetIndex(0),
                    stages: vec![stage.stage],
                    pace: pace(operation, stage.phase, spec.access),
                }),
            }
        }
    }
    cells
}

/// Operations that take turns are as many in as much time: the one that ends the turn of an object counts it.
fn pace(operation: Operation, phase: Phase, access: Access) -> Pace {
    use Operation::{
        CallCreate, CallMkdir, CallOpen, CallRmdir, CallStat, CallUnlink, Create, Delete, MakeDirectory,
        Read, RemoveDirectory, Stat,
    };
    let sets_it = match operation {
        Create | CallCreate => true,
        Read | CallOpen => phase == Phase::BatchRead || access == Access::ReadOnly,
        Delete | CallUnlink => matches!(phase, Phase::BatchRemove | Phase::Cleanup),
        Stat | CallStat => phase == Phase::BatchStat,
        MakeDirectory | CallMkdir => phase == Phase::TreeCreate,
        RemoveDirectory | CallRmdir => phase == Phase::TreeRemove,
        _ => false,
    };
    if sets_it { Pace::Sets } else { Pace::Follows }
}

/// What is done in a phase, as the workload's script has it.
fn operations_of(spec: &MetadataSpec, phase: Phase) -> Vec<Operation> {
    use Operation::{
        CallClose, CallCloseWritten, CallCreate, CallFsync, CallMkdir, CallOpen, CallRead, CallRmdir,
        CallStat, CallUnlink, CallWrite, Create, Delete, MakeDirectory, Read, RemoveDirectory, Stat,
    };
    let one = |operation: Operation, calls: &[Operation]| match spec.granularity {
        Granularity::Operations => vec![operation],
        Granularity::Calls => calls.to_vec(),
    };
    let create = || {
        let mut calls = vec![CallCreate, CallWrite, CallFsync, CallCloseWritten];
        calls.retain(|call| *call != CallFsync || spec.durability == Durability::Fsync);
        one(Create, &calls)
    };
    let (stat, read) = (|| one(Stat, &[CallStat]), || one(Read, &[CallOpen, CallRead, CallClose]));
    let remove = || one(Delete, &[CallUnlink]);
    let (make, unmake) = (|| one(MakeDirectory, &[CallMkdir]), || one(RemoveDirectory, &[CallRmdir]));
    match (phase, spec.access) {
        (Phase::Precreate, _) => [make(), create()].concat(),
        (Phase::Benchmark, Access::Replace) => [stat(), read(), remove(), create()].concat(),
        (Phase::Benchmark, Access::ReadOnly) => [stat(), read()].concat(),
        (Phase::Cleanup, _) => [remove(), unmake()].concat(),
        (Phase::TreeCreate, _) => make(),
        (Phase::BatchCreate, _) => create(),
        (Phase::BatchStat, _) => stat(),
        (Phase::BatchRead, _) => read(),
        (Phase::BatchRemove, _) => remove(),
        (Phase::TreeRemove, _) => unmake(),
        _ => Vec::new(),
    }
}
