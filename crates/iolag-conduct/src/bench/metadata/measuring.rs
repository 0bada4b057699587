//! What a metadata run does in its measurer.

use std::sync::Arc;

use iolag_backend::Backend;
use iolag_model::{MetadataSpec, Pattern, Phase, RunRecord, RunSpec};
use iolag_workload::{Accounting, BatchClient, DriveEnd, MetadataClient};

use crate::bench::Benched;
use crate::bench::floor::Floor;
use crate::bench::metadata::continuing::positions_after;
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

    fn positions_after(&self, before: &RunRecord, spec: &RunSpec) -> Result<Vec<u64>, Failure> {
        positions_after(self, before, spec)
    }

    /// Where the working set stays it is counted. When the cleanup phase has run, removing every dataset was the check: a
    /// directory with one object more cannot be removed, and one object less is an error of a delete.
    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let clients = floor.exchange.clients();
        let accounting =
            Accounting::new(self, clients, floor.positions).map_err(|error| error.to_string())?;
        let stages = || Arc::clone(floor.stages);
        let (durability, verification) = (self.durability, self.verification);
        let driven = match self.pattern {
            Pattern::Batch => floor
                .run(durability, verification, |rank| BatchClient::new(self, rank, stages(), &accounting)),
            Pattern::Code | Pattern::Paper => floor
                .run(durability, verification, |rank| MetadataClient::new(self, rank, stages(), &accounting)),
        }?;
        let mut end = MeasurerEnd { positions: accounting.positions(), ..MeasurerEnd::default() };
        if driven != DriveEnd::Stopped && !self.removes_working_set() {
            for rank in 0..clients {
                for dataset in 0..self.datasets {
                    count(floor.backend, &accounting, rank, dataset, &mut end);
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
        Err(error) => Some(error.to_string()),
    };
    end.datasets_counted += 1;
    end.working_set_faults.extend(fault);
}
