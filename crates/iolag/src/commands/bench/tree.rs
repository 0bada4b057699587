//! `iolag bench tree`: files that are there already, asked for and read.

use iolag_conduct::{ExitCode, Failure, become_keeper, plan_tree};

use crate::args::{Common, MetadataForm, Tree};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, typed};

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Tree, common: &Common) -> Result<ExitCode, Failure> {
    if options.bench.campaign.format == MetadataForm::MdWorkbench {
        return Err(Failure::usage(
            "--format md-workbench is for iolag bench metadata: choose text, csv or json",
        ));
    }
    let bench = planned(&options.places, &options.bench)?;
    let campaign = plan_tree(bench, &options.reading.spec(), &limits())?;
    let keeper = become_keeper(store_of(common), typed())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}
