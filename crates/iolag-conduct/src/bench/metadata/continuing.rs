//! Going on with the working set of an earlier metadata run.

use iolag_model::{MetadataSpec, RunRecord, RunSpec, Verification};
use iolag_workload::validate_positions;

use crate::failure::Failure;

/// Where the run before left its clients, if it was the same.
pub(super) fn positions_after(
    metadata: &MetadataSpec,
    before: &RunRecord,
    spec: &RunSpec,
) -> Result<Vec<u64>, Failure> {
    let Some(made) = before.spec.workload.metadata() else {
        let place =
            before.targets.first().and_then(|target| target.working_place.as_deref()).unwrap_or_default();
        return Err(Failure::unusable(format!(
            "run {} in the working directory {} of this target was no metadata run",
            before.id,
            place.rsplit('/').next().unwrap_or_default()
        )));
    };
    refuse_other(before, made, metadata, spec)?;
    if before.positions.is_empty() {
        return Err(Failure::unusable(format!(
            "run {} ended without saying how far its clients got; remove its working set with: iolag cleanup {}",
            before.id, before.id
        )));
    }
    validate_positions(metadata, spec.clients, &before.positions).map_err(Failure::usage)?;
    Ok(before.positions.clone())
}

fn refuse_other(
    before: &RunRecord,
    made: &MetadataSpec,
    metadata: &MetadataSpec,
    spec: &RunSpec,
) -> Result<(), Failure> {
    let same = made.datasets == metadata.datasets
        && made.precreated_objects == metadata.precreated_objects
        && made.object_bytes == metadata.object_bytes
        && made.offset == metadata.offset
        && before.spec.clients == spec.clients
        // Who has emptied which dataset depends on the pattern.
        && (made.pattern == metadata.pattern || before.positions.iter().all(|position| *position == 0));
    if !same {
        return Err(Failure::usage(format!(
            "the working set was made by run {} with --clients {} --datasets {} --precreate {} --object-size {} --offset {} --pattern {}; give the same",
            before.id,
            before.spec.clients,
            made.datasets,
            made.precreated_objects,
            made.object_bytes,
            made.offset,
            made.pattern
        )));
    }
    let is_verifiable = made.verification == Verification::Content && before.spec.seed == spec.seed;
    if metadata.verification == Verification::Content && !is_verifiable {
        return Err(Failure::usage(format!(
            "run {} wrote the working set without --verify or with another --seed, so its content cannot be compared; leave out \
             --verify, or precreate again with the same --verify and --seed {}",
            before.id, spec.seed
        )));
    }
    Ok(())
}
