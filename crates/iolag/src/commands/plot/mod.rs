//! `iolag plot`: a picture of runs or of a history for a paper.

mod asked;
mod of_history;
mod of_runs;

use iolag_conduct::{ExitCode, Failure};
use iolag_report::FigureSource;

use crate::args::{Common, Plot};
use crate::commands::history::access::refuse_option;
use crate::commands::plot::asked::Asked;
use crate::output;

/// Runs the command.
///
/// # Errors
/// If there is no such run or history, the figure cannot be drawn, or the file cannot be written.
pub fn run(options: &Plot, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "plot")?;
    let asked = Asked::of(options)?;
    match asked.source()? {
        FigureSource::Runs => {
            let run = asked.sources.first().copied().unwrap_or("last");
            refuse_option(options.given_of_history(), &format!("plot {}", asked.named(options)), run)?;
            of_runs::run(&asked, options, common)
        }
        FigureSource::History => {
            if let Some(option) = options.given_of_runs() {
                return Err(Failure::usage(format!(
                    "{option} is for runs: of a history --tasks and --targets choose what is drawn"
                )));
            }
            of_history::run(&asked, options, common)
        }
    }
}
