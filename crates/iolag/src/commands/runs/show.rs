//! `iolag show`: the result of a stored run, computed again from its samples.

use iolag_analysis::figure::{Figures, RunFigures};
use iolag_analysis::{RunAnalysis, Summaries};
use iolag_conduct::{ExitCode, Failure, analyse_stored, summarise, summarise_with_figures};
use iolag_model::{Nanoseconds, RunRecord, WorkloadSpec};
use iolag_report::{
    FigureSelection, TerminalSize, run_text, show_head, terminal_ecdf, terminal_time_line, write_csv,
    write_json, write_md_workbench,
};
use iolag_store::{KeeperIdentity, RunDirectory, recover_one, recover_run};

use crate::args::{Common, HISTORY, MetadataForm, Show};
use crate::commands::runs::figures::one_series_each;
use crate::commands::{Located, trace};
use crate::look::Look;
use crate::output::{self, Printed};

/// Runs the command.
///
/// # Errors
/// If there is no such run, or it cannot be read.
pub fn run(options: &Show, common: &Common) -> Result<ExitCode, Failure> {
    if options.run == HISTORY {
        if options.judge.is_some() {
            return Err(Failure::usage("--judge is for runs of iolag bench setup, not for a history"));
        }
        return crate::commands::history::show::run(options, common);
    }
    let given = options.span.given().or(options.method.given());
    crate::commands::history::access::refuse_option(given, "show", &options.run)?;
    let located = Located::of(common)?;
    // The terminal is this process's; children have none.
    let look = Look::of_terminal(common).in_full(options.full);
    output::with_store(&located.root, common, || {
        if let Some(path) = trace::file::meant(&options.run) {
            refuse_of_trace(options)?;
            return trace::file::printed(&path, options.format, common, look);
        }
        let (run, mut record) = open(&located, &options.run)?;
        if record.spec.workload.trace().is_some() {
            refuse_of_trace(options)?;
        }
        if let Some(limit) = options.judge {
            judge_by(limit, &mut record)?;
        }
        let (summaries, figures) = if options.plot {
            let read = summarise_with_figures(&run, &record, &one_series_each());
            let (summaries, figures) = read.map_err(Failure::unusable)?;
            (summaries, Some(figures))
        } else {
            (summarise(&run, &record).map_err(Failure::unusable)?, None)
        };
        let analysis = analyse_stored(&run, &record, &summaries).map_err(Failure::unusable)?;
        let document = match common.json {
            Some(_) => Some(String::from_utf8(json(&record, &analysis)?).map_err(Failure::bug)?),
            None => None,
        };
        let mut text = rendered(&record, &summaries, &analysis, options.format, look)?;
        // These forms have no place for what is to be known besides.
        let is_bare = matches!(options.format, MetadataForm::Csv | MetadataForm::MdWorkbench);
        let unknown = summaries.unknown.trust().into_iter().filter(|_| is_bare);
        let complaints = unknown.map(|trust| format!("{}: {}", trust.doubt, trust.advice)).collect();
        if let Some(figures) = figures {
            text.push_str(&terminal_figures(figures, look));
        }
        Ok(Printed { text, document, complaints, ..Printed::default() })
    })
}

/// A trace has calls and no samples.
fn refuse_of_trace(options: &Show) -> Result<(), Failure> {
    let asked = match options.format {
        _ if options.judge.is_some() => "--judge",
        _ if options.plot => "--plot",
        MetadataForm::Csv => "--format csv",
        MetadataForm::MdWorkbench => "--format md-workbench",
        MetadataForm::Text | MetadataForm::Json => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{asked} is for runs that were measured, and a trace has calls and no samples: iolag report {0} explains it, iolag export {0} writes the calls",
        options.run
    )))
}

/// From now on the copies of this set-up are judged by this limit, whichever it had; what was measured stays as it is.
fn judge_by(limit: Nanoseconds, record: &mut RunRecord) -> Result<(), Failure> {
    let WorkloadSpec::SetUp(spec) = &mut record.spec.workload else {
        return Err(Failure::usage(format!(
            "--judge is for runs of iolag bench setup; {} is a {}",
            record.id,
            record.spec.workload.name()
        )));
    };
    spec.judge_ns = Some(limit);
    Ok(())
}

/// ECDF and time line in braille.
fn terminal_figures(figures: RunFigures, look: Look) -> String {
    let figures = Figures::new(vec![figures], Vec::new());
    let size = TerminalSize { columns: look.width, ..TerminalSize::USUAL };
    let selection = FigureSelection::default();
    let ecdf = terminal_ecdf(&figures, &selection, size, look.colour);
    let time_line = terminal_time_line(&figures, &selection, size, look.colour);
    format!("\n{ecdf}\n{time_line}")
}

/// Finds a run, in its final form.
///
/// # Errors
/// If there is none, more than one, or it cannot be read.
pub fn open(located: &Located, name: &str) -> Result<(RunDirectory, RunRecord), Failure> {
    let (store, mut run) = located.find(name)?;
    // A run that was not closed is brought into its final form; one that is being written is shown as far as it goes. The
    // store that the user means is in order; a path may lead into another one.
    match store {
        Some(store) => {
            recover_one(&store, run.id(), KeeperIdentity::is_alive);
            run = store.run(run.id()).map_err(Failure::unusable)?;
        }
        None => drop(recover_run(&run, KeeperIdentity::is_alive)),
    }
    let record = run.record().map_err(Failure::unusable)?;
    Ok((run, record))
}

/// Finds a run that has samples, in its final form.
///
/// # Errors
/// If there is none, more than one, it cannot be read, or it is a trace: then nothing was measured of which there is a `what`.
pub fn open_measured(
    located: &Located,
    name: &str,
    what: &str,
) -> Result<(RunDirectory, RunRecord), Failure> {
    let (run, record) = open(located, name)?;
    match record.spec.workload.trace() {
        None => Ok((run, record)),
        Some(_) => Err(Failure::usage(format!(
            "run {0} is a trace, of which there is no {what}: iolag show {0} tells what was asked, and iolag export {0} writes the calls",
            record.id
        ))),
    }
}

/// The JSON document of a run.
///
/// # Errors
/// If it cannot be serialised, which is a bug.
pub fn json(record: &RunRecord, analysis: &RunAnalysis) -> Result<Vec<u8>, Failure> {
    let mut document = Vec::new();
    write_json(record, analysis, &mut document).map_err(Failure::bug)?;
    Ok(document)
}

/// A run in the form that the user wants.
///
/// # Errors
/// If the form does not suit the workload.
pub fn rendered(
    record: &RunRecord,
    summaries: &Summaries,
    analysis: &RunAnalysis,
    form: MetadataForm,
    Look { width, colour, rows }: Look,
) -> Result<String, Failure> {
    let mut document = Vec::new();
    match (form, analysis) {
        (MetadataForm::Json, _) => document = json(record, analysis)?,
        (MetadataForm::Csv, _) => {
            write_csv(record, &summaries.summaries, &mut document).map_err(Failure::bug)?;
        }
        // What to change stands first, which run it was last.
        (MetadataForm::Text, RunAnalysis::Trace(_)) => {
            return Ok(run_text(analysis, rows, width, colour) + "\n" + &show_head(record, colour));
        }
        (MetadataForm::Text, analysis) => {
            return Ok(show_head(record, colour) + "\n" + &run_text(analysis, rows, width, colour));
        }
        (MetadataForm::MdWorkbench, RunAnalysis::Metadata(analysis)) => {
            write_md_workbench(record, &analysis.stages, None, &mut document).map_err(Failure::bug)?;
        }
        (MetadataForm::MdWorkbench, _) => {
            return Err(Failure::usage(format!(
                "--format md-workbench is for runs of iolag bench metadata; this is a {}",
                record.spec.workload.name()
            )));
        }
    }
    String::from_utf8(document).map_err(Failure::bug)
}
