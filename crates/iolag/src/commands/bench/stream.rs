//! `iolag bench stream`: large files, written and read block by block.

use iolag_conduct::{BenchOptions, ExitCode, Failure, become_keeper, plan_stream};

use crate::args::{Common, MetadataForm, Stream};
use crate::commands::bench::conducting::{conduct, limits, planned};
use crate::commands::{store_of, typed};

/// Runs the command.
///
/// # Errors
/// If nothing can be measured.
pub fn run(options: &Stream, common: &Common) -> Result<ExitCode, Failure> {
    if options.bench.campaign.format == MetadataForm::MdWorkbench {
        return Err(Failure::usage(
            "--format md-workbench is for iolag bench metadata: choose text, csv or json",
        ));
    }
    let bench = planned(&options.places, &options.bench)?;
    let bench = BenchOptions { copy_to: options.copy_to, ..bench };
    let (spec, file) = (options.blocks.spec(), options.blocks.file_size());
    let campaign = plan_stream(bench, &spec, file, &options.block, &limits())?;
    let keeper = become_keeper(store_of(common), typed())?;
    conduct(campaign, &keeper, &options.bench.campaign, common)
}
