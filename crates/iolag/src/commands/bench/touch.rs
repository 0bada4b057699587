//! `iolag bench touch`: create a file and remove it, again and again.

use std::collections::BTreeMap;

use clap::Args;
use iolag_conduct::{ExitCode, Failure, plan_bench};
use iolag_model::{TouchSpec, WorkloadSpec, parse_count};
use iolag_workload::Workload;

use crate::args::{BenchArguments, BenchPlaces, Common};
use crate::commands::bench::conducting::{conduct, limits, planned};

/// `iolag bench touch`.
#[derive(Debug, Args)]
pub struct Touch {
    #[command(flatten)]
    pub places: BenchPlaces,
    /// Files that each client creates and removes
    #[arg(long, value_name = "COUNT", default_value = "1000", allow_hyphen_values = true, value_parser = parse_count)]
    pub files: u64,
    #[command(flatten)]
    pub bench: BenchArguments,
}

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Touch, common: &Common) -> Result<ExitCode, Failure> {
    let workload = |(): &(), clients| {
        let spec = TouchSpec { files: options.files };
        spec.validate(clients).map_err(|error| error.to_string())?;
        Ok(WorkloadSpec::Touch(spec))
    };
    let bench = planned(&options.places, &options.bench)?;
    conduct(plan_bench(bench, &[(BTreeMap::new(), ())], workload, &limits())?, &options.bench, common)
}
