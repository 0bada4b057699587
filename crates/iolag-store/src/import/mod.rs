//! What sites have measured already: time series and lists of events in files of other programs, made into history records.
//!
//! [`read`] takes any readable source and [`ImportOptions`], and gives an [`Import`]: series with samples, events, and an
//! [`ImportReport`] that shows what was guessed. Forms: separated files (CSV and relatives), exports of Grafana, text logs of times
//! and values, what time(1) printed after a date, lines that a regular expression matches, lists of events, and the journal.
//!
//! Invariants: what is guessed is guessed from the whole file and shown; what has two readings is refused with both; a row that cannot
//! be read is an error with its line, unless the caller allows some to be left out, which are then counted and shown. Zero is a sample: it took less
//! than the clock could tell. Importing a file twice gives the same identities. No input makes a panic.
//!
//! Memory: a file is read once and put aside, as are its rows, its times and its samples in turn, in files without a name in
//! [`ImportOptions::directory`] where they are more than a MiB; each is read as often as needed, from its begin to its end. What is in
//! memory does not grow with the rows, but with the longest row, the series and the rows of one run of a sort (`sorter.rs`); the lists of
//! events and what the journal gives are held as a whole. What is put aside takes up to eight times the size of the file.
//!
//! Limits: a file has at most [`ImportOptions::bytes_max`] bytes; the journal is read line by line. Times are from 1970 to 2261.

mod aside;
mod comparison;
mod error;
mod forms;
mod options;
mod rows;
mod series;
mod source;
mod times;
mod values;

use std::io::{BufRead, BufReader, Cursor, Read};
use std::sync::Arc;

pub use aside::bytes::{AsideError, nameless_file};
pub use comparison::{Comparison, Difference, OtherQuantity, Reading, quantity};
pub use error::{BadRow, BadRows, ImportError};
pub use forms::recognition::is_history_export;
pub use options::import_options::{
    ColumnName, HeaderRow, ImportForm, ImportOptions, OptionError, Separator, TimeFormat, parse_time_zone,
};
pub use options::value_options::{DecimalMark, IdenticalRows, MissingValues, ValueColumn, ValueUnit};
pub use series::imported::{Import, ImportedSample, ImportedSamples, ImportedSeries, SamplesReader};
pub use series::report::{Gaps, ImportReport, SeriesReport};
pub use times::column::{Certainty, GuessedTime};
pub use values::resolution::GuessedResolution;

use error::Tolerance;
use rows::RawRows;
use series::report::span_of;
use source::{Encoding, Hashed, Text};
use times::column::resolve_times;

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
            (forms::recognition::guess_form(whole_lines(&text, beginning.len()), options), Certainty::Guessed)
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
    let journal = forms::journal::read_journal(input, options, &mut tolerance)?;
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
        ImportForm::Text => forms::log::read_log(&text, options, &mut tolerance)?,
        ImportForm::Pattern => {
            let pattern = options.pattern.as_deref().ok_or_else(|| {
                ImportError::options(
                    file,
                    "this form needs --pattern with a regular expression that has the groups time and value",
                )
            })?;
            forms::log::read_by_pattern(&text, pattern, options, &mut tolerance)?
        }
        _ => {
            let (rows, separator) = forms::separated::read_separated(&text, form, options, &mut tolerance)?;
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
    let series = series::assemble::assemble(rows, &resolved.times, options, tolerance)?;
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
    let list = forms::event_list::read_event_list(text, options, tolerance)?;
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
