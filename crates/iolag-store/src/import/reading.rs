//! From a file to what is in it, whichever its form.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

use super::certainty::Certainty;
use super::error::{BadRows, ImportError, Tolerance};
use super::forms::recognition::{guess_form, is_history_export};
use super::forms::{event_list, journal, log, separated};
use super::options::file_options::ImportForm;
use super::options::import_options::ImportOptions;
use super::options::value_options::MissingValues;
use super::rows::RawRows;
use super::series::assemble;
use super::series::imported::Import;
use super::series::report::{ImportReport, span_of};
use super::source::{Encoding, Hashed, Text};
use super::times::column::resolve_times;

/// How much of a file is looked at to tell its form.
const BEGINNING_BYTES: u64 = 64 << 10;

/// Reads `input`, which people know as `file`.
///
/// # Errors
/// If it cannot be read, something in it cannot be decided without the caller, or more rows are bad than options allow.
pub fn read(input: impl Read, file: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    let mut input = BufReader::new(Hashed::new(input));
    let mut beginning = Vec::new();
    (&mut input)
        .take(BEGINNING_BYTES)
        .read_to_end(&mut beginning)
        .map_err(|source| ImportError::System { file: file.to_owned(), source })?;
    if is_history_export(&beginning) {
        return Err(ImportError::options(
            file,
            "it is an export of an iolag history, which is merged as it is, without options of import",
        ));
    }
    let (form, certainty) = match options.form {
        Some(form) => (form, Certainty::Declared),
        None => {
            let text = Text::read(&beginning[..], file, BEGINNING_BYTES, &options.directory)?.whole()?;
            (guess_form(whole_lines(&text, beginning.len()), options), Certainty::Guessed)
        }
    };
    let whole = Cursor::new(beginning).chain(&mut input);
    let mut import = match form {
        ImportForm::Journal => import_journal(whole, file, options),
        form => import_text(whole, file, form, options),
    }?;
    import.report.form_certainty = certainty;
    import.report.hash = input.get_ref().hash();
    Ok(import)
}

/// Without the last line, which may be cut.
fn whole_lines(text: &str, bytes: usize) -> &str {
    match text.rfind('\n') {
        Some(end) if bytes as u64 == BEGINNING_BYTES => &text[..end],
        _ => text,
    }
}

fn import_journal(input: impl BufRead, file: &str, options: &ImportOptions) -> Result<Import, ImportError> {
    let mut tolerance = Tolerance::new(file, options.bad_rows_max);
    let journal = journal::read_journal(input, options, &mut tolerance)?;
    let mut report = empty_report(file, ImportForm::Journal);
    report.lines = journal.lines;
    report.rows = journal.lines;
    report.ignored = journal.ignored;
    report.bad = tolerance.into_bad_rows();
    report.events = journal.events.len() as u64;
    report.span = span_of(journal.events.iter().map(|event| event.begin));
    let directory = Arc::clone(&options.directory);
    Ok(Import { series: Vec::new(), events: journal.events, report, directory })
}

fn import_text(
    input: impl Read,
    file: &str,
    form: ImportForm,
    options: &ImportOptions,
) -> Result<Import, ImportError> {
    let text = Text::read(input, file, options.bytes_max, &options.directory)?;
    let mut tolerance = Tolerance::new(file, options.bad_rows_max);
    let mut report = empty_report(file, form);
    if text.encoding == Encoding::Latin1 {
        report.notes.push("the file is not UTF-8: its characters were taken as ISO 8859-1".to_owned());
    }
    let rows = match form {
        ImportForm::EventList => {
            let import = import_events(&text, options, &mut tolerance, report)?;
            return Ok(with_bad_rows(import, tolerance));
        }
        ImportForm::Text => log::read_log(&text, options, &mut tolerance)?,
        ImportForm::Pattern => {
            let pattern = options.pattern.as_deref().ok_or_else(|| {
                ImportError::options(
                    file,
                    "this form needs --pattern with a regular expression that has the groups time and value",
                )
            })?;
            log::read_by_pattern(&text, pattern, options, &mut tolerance)?
        }
        _ => {
            let (rows, separator) = separated::read_separated(&text, form, options, &mut tolerance)?;
            report.separator = Some(separator);
            rows
        }
    };
    drop(text);
    let import = import_rows(rows, options, &mut tolerance, report)?;
    Ok(with_bad_rows(import, tolerance))
}

fn with_bad_rows(import: Import, tolerance: Tolerance<'_>) -> Import {
    let bad = tolerance.into_bad_rows();
    Import { report: ImportReport { bad, ..import.report }, ..import }
}

fn import_rows(
    rows: RawRows,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
    mut report: ImportReport,
) -> Result<Import, ImportError> {
    let resolved = resolve_times(&rows, options, tolerance)?;
    describe_rows(&mut report, &rows);
    let series = assemble::assemble(rows, &resolved.times, options, tolerance)?;
    report.time = resolved.guessed;
    report.notes.extend(resolved.notes);
    if report.dates_alone > 0 && options.missing == MissingValues::Gap {
        report.notes.push(
            "of an attempt that wrote its date alone nothing is kept; --missing hung keeps it as one that had not ended when the log goes on"
                .to_owned(),
        );
    }
    report.series = series.iter().map(|imported| imported.report.clone()).collect();
    report.span =
        span_of(series.iter().filter_map(|imported| imported.span).flat_map(|span| [span.begin, span.end]));
    if report.span.is_none() {
        report.notes.push("there is no sample in it; are form and columns right?".to_owned());
    }
    Ok(Import { series, events: Vec::new(), report, directory: Arc::clone(&options.directory) })
}

fn import_events(
    text: &Text,
    options: &ImportOptions,
    tolerance: &mut Tolerance<'_>,
    mut report: ImportReport,
) -> Result<Import, ImportError> {
    let list = event_list::read_event_list(text, options, tolerance)?;
    describe_rows(&mut report, &list.rows);
    report.separator = Some(list.separator);
    report.time = list.resolved.guessed;
    report.notes.extend(list.resolved.notes);
    report.events = list.events.len() as u64;
    report.span = span_of(list.events.iter().flat_map(|event| [Some(event.begin), event.end]).flatten());
    let directory = Arc::clone(&options.directory);
    Ok(Import { series: Vec::new(), events: list.events, report, directory })
}

fn describe_rows(report: &mut ImportReport, rows: &RawRows) {
    report.lines = rows.lines;
    report.rows = rows.times_count();
    report.ignored = rows.ignored;
    report.dates_alone = rows.dates_alone;
}

fn empty_report(file: &str, form: ImportForm) -> ImportReport {
    ImportReport {
        file: file.to_owned(),
        hash: String::new(),
        form,
        form_certainty: Certainty::Guessed,
        separator: None,
        lines: 0,
        rows: 0,
        ignored: 0,
        dates_alone: 0,
        bad: BadRows::default(),
        time: None,
        span: None,
        series: Vec::new(),
        events: 0,
        notes: Vec::new(),
    }
}
