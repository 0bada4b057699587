//! A trace that is a file by itself, where a run could be named.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use iolag_analysis::figure::FigureChoice;
use iolag_analysis::{RunAnalysis, analyse_trace};
use iolag_conduct::{Failure, absolute, figures_without_samples, read_trace, record_of_trace_file};
use iolag_model::{RunRecord, one_line};
use iolag_report::{Tone, run_text, write_json};

use crate::args::{Common, MetadataForm};
use crate::commands::runs::figures::RunWithFigures;
use crate::look::Look;
use crate::output::Printed;

/// How files of traces are called by those who do not name a directory.
const ENDING: &str = ".iolag";

/// The file that is meant, if it is one: no run is called so. To be called in a process that may hang.
pub fn meant(name: &str) -> Option<PathBuf> {
    let is_path = name.contains('/') || name.ends_with(ENDING);
    Some(absolute(Path::new(name))).filter(|path| is_path && path.is_file())
}

/// What a trace in a file comes to.
///
/// # Errors
/// If it cannot be read, or is none.
pub fn open(path: &Path) -> Result<(RunRecord, RunAnalysis), Failure> {
    let content = read(path)?;
    let record = record_of_trace_file(&content);
    let analysis = RunAnalysis::Trace(analyse_trace(&record, content));
    Ok((record, analysis))
}

fn read(path: &Path) -> Result<iolag_analysis::TraceContent, Failure> {
    let name = one_line(&path.display().to_string());
    let file = File::open(path).map_err(|error| Failure::unusable(format!("cannot read {name}: {error}")))?;
    read_trace(BufReader::new(file))
        .map_err(|error| Failure::unusable(format!("cannot read {name}: {error}")))
}

/// The same for a page.
///
/// # Errors
/// As [`open`].
pub fn with_figures(path: &Path) -> Result<RunWithFigures, Failure> {
    let (record, analysis) = open(path)?;
    let figures = figures_without_samples(&record, &FigureChoice::default());
    Ok(RunWithFigures { record, analysis, figures })
}

/// The result of a trace in a file.
///
/// # Errors
/// As [`open`].
pub fn printed(path: &Path, form: MetadataForm, common: &Common, look: Look) -> Result<Printed, Failure> {
    let (record, analysis) = open(path)?;
    if form == MetadataForm::Json {
        let text = json(&record, &analysis)?;
        return Ok(Printed {
            document: common.json.as_ref().map(|_| text.clone()),
            text,
            ..Printed::default()
        });
    }
    let title = look.colour.paint(Tone::Strong, "Trace");
    let head = format!("{title} {}\n", one_line(&path.display().to_string()));
    printed_with(&head, &record, &analysis, common, look)
}

/// The result of a trace, below this head.
pub(super) fn printed_with(
    head: &str,
    record: &RunRecord,
    analysis: &RunAnalysis,
    common: &Common,
    Look { width, colour, rows }: Look,
) -> Result<Printed, Failure> {
    let document = match common.json {
        Some(_) => Some(json(record, analysis)?),
        None => None,
    };
    let text = run_text(analysis, rows, width, colour) + "\n" + head;
    Ok(Printed { text, document, ..Printed::default() })
}

fn json(record: &RunRecord, analysis: &RunAnalysis) -> Result<String, Failure> {
    let mut document = Vec::new();
    write_json(record, analysis, &mut document).map_err(Failure::bug)?;
    String::from_utf8(document).map_err(Failure::bug)
}
