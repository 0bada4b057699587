//! `iolag report`: one HTML file that explains runs or a history, or the draft of an incident report.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use iolag_analysis::compare::ComparedTable;
use iolag_analysis::figure::FigureChoice;
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::Anchor;
use iolag_report::{HtmlReport, IncidentRun, ReportedRun, incident_text, write_html};

use crate::args::{Common, Report};
use crate::commands::history::page;
use crate::commands::runs::figures::{RunWithFigures, figures_of, with_figures};
use crate::commands::runs::selection::FoundRuns;
use crate::commands::runs::{campaign, opening};
use crate::commands::{Located, trace};
use crate::desktop::open;
use crate::guarded::{in_child, replace_by};
use crate::output;

/// Runs the command.
///
/// # Errors
/// If there is no such run, or the file cannot be written.
pub fn run(options: &Report, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "report")?;
    if page::is_meant(options)? {
        return page::run(options, common);
    }
    let located = Located::of(common)?;
    in_child("report", || {
        let last = ["last".to_owned()];
        let named = if options.runs.is_empty() { &last[..] } else { &options.runs };
        let runs = open_all(&located, &whole(&located, named)?)?;
        // Of one campaign that has several sides the page begins with their comparison.
        let compared = match named {
            [one] => campaign::meant(one).map(|run| compared(&located, run, common)).transpose()?.flatten(),
            _ => None,
        };
        let path = match &options.output {
            Some(path) => absolute(path),
            None => absolute(&default_path(&runs, options.incident)),
        };
        let title = options.title.as_deref();
        if options.incident {
            if runs.iter().any(|run| run.record.spec.workload.trace().is_some()) {
                return Err(Failure::usage(
                    "--incident is for runs that were measured; a trace says what a program asked: iolag report without it explains that",
                ));
            }
            replace_by(&path, "-o", |file| file.write_all(incident(&runs).as_bytes()))?;
        } else {
            write(runs, compared.as_ref(), title, (&path, "-o"))?;
        }
        tell(&path, common);
        if options.open { open(&path) } else { Ok(()) }
    })
}

/// Writes the report of runs that have just ended, and of the comparison of their sides, if they have several.
///
/// # Errors
/// If the run cannot be read or the file cannot be written.
pub fn write_report_of(
    runs: &[PathBuf],
    comparison: Option<&ComparedTable>,
    path: &Path,
    common: &Common,
) -> Result<(), Failure> {
    let path = absolute(path);
    let code = in_child("report", || {
        let names: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
        write(open_all(&Located::nowhere(), &names)?, comparison, None, (&path, "--report"))?;
        tell(&path, common);
        Ok(())
    })?;
    match code {
        ExitCode::Fine => Ok(()),
        code => Err(Failure { code, sentence: format!("the report {} is not complete", path.display()) }),
    }
}

/// Says where the file is.
fn tell(path: &Path, common: &Common) {
    output::notice(common, &format!("the report is in {}", path.display()));
}

/// The names of runs, those of campaigns replaced by all runs of them.
fn whole(located: &Located, names: &[String]) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    for name in names {
        match campaign::meant(name) {
            None => all.push(name.clone()),
            Some(run) => {
                let FoundRuns { runs, complaints, may_belong, .. } = campaign::runs_of(located, run)?;
                complaints.iter().chain(&may_belong).for_each(|sentence| output::complain(sentence));
                all.extend(runs.iter().map(|run| run.path.display().to_string()));
            }
        }
    }
    Ok(all)
}

fn compared(located: &Located, run: &str, common: &Common) -> Result<Option<ComparedTable>, Failure> {
    let FoundRuns { runs, .. } = campaign::runs_of(located, run)?;
    match campaign::comparison(located, run, &runs) {
        Ok(table) => Ok(table),
        Err(failure) => {
            output::notice(common, &failure.sentence);
            Ok(None)
        }
    }
}

fn open_all(located: &Located, names: &[String]) -> Result<Vec<RunWithFigures>, Failure> {
    names
        .iter()
        .map(|name| {
            if let Some(path) = trace::file::meant(name) {
                return trace::file::with_figures(&path);
            }
            let (run, record) = opening::open(located, name)?;
            with_figures(&run, record, &FigureChoice::default()).map_err(Failure::unusable)
        })
        .collect()
}

fn default_path(runs: &[RunWithFigures], incident: bool) -> PathBuf {
    let id = runs.first().map_or("none", |run| run.record.id.as_str());
    PathBuf::from(if incident {
        format!("iolag-incident-{id}.md")
    } else {
        format!("iolag-report-{id}.html")
    })
}

fn write(
    runs: Vec<RunWithFigures>,
    comparison: Option<&ComparedTable>,
    title: Option<&str>,
    (path, option): (&Path, &str),
) -> Result<(), Failure> {
    let (figures, runs) = figures_of(runs);
    let reported: Vec<_> = runs.iter().map(|(record, analysis)| ReportedRun { record, analysis }).collect();
    let report = HtmlReport {
        title,
        runs: &reported,
        comparison,
        written_realtime_ns: Some(Anchor::take().realtime_ns),
    };
    replace_by(path, option, |file| {
        let mut writer = BufWriter::new(file);
        write_html(&report, figures, &mut writer)?;
        writer.flush()
    })
}

fn incident(runs: &[RunWithFigures]) -> String {
    let runs: Vec<_> = runs
        .iter()
        .map(|run| IncidentRun { record: &run.record, analysis: &run.analysis, figures: &run.figures })
        .collect();
    incident_text(&runs, Anchor::take().realtime_ns)
}
