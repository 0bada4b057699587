//! `iolag show`: the result of a stored run, computed again from its samples.

use iolag_analysis::figure::{Figures, RunFigures};
use iolag_analysis::{RunAnalysis, Summaries};
use iolag_conduct::{ExitCode, Failure, analyse_stored, summarise, summarise_with_figures};
use iolag_model::{JobTerms, RunRecord};
use iolag_report::{
    FigureSelection, TerminalSize, meanings_text, run_text, show_head, terminal_ecdf, terminal_time_line,
    write_csv, write_json, write_md_workbench,
};

use crate::args::{Common, HISTORY, MetadataForm, Show};
use crate::commands::runs::figures::one_series_each;
use crate::commands::runs::jobs::{self, OfCopies, judge_by};
use crate::commands::runs::{campaign, opening};
use crate::commands::{Located, trace};
use crate::look::Look;
use crate::output::{self, Printed};

/// Runs the command.
///
/// # Errors
/// If there is no such run, or it cannot be read.
pub fn run(options: &Show, common: &Common) -> Result<ExitCode, Failure> {
    if options.run == HISTORY {
        if let Some(given) = options.asked.given() {
            return Err(Failure::usage(format!(
                "{given} is for runs of iolag bench setup, not for a history"
            )));
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
        if let Some(run) = campaign::meant(&options.run) {
            return campaign::shown(options, run, &located, common, look);
        }
        let (run, mut record) = opening::open(&located, &options.run)?;
        if record.spec.workload.trace().is_some() {
            refuse_of_trace(options)?;
        }
        judge_by(&options.asked, &mut record)?;
        let (of_copies, copies_complaints) = of_campaign(options, &record, &located)?;
        let (summaries, figures) = if options.plot {
            let read = summarise_with_figures(&run, &record, &one_series_each());
            let (summaries, figures) = read.map_err(Failure::unusable)?;
            (summaries, Some(figures))
        } else {
            (summarise(&run, &record).map_err(Failure::unusable)?, None)
        };
        let analysis = analyse_stored(&run, &record, &summaries).map_err(Failure::unusable)?;
        let document = match common.json {
            Some(_) => Some(with_documents(json(&record, &analysis)?, &of_copies)?),
            None => None,
        };
        let mut text = match options.format {
            MetadataForm::Json => with_documents(json(&record, &analysis)?, &of_copies)?,
            form => rendered(&record, &summaries, &analysis, form, look)?,
        };
        // These forms have no place for what is to be known besides.
        let is_bare = matches!(options.format, MetadataForm::Csv | MetadataForm::MdWorkbench);
        let unknown = summaries.unknown.trust().into_iter().filter(|_| is_bare);
        let unknown = unknown.map(|trust| format!("{}: {}", trust.doubt, trust.advice));
        let complaints = unknown.chain(copies_complaints).collect();
        if let Some(figures) = figures {
            text.push_str(&terminal_figures(figures, look));
        }
        if options.format == MetadataForm::Text {
            let together = of_copies.text(look);
            text.push_str(&if together.is_empty() { together } else { format!("\n{together}") });
        }
        Ok(Printed { text, document, complaints, ..Printed::default() })
    })
}

/// A trace has calls and no samples.
fn refuse_of_trace(options: &Show) -> Result<(), Failure> {
    let asked = match (options.asked.given(), options.format) {
        (Some(given), _) => given,
        _ if options.plot => "--plot",
        (None, MetadataForm::Csv) => "--format csv",
        (None, MetadataForm::MdWorkbench) => "--format md-workbench",
        (None, MetadataForm::Text | MetadataForm::Json) => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{asked} is for runs that were measured, and a trace has calls and no samples: iolag report {0} explains it, iolag export {0} writes the calls",
        options.run
    )))
}

/// What its campaign comes to, if a payload was said, now or then, with what is to be known of its other runs.
fn of_campaign(
    options: &Show,
    record: &RunRecord,
    located: &Located,
) -> Result<(OfCopies, Vec<String>), Failure> {
    let is_asked = |terms: &JobTerms| terms.has_payload() || options.asked.timeouts_at_most.is_some();
    match record.spec.workload.job_terms().is_some_and(is_asked) {
        true => OfCopies::of_campaign(located, &options.run, &options.asked.asked_again()?),
        false => Ok((OfCopies::default(), Vec::new())),
    }
}

/// The document of a run, and what its campaign comes to.
fn with_documents(of_run: Vec<u8>, of_copies: &OfCopies) -> Result<String, Failure> {
    let documents = [of_run].into_iter().chain(of_copies.documents()?);
    String::from_utf8(jobs::joined(documents.collect())).map_err(Failure::bug)
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
            let text = run_text(analysis, rows, width, colour) + &meanings_text(record, width);
            return Ok(show_head(record, colour) + "\n" + &text);
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
