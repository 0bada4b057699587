//! A set-up: its campaign, and what a copy does in its measurer.

use std::collections::BTreeMap;
use std::sync::Arc;

use iolag_backend::expecting_absence;
use iolag_model::{SetUpSpec, WorkloadSpec};
use iolag_workload::{DriveEnd, ProcessorTimes, SetUpClient, Workload};

use crate::bench::Benched;
use crate::bench::campaign::Campaign;
use crate::bench::floor::{Floor, Sessions};
use crate::bench::options::{BenchOptions, Crew};
use crate::bench::plan::plan_bench;
use crate::environment::limits::Limits;
use crate::environment::processors::Processors;
use crate::failure::Failure;
use crate::messages::MeasurerEnd;

/// Plans the runs of a set-up; its clients are copies.
///
/// # Errors
/// As [`plan_bench`], and if the set-up cannot be.
pub fn plan_set_up(options: BenchOptions, spec: &SetUpSpec, limits: &Limits) -> Result<Campaign, Failure> {
    let spec = SetUpSpec { terms: options.with_payload(&spec.terms)?, ..spec.clone() };
    let workload = |(): &(), copies| {
        spec.validate(copies).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::SetUp(spec.clone()))
    };
    plan_bench(BenchOptions { crew: Crew::Copies, ..options }, &[(BTreeMap::new(), ())], workload, limits)
}

impl Benched for SetUpSpec {
    fn sizes(&self) -> (&'static str, &'static str) {
        ("--files, --directories or --file-size", "--files or --directories")
    }

    fn objects_held(&self, clients: u32) -> u64 {
        self.objects_needed(clients)
    }

    fn measure(&self, floor: &Floor<'_>) -> Result<(DriveEnd, MeasurerEnd), String> {
        let processors = ProcessorTimes::new(floor.stages.len(), Processors::Alone);
        let copy = |rank| SetUpClient::new(self, rank, floor.spec.seed, Arc::clone(&processors));
        let driven = floor.run(&Sessions { through: expecting_absence, ..Sessions::default() }, copy)?;
        Ok((driven, MeasurerEnd::default()))
    }
}
