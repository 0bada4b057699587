//! The data behind pictures, from stored runs.

use std::io::Write;
use std::path::Path;

use iolag_analysis::figure::{
    Apart, FIGURE_COLUMNS, FigureChoice, FigureEngine, FigurePlan, Figures, RunFigures, SpanFinder, SweepRun,
    TimeSpan, sweep_figures,
};
use iolag_analysis::{RunAnalysis, analyse_run};
use iolag_conduct::{ExitCode, Failure, absolute, summarise};
use iolag_model::{Column, MonotonicTime, RunRecord, SampleColumns};
use iolag_report::{
    FigureForm, FigureKind, FigureSelection, FigureSize, TerminalSize, plot, terminal_time_line,
};
use iolag_store::{RunDirectory, Sink, StoreError};

use crate::args::Common;
use crate::guarded::{in_child, replace_by};
use crate::look::Look;
use crate::output;

/// A stored run with what was found out about it.
pub struct Pictured {
    /// The run.
    pub record: RunRecord,
    /// What was found out.
    pub analysis: RunAnalysis,
    /// What its pictures show.
    pub figures: RunFigures,
}

/// Reads a run once for its numbers and once for its pictures, which are of what is chosen.
///
/// # Errors
/// If a part cannot be read.
pub fn picture(run: &RunDirectory, record: RunRecord, choice: &FigureChoice) -> Result<Pictured, StoreError> {
    let summaries = summarise(run, &record)?;
    let analysis = analyse_run(&record, &summaries);
    let span = match TimeSpan::of_record(&record) {
        Some(span) => span,
        None => span_of_samples(run)?,
    };
    let make = || Drawing(FigureEngine::new(FigurePlan::new(&record, span).with_choice(choice.clone())));
    let mut engines = run.scan(FIGURE_COLUMNS, threads(), make)?.into_iter().map(|drawing| drawing.0);
    let mut all = engines.next().unwrap_or_else(|| make().0);
    engines.for_each(|engine| all.merge(engine));
    let figures = all.finish();
    Ok(Pictured { record, analysis, figures })
}

/// Pictures in which a colour is an operation, whatever the stage.
pub fn one_series_each() -> FigureChoice {
    FigureChoice { apart: Apart::Nothing, ..FigureChoice::default() }
}

/// The figures of several runs together, with sweeps where runs belong to one. The runs' own figures are taken out.
pub fn figures_of(runs: Vec<Pictured>) -> (Figures, Vec<(RunRecord, RunAnalysis)>) {
    let swept: Vec<_> = runs
        .iter()
        .filter_map(|run| match &run.analysis {
            RunAnalysis::Metadata(analysis) => Some(SweepRun { record: &run.record, analysis }),
            _ => None,
        })
        .collect();
    let sweeps = sweep_figures(&swept);
    let (figures, runs) = runs.into_iter().map(|run| (run.figures, (run.record, run.analysis))).unzip();
    (Figures::new(figures, sweeps), runs)
}

struct Drawing(FigureEngine);

impl Sink for Drawing {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }
}

struct Spanning(SpanFinder);

impl Sink for Spanning {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }
}

/// A run that was killed has no last anchor: its samples say how long it was.
fn span_of_samples(run: &RunDirectory) -> Result<TimeSpan, StoreError> {
    let finders =
        run.scan(&[Column::StartNs, Column::DurationNs], threads(), || Spanning(SpanFinder::default()))?;
    let mut all = SpanFinder::default();
    finders.into_iter().for_each(|finder| all.merge(finder.0));
    Ok(all.finish().unwrap_or(TimeSpan { begin: MonotonicTime(0), end: MonotonicTime(1) }))
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A ping's probes over time: at the terminal, or in a file. A child reads the run, since its store may hang.
///
/// # Errors
/// If the run cannot be read, or the file cannot be written.
pub fn plot_of(run: &Path, file: Option<&Path>, common: &Common) -> Result<(), Failure> {
    let look = Look::of_terminal(common);
    let file = file.map(absolute);
    let draw = || {
        let run = RunDirectory::open(run).map_err(Failure::unusable)?;
        let record = run.record().map_err(Failure::unusable)?;
        let (figures, _) =
            figures_of(vec![picture(&run, record, &one_series_each()).map_err(Failure::unusable)?]);
        let selection = FigureSelection::default();
        let Some(file) = &file else {
            let size = TerminalSize { columns: look.width, ..TerminalSize::USUAL };
            let drawn = terminal_time_line(&figures, &selection, size, look.colour);
            return output::print_result(&format!("\n{drawn}"));
        };
        let size = FigureSize::Millimetres { width: 160.0, height: 100.0 };
        let drawn =
            plot(FigureKind::TimeLine, &figures, &selection, size, form_of(file)?).map_err(Failure::usage)?;
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
