//! `iolag bench metadata`: the workload of md-workbench.

use iolag_conduct::{ExitCode, Failure, become_keeper, plan_metadata};

use crate::args::{Common, Metadata};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, trust, typed};

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Metadata, common: &Common) -> Result<ExitCode, Failure> {
    let mut bench = planned(&options.places, &options.bench)?;
    trust(bench.sides.iter_mut().map(|side| &mut side.target), options.ca_file.as_deref())?;
    let campaign = plan_metadata(bench, &options.workload(), &limits())?;
    let keeper = become_keeper(store_of(common), typed())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use iolag_conduct::{BenchOptions, Side};
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
