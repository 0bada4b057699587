//! `iolag report --since …` and `iolag report history`: one HTML file about a history.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use iolag_analysis::history::{HistoryFigures, HistoryPoints, LocalTime, analyse_history, history_figures};
use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_report::{HistoryHead, HistoryReport, write_history_document, write_history_html};
use iolag_store::history::Access;
use jiff::tz::TimeZone;

use crate::args::{Common, HISTORY, HistoryMethod, HistorySpan, Report};
use crate::commands::history::access::{Chosen, ask_history, failure, here, now, refuse_option};
use crate::commands::history::incident;
use crate::commands::history::reading::{analysis_options, read};
use crate::desktop::open;
use crate::guarded::replace_by;
use crate::output;

/// Whether these options mean a history: it was named, or an option for histories was given and no run.
///
/// # Errors
/// If runs were named too.
pub fn is_meant(options: &Report) -> Result<bool, Failure> {
    let runs: Vec<&str> = options.runs.iter().map(String::as_str).filter(|run| *run != HISTORY).collect();
    let given = options.span.given().or(options.method.given());
    match (runs.as_slice(), runs.len() < options.runs.len()) {
        ([], true) => Ok(true),
        ([], false) => Ok(given.is_some()),
        ([run], true) | ([run, _, ..], true) => Err(Failure::usage(format!(
            "a report is about a history or about runs: leave out {HISTORY:?} or {run:?}"
        ))),
        (several, false) => {
            refuse_option(given, "report", several.first().copied().unwrap_or_default()).map(|()| false)
        }
    }
}

/// Writes the page, or the draft of an incident report.
///
/// # Errors
/// If there is no such history, it cannot be read, or the file cannot be written.
pub fn run(options: &Report, common: &Common) -> Result<ExitCode, Failure> {
    if options.incident {
        return incident::run(options, common);
    }
    let chosen = Chosen::new(&options.span.place)?;
    let path = match &options.output {
        Some(path) => absolute(path),
        None => absolute(&PathBuf::from("iolag-report-history.html")),
    };
    ask_history(&chosen, || {
        reported(&chosen, &options.span, &options.method, options.title.as_deref(), |report, figures, _| {
            replace_by(&path, "-o", |file| {
                let mut writer = BufWriter::new(file);
                write_history_html(report, figures, &mut writer)?;
                writer.flush()
            })
        })
    })?;
    output::notice(common, &format!("the report is in {}", path.display()));
    if options.open {
        open(&path)?;
    }
    Ok(ExitCode::Fine)
}

/// The document of the live page, from `since` on; to be called in a child.
///
/// # Errors
/// If there is no such history, or it cannot be read.
pub fn live_document(chosen: &Chosen, since: &str) -> Result<Vec<u8>, Failure> {
    let span = HistorySpan { since: Some(since.to_owned()), ..HistorySpan::default() };
    reported(chosen, &span, &HistoryMethod::default(), None, |report, figures, _| {
        let mut document = Vec::new();
        write_history_document(report, figures, &mut document).map_err(Failure::bug)?;
        Ok(document)
    })
}

/// Reads and analyses what is asked for and hands it to `write`, with what clocks show here; to be called in a child.
///
/// # Errors
/// If there is no such history, it cannot be read, or `write` fails.
pub fn reported<T>(
    chosen: &Chosen,
    span: &HistorySpan,
    method: &HistoryMethod,
    title: Option<&str>,
    write: impl FnOnce(&HistoryReport<'_>, HistoryFigures, &LocalTime) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let here = here();
    let span = here.span(span.since.as_deref(), span.until.as_deref()).map_err(Failure::usage)?;
    let mut history = chosen.open(Access::ReadOnly)?;
    let input = read(history.as_mut(), span).map_err(failure)?;
    let options = analysis_options(input.covered(), method, &here.zone);
    let analysis = analyse_history(&input, &options);
    let figures = history_figures(&input, &analysis, HistoryPoints::default());
    let head = HistoryHead { place: chosen.shown(), span };
    let zone = zone_name(&here.zone);
    write(
        &HistoryReport { title, head: &head, zone: &zone, analysis: &analysis, written: Some(now()) },
        figures,
        &options.summary.local_time,
    )
}

/// The name of a zone, for people.
pub fn zone_name(zone: &TimeZone) -> String {
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None if zone.is_unknown() => "UTC".to_owned(),
        None => "the local clock".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn meant(arguments: &[&str]) -> Result<bool, String> {
        let typed = ["iolag", "report"].iter().chain(arguments);
        match Arguments::try_parse_from(typed).unwrap().command {
            Command::Report(options) => is_meant(&options).map_err(|failure| failure.sentence),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_history_is_meant_where_it_is_named_or_a_time_is_given() {
        assert_eq!(meant(&[]), Ok(false));
        assert_eq!(meant(&["last"]), Ok(false));
        assert_eq!(meant(&["3fa7", "3fa8"]), Ok(false));
        assert_eq!(meant(&["history"]), Ok(true));
        assert_eq!(meant(&["--since", "30d"]), Ok(true));
        assert_eq!(meant(&["--history", "/x.sqlite"]), Ok(true));
        let refused = meant(&["last", "--since", "2d"]).unwrap_err();
        assert!(refused.contains("iolag report history --since"), "a run was named: {refused}");
        assert!(meant(&["3fa7", "--until", "now"]).unwrap_err().contains("iolag report history --until"));
        assert!(meant(&["history", "3fa7"]).unwrap_err().contains("3fa7"));
    }
}
