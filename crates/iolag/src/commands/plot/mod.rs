//! `iolag plot`: a figure of runs, of a history or of sides that are compared, for a paper.

mod asked;
mod of_history;
mod of_runs;
mod of_sides;

use iolag_conduct::{ExitCode, Failure};
use iolag_report::{FigureKind, FigureSource};

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
    if let (Some(option), true) = (options.asked.given(), asked.kind != FigureKind::Jobs) {
        return Err(Failure::usage(format!(
            "{option} is for jobs against copies: write `iolag plot {} RUN {option} …`",
            FigureKind::Jobs
        )));
    }
    match asked.source()? {
        FigureSource::Runs => {
            refuse_of_sides(options)?;
            let (given, named) = (options.given_of_history(), asked.named(options));
            if let (Some(option), Err(_)) = (given, asked.check(FigureSource::History)) {
                let sentence =
                    format!("{option} is for the history, of which there is no {named}: leave it out");
                return Err(Failure::usage(sentence));
            }
            refuse_option(given, &format!("plot {named}"), asked.sources.first().copied().unwrap_or("last"))?;
            of_runs::run(&asked, options, common)
        }
        FigureSource::History => {
            refuse_of_sides(options)?;
            if let Some(option) = options.given_of_runs() {
                return Err(Failure::usage(format!(
                    "{option} is for runs: of a history --tasks and --targets choose what is drawn"
                )));
            }
            of_history::run(&asked, options, common)
        }
        FigureSource::Sides => of_sides::run(&asked, options, common),
    }
}

fn refuse_of_sides(options: &Plot) -> Result<(), Failure> {
    match options.given_of_sides() {
        None => Ok(()),
        Some(option) => Err(Failure::usage(format!(
            "{option} is for sides that are compared: write `iolag plot compare SIDE… {option} …`"
        ))),
    }
}
