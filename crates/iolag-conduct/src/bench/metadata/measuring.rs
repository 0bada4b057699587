//! What a metadata run does in its measurer, and when it goes on with the working set of an earlier one.

use std::sync::Arc;

use iolag_backend::{Backend, BackendError, FullDataset};
use iolag_model::{ErrorClass, MetadataSpec, Pattern, Phase, RunRecord, RunSpec, Standpoint, Verification};
use iolag_workload::{Accounting, BatchClient, DriveEnd, MetadataClient, validate_positions};

use crate::bench::Benched;
use crate::bench::floor::{Floor, Sessions};
use crate::failure::Failure;
use crate::messages::MeasurerEnd;

impl Benched for MetadataSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--precreate, --datasets or --object-size", "--precreate or --datasets")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        u64::from(clients) * u64::from(self.datasets) * self.precreated_objects
    }

    fn makes_working_set(&self) -> bool {
        self.phases.contains(&Phase::Precreate)
    }

    fn removes_working_set(&self) -> bool {
        self.phases.contains(&Phase::Cleanup)
    }

    /// No object of it lasts.
    fn standpoints(&self) -> &'static [Standpoint] {
        &[Standpoint::Directory, Standpoint::Sibling, Standpoint::Control]
    }

    fn positions_after(&self, before: &RunRecord, spec: &RunSpec) -> Result<Vec<u64>, Failure> {
        let Some(made) = before.spec.workload.metadata() else {
            let place =
                before.targets.first().and_then(|target| target.working_place.as_deref()).unwrap_or_default();
            return Err(Failure::unusable(format!(
                "run {} in the working directory {} of this target was no metadata run",
                before.id,
                place.rsplit('/').next().unwrap_or_default()
            )));
        };
        refuse_other(before, made, self, spec)?;
        if before.positions.is_empty() {
            return Err(Failure::unusable(format!(
                "run {} ended without saying how far its clients got; remove its working set with: iolag cleanup {}",
                before.id, before.id
            )));
        }
        validate_positions(self, spec.clients, &before.positions).map_err(Failure::usage)?;
        Ok(before.positions.clone())
    }

    /// Where the working set stays it is counted. When the cleanup phase has run, removing every dataset was the check: a
    /// directory with one object more cannot be removed, and one object less is an error of a delete. Where that is no check it is counted,
    /// too; what is not there has nothing in it.
    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let clients = floor.spec.clients;
        let accounting =
            Accounting::new(self, clients, floor.positions).map_err(|error| error.to_string())?;
        let stages = || Arc::clone(floor.stages);
        let sessions = Sessions {
            durability: self.durability,
            verification: self.verification,
            connections: self.connections,
            ..Sessions::default()
        };
        let driven = match self.pattern {
            Pattern::Batch => {
                floor.run(&sessions, |rank| BatchClient::new(self, rank, stages(), &accounting))
            }
            Pattern::Code | Pattern::Paper => {
                floor.run(&sessions, |rank| MetadataClient::new(self, rank, stages(), &accounting))
            }
        }?;
        let mut end = MeasurerEnd {
            positions: accounting.positions(),
            unknown_objects: accounting.unknown_objects(),
            ..MeasurerEnd::default()
        };
        let is_checked = self.removes_working_set()
            && floor.backend.capabilities().semantics.full_dataset == FullDataset::Kept;
        if driven == DriveEnd::Finished && !is_checked {
            for rank in 0..clients {
                for dataset in 0..self.datasets {
                    count(floor.backend.as_ref(), &accounting, rank, dataset, &mut end);
                }
            }
        }
        Ok((driven, end))
    }
}

fn count(backend: &dyn Backend, accounting: &Accounting, rank: u32, dataset: u32, end: &mut MeasurerEnd) {
    let expected = accounting.expected_objects(rank, dataset);
    let fault = match backend.inventory(rank, dataset) {
        Ok(found) if found.foreign == 0 && expected.contains(&found.objects) => None,
        Ok(found) => Some(format!(
            "dataset {rank}_{dataset} holds {} objects and {} other things, expected {}",
            found.objects,
            found.foreign,
            expected.start()
        )),
        Err(BackendError::Failed { class: ErrorClass::NotFound, .. }) if *expected.start() == 0 => None,
        Err(error) => Some(error.to_string()),
    };
    end.datasets_counted += 1;
    end.faults.extend(fault);
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
