//! `iolag bench metadata`: the workload of md-workbench.

use std::path::Path;

use iolag_conduct::{ExitCode, Failure, Side, become_keeper, plan_metadata};

use crate::args::{Common, Metadata};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, typed};

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Metadata, common: &Common) -> Result<ExitCode, Failure> {
    let mut bench = planned(&options.places, &options.bench)?;
    if let Some(file) = &options.ca_file {
        bench.sides = trusting(bench.sides, file)?;
    }
    let campaign = plan_metadata(bench, &options.workload(), &limits())?;
    let keeper = become_keeper(store_of(common), typed())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}

/// The same servers, of which those in this file vouch for.
fn trusting(sides: Vec<Side>, authorities: &Path) -> Result<Vec<Side>, Failure> {
    let setting = [("ca-file".to_owned(), authorities.display().to_string())];
    let trusting = |side: Side| match side.target.is_server() {
        true => Ok(Side { target: side.target.with_settings(&setting), ..side }),
        false => Err(Failure::usage(format!("--ca-file is for servers, and {} is none", side.shown()))),
    };
    sides.into_iter().map(trusting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use iolag_conduct::BenchOptions;
    use iolag_workload::MetadataOptions;

    use crate::args::{Arguments, Command};
    use crate::commands::bench::Bench;

    #[test]
    fn what_is_not_said_on_the_command_line_is_what_a_plan_would_not_say() {
        let arguments = Arguments::try_parse_from(["iolag", "bench", "metadata", "memory:"]).unwrap();
        let Command::Bench { bench: Bench::Metadata(options) } = arguments.command else {
            panic!("it is a bench")
        };
        let sides = options.places.targets.iter().cloned().map(Side::from).collect();
        assert_eq!(
            planned(&options.places, &options.bench).unwrap(),
            BenchOptions { sides, ..BenchOptions::default() }
        );
        assert_eq!(options.workload(), MetadataOptions::default());
    }
}
