//! The data behind figures, from stored runs.

use std::io::Write;
use std::path::Path;

use iolag_analysis::figure::{Apart, FigureChoice, Figures, RunFigures, SweepRun, sweep_figures};
use iolag_analysis::{RunAnalysis, copies_figures};
use iolag_conduct::{ExitCode, Failure, absolute, analyse_stored, summarise_with_figures};
use iolag_model::RunRecord;
use iolag_report::{
    FigureForm, FigureKind, FigureSelection, FigureSize, TerminalSize, draw_figure, terminal_time_line,
};
use iolag_store::{RunDirectory, StoreError};

use crate::args::Common;
use crate::commands::runs::jobs::OfCopies;
use crate::guarded::{in_child, replace_by};
use crate::look::Look;
use crate::output;

/// A stored run with what was found out about it.
pub struct RunWithFigures {
    /// The run.
    pub record: RunRecord,
    /// What was found out.
    pub analysis: RunAnalysis,
    /// What its figures show.
    pub figures: RunFigures,
}

/// Reads a run for its numbers and for its figures, which are of what is chosen.
///
/// # Errors
/// If a part cannot be read.
pub fn with_figures(
    run: &RunDirectory,
    record: RunRecord,
    choice: &FigureChoice,
) -> Result<RunWithFigures, StoreError> {
    let (summaries, figures) = summarise_with_figures(run, &record, choice)?;
    let analysis = analyse_stored(run, &record, &summaries)?;
    Ok(RunWithFigures { record, analysis, figures })
}

/// Figures in which a colour is an operation, whatever the stage.
pub fn one_series_each() -> FigureChoice {
    FigureChoice { apart: Apart::Nothing, ..FigureChoice::default() }
}

/// The figures of several runs together, with sweeps where runs belong to one. The runs' own figures are taken out.
pub fn figures_of(runs: Vec<RunWithFigures>) -> (Figures, Vec<(RunRecord, RunAnalysis)>) {
    let swept: Vec<_> = runs
        .iter()
        .filter_map(|run| match &run.analysis {
            RunAnalysis::Metadata(analysis) => Some(SweepRun { record: &run.record, analysis }),
            _ => None,
        })
        .collect();
    let sweeps = sweep_figures(&swept);
    let copies = copies_figures(runs.iter().filter_map(|run| run.analysis.of_copies(&run.record)));
    let jobs = OfCopies::of(runs.iter().map(|run| (&run.record, &run.analysis))).advised;
    let (figures, runs) = runs.into_iter().map(|run| (run.figures, (run.record, run.analysis))).unzip();
    (Figures { copies, jobs, ..Figures::new(figures, sweeps) }, runs)
}

/// A ping's probes over time: at the terminal, or in a file. A child reads the run, since its store may hang.
///
/// # Errors
/// If the run cannot be read, or the file cannot be written.
pub fn draw_time_line(run: &Path, file: Option<&Path>, common: &Common) -> Result<(), Failure> {
    let look = Look::of_terminal(common);
    let file = file.map(absolute);
    let draw = || {
        let run = RunDirectory::open(run).map_err(Failure::unusable)?;
        let record = run.record().map_err(Failure::unusable)?;
        let (_, figures) =
            summarise_with_figures(&run, &record, &one_series_each()).map_err(Failure::unusable)?;
        let figures = Figures::new(vec![figures], Vec::new());
        let selection = FigureSelection::default();
        let Some(file) = &file else {
            let size = TerminalSize { columns: look.width, ..TerminalSize::USUAL };
            let drawn = terminal_time_line(&figures, &selection, size, look.colour);
            return output::print_result(&format!("\n{drawn}"));
        };
        let size = FigureSize::Millimetres { width: 160.0, height: 100.0 };
        let drawn = draw_figure(FigureKind::TimeLine, &figures, &selection, size, form_of(file)?)
            .map_err(Failure::usage)?;
        replace_by(file, "--plot", |file| file.write_all(&drawn))?;
        output::notice(common, &format!("the figure is in {}", file.display()));
        Ok(())
    };
    match in_child("plot", draw)? {
        ExitCode::Fine => Ok(()),
        code => Err(Failure { code, sentence: "there is no figure of this run".to_owned() }),
    }
}

/// The form of a figure by the name of its file.
///
/// # Errors
/// If it cannot be told from that.
pub fn form_of(path: &Path) -> Result<FigureForm, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(FigureForm::Svg),
        Some("png") => Ok(FigureForm::Png),
        _ => Err(Failure::usage(format!(
            "cannot tell the form of {} from its name: expected a name that ends in .svg (also for PDF) or .png",
            path.display()
        ))),
    }
}
