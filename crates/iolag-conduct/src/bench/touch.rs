//! What a touch does in its measurer.

use iolag_model::{Durability, TouchSpec, Verification};
use iolag_workload::{DriveEnd, TouchClient};

use crate::bench::Benched;
use crate::bench::floor::Floor;
use crate::messages::MeasurerEnd;

impl Benched for TouchSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--files", "--clients")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        u64::from(clients)
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let client = |rank| TouchClient::new(self, rank);
        let driven = floor.run(Durability::Default, Verification::Length, client)?;
        Ok((driven, MeasurerEnd::default()))
    }
}
