//! What a copy of the set-up does in its measurer.

use iolag_backend::expecting_absence;
use iolag_model::{Durability, SetUpSpec, Verification};
use iolag_workload::{DriveEnd, SetUpClient, Workload};

use crate::bench::Benched;
use crate::bench::floor::Floor;
use crate::messages::MeasurerEnd;

impl Benched for SetUpSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--files, --directories or --file-size", "--files or --directories")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        self.objects_needed(clients)
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let copy = |rank| SetUpClient::new(self, rank, floor.spec.seed);
        let driven = floor.run_through(Durability::Default, Verification::Length, copy, expecting_absence)?;
        Ok((driven, MeasurerEnd::default()))
    }
}
