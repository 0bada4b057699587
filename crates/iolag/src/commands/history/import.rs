//! `iolag import`: what others have measured, and what iolag exported elsewhere, into the history.
//!
//! Invariants: every file is understood before anything is written; what was guessed is shown before it is stored. Importing twice
//! changes nothing, so an interrupted import is simply repeated.
//!
//! What does not fit into memory is put aside in $TMPDIR, without a name: what a file becomes while it is read, and an export that comes
//! through a pipe, since it is read twice.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use iolag_backend::redact_argument;
use iolag_model::{
    Batch, BatchId, HistoryRecord, Outcome, SeriesKey, counted, format_count, format_duration,
};
use iolag_store::history::{Access, Appended, History, HistoryError, LastLine, merge_records, read_records};
use iolag_store::import::{
    self, Comparison, Difference, ImportError, ImportForm, ImportOptions, OtherQuantity, Reading,
    ValueColumn, is_history_export, nameless_file, parse_time_zone,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::{Common, Import};
use crate::commands::history::access::{Chosen, failure, here, now};
use crate::commands::history::moment::in_utc;
use crate::commands::history::note::author;
use crate::guarded::in_child;
use crate::output;
use iolag_conduct::{ExitCode, Failure};

/// Records per transaction.
const RECORDS_PER_APPEND: usize = 5000;
/// How much of a file is looked at to tell an export of iolag.
const BEGINNING_BYTES: u64 = 4096;

/// Runs the command: in a child without a deadline, since a pipe may take its time; Ctrl-C ends it.
///
/// # Errors
/// If a file cannot be understood, in which case nothing is written, or the history cannot be written.
pub fn run(options: &Import, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "import")?;
    let chosen = Chosen::new(&options.place)?;
    in_child("import", || import_all(options, common, &chosen)).map_err(|failure| match failure.code {
        ExitCode::Incomplete => Failure {
            sentence: format!("{}; run it again, nothing is stored twice", failure.sentence),
            ..failure
        },
        _ => failure,
    })
}

/// A file that was understood.
enum Understood {
    /// An export of iolag, at its beginning.
    Export(File),
    /// Anything else, read.
    Import(Box<import::Import>),
}

fn import_all(options: &Import, common: &Common, chosen: &Chosen) -> Result<(), Failure> {
    if options.files.iter().filter(|file| is_standard_input(file)).count() > 1 {
        return Err(Failure::usage("standard input can be read once: give - once"));
    }
    let reading = reading_options(options)?;
    keep_many_files_open();
    let mut understood = Vec::new();
    for file in &options.files {
        let name = name_of(file);
        let one = understand(file, &name, &reading)?;
        if let Understood::Import(import) = &one {
            output::print_result(&import.report.to_string())?;
            refuse_nothing(import)?;
        }
        understood.push((name, one));
    }
    let mut history = if options.dry_run { existing(chosen)? } else { Some(chosen.open(Access::Create)?) };
    let comparisons = compare(&understood, options, &mut history)?;
    let Some(history) = history.filter(|_| !options.dry_run) else {
        output::notice(common, "nothing was stored, since this was a dry run");
        return Ok(());
    };
    store_all(history, understood, &comparisons, &chosen.shown())
}

/// What is put aside of each file stays open until all are stored; they are less than a system forbids, but may be more than it allows at first.
fn keep_many_files_open() {
    let allowed = getrlimit(Resource::Nofile);
    // Where that fails, the file that cannot be opened is told.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: allowed.maximum, ..allowed });
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn name_of(path: &Path) -> String {
    if is_standard_input(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// A column that is read twice into the same series would double its samples.
fn refuse_same_values(values: &[ValueColumn]) -> Result<(), Failure> {
    let same = |one: &ValueColumn, other: &ValueColumn| {
        (&one.column, &one.task, &one.part, &one.target)
            == (&other.column, &other.task, &other.part, &other.target)
    };
    let twice =
        values.iter().enumerate().find(|(index, one)| values[..*index].iter().any(|other| same(one, other)));
    match twice {
        Some((_, one)) => Err(Failure::usage(format!(
            "--value reads column {} twice into the series {}: give it once",
            one.column.0, one.task
        ))),
        None => Ok(()),
    }
}

/// The options of reading. Reads the zone files.
fn reading_options(options: &Import) -> Result<ImportOptions, Failure> {
    refuse_same_values(&options.values)?;
    let host = options.host.clone().unwrap_or_else(iolag_store::host_name);
    let zone = options.time_zone.as_deref().map(parse_time_zone).transpose().map_err(Failure::usage)?;
    let origin = options.origin.as_deref().map(|text| here().moment(text)).transpose();
    let form = match (options.events, options.journal) {
        (true, _) => Some(ImportForm::EventList),
        (_, true) => Some(ImportForm::Journal),
        _ => options.form,
    };
    Ok(ImportOptions {
        form,
        separator: options.separator,
        header: options.header,
        comment: options.comment.0,
        time: options.time.clone(),
        time_format: options.time_format.clone(),
        time_zone: zone,
        year: options.year,
        origin: origin.map_err(Failure::usage)?,
        values: options.values.clone(),
        unit: options.unit.clone(),
        decimal_mark: options.decimal,
        task: options.task.clone(),
        target: options.target.clone(),
        task_column: options.task_column.clone(),
        target_column: options.target_column.clone(),
        status_column: options.status.clone(),
        pattern: options.pattern.clone(),
        resolution: options.resolution,
        deadline: options.deadline,
        identical_rows: options.identical,
        missing: options.missing,
        bad_rows_max: options.skip_bad,
        directory: Arc::from(env::temp_dir()),
        author: author(|name| env::var_os(name), rustix::process::getuid().as_raw()),
        ..ImportOptions::new(host)
    })
}

/// Reads a file to its end and says what it is. Exports are put at their beginning again.
fn understand(path: &Path, name: &str, options: &ImportOptions) -> Result<Understood, Failure> {
    let failed = |error: std::io::Error| Failure::unusable(format!("cannot read {name}: {error}"));
    let mut file = if is_standard_input(path) {
        let input =
            rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3).map_err(|errno| failed(errno.into()))?;
        File::from(input)
    } else {
        File::open(path).map_err(failed)?
    };
    let mut beginning = Vec::new();
    (&mut file).take(BEGINNING_BYTES).read_to_end(&mut beginning).map_err(failed)?;
    if !is_history_export(&beginning) {
        let whole = Cursor::new(beginning).chain(file);
        return import::read(whole, name, options).map(Box::new).map(Understood::Import).map_err(refused);
    }
    let is_repeatable = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut file = if is_repeatable { file } else { put_aside(&beginning, file, name)? };
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    output::print_result(&examine(&file, name)?)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(Understood::Export(file))
}

fn refused(error: ImportError) -> Failure {
    match error {
        ImportError::System { .. } | ImportError::Aside(_) => Failure::unusable(error),
        _ => Failure::usage(error),
    }
}

/// Keeps what comes through a pipe in a file that nobody else sees.
fn put_aside(beginning: &[u8], mut rest: File, name: &str) -> Result<File, Failure> {
    let directory = env::temp_dir();
    let failed = |error: std::io::Error| {
        Failure::unusable(format!(
            "cannot put {name} aside in {}: {error}; save it in a file and import that, or name another directory with TMPDIR",
            directory.display()
        ))
    };
    let mut file = nameless_file(&directory).map_err(failed)?;
    file.write_all(beginning).map_err(failed)?;
    std::io::copy(&mut rest, &mut file).map_err(failed)?;
    Ok(file)
}

/// What an export holds; that every line is a record.
fn examine(file: &File, name: &str) -> Result<String, Failure> {
    let (mut samples, mut series, mut events, mut others) = (0, 0, 0, 0);
    let last = read_records(&mut BufReader::new(file), name, |record| {
        match record {
            HistoryRecord::Sample(_) => samples += 1,
            HistoryRecord::Series(_) => series += 1,
            HistoryRecord::Event(_) => events += 1,
            _ => others += 1,
        }
        Ok(())
    })
    .map_err(|error| Failure::usage(format!("{error}; nothing was imported")))?;
    let torn = match last {
        LastLine::Complete => String::new(),
        LastLine::Torn { line } => format!("  line {line} is cut off and was left out\n"),
    };
    Ok(format!(
        "{name}: an export of iolag\n  {}, {} series, {}, {}\n{torn}",
        counted(samples, "sample", "samples"),
        format_count(series),
        counted(events, "event", "events"),
        counted(others, "other record", "other records")
    ))
}

/// A file of measurements without any is not what the user thinks. A journal without events is.
fn refuse_nothing(import: &import::Import) -> Result<(), Failure> {
    let report = &import.report;
    let is_empty = import.events.is_empty() && import.series.iter().all(|series| series.samples.is_empty());
    if is_empty && report.form != ImportForm::Journal {
        return Err(Failure::usage(format!(
            "there is nothing to import in {}, read as {}; say what it is with --form, --time and --value",
            report.file,
            report.form.name()
        )));
    }
    Ok(())
}

fn merge(history: &mut dyn History, file: File, name: &str) -> Result<Appended, Failure> {
    Ok(merge_records(history, &mut BufReader::new(file), name).map_err(failure)?.appended)
}

/// The history as it is, if there is one.
fn existing(chosen: &Chosen) -> Result<Option<Box<dyn History>>, Failure> {
    match chosen.look() {
        Err(HistoryError::Missing { .. }) => Ok(None),
        opened => opened.map(Some).map_err(failure),
    }
}

/// What each import would change, or nothing for an export; refuses other values at known moments before anything is written.
fn compare(
    understood: &[(String, Understood)],
    options: &Import,
    history: &mut Option<Box<dyn History>>,
) -> Result<Vec<Option<Comparison>>, Failure> {
    let mut earlier: Vec<&import::Import> = Vec::new();
    let mut comparisons = Vec::new();
    for (name, one) in understood {
        let Understood::Import(import) = one else {
            comparisons.push(None);
            continue;
        };
        let comparison = Comparison::of(import, &earlier, history.as_deref_mut()).map_err(failure)?;
        if let Some(other) = &comparison.other_quantity {
            return Err(Failure::usage(other_quantity_text(name, other)));
        }
        if comparison.different > 0 && !options.replace {
            let same = same_file(import, history)?;
            return Err(Failure::usage(refusal(name, &comparison, same.as_ref())));
        }
        earlier.push(import);
        comparisons.push(Some(comparison));
    }
    Ok(comparisons)
}

/// The latest import of a file with the same content.
fn same_file(
    import: &import::Import,
    history: &mut Option<Box<dyn History>>,
) -> Result<Option<Batch>, Failure> {
    let batches = history.as_mut().map_or(Ok(Vec::new()), |history| history.batches()).map_err(failure)?;
    let is_same = |batch: &Batch| batch.hash == import.report.hash && batch.undone.is_none();
    Ok(batches.into_iter().map(|content| content.batch).rfind(is_same))
}

fn refusal(name: &str, comparison: &Comparison, same: Option<&Batch>) -> String {
    let moments = counted(comparison.different, "moment", "moments");
    let examples: Vec<String> = comparison.examples.iter().map(difference_text).collect();
    let same = same.map_or_else(String::new, |batch| {
        format!("the same file was imported as batch {} with {:?}; ", batch.id, batch.options)
    });
    format!(
        "{name} says something else at {moments} that the history knows: {}; {same}nothing was imported: mend --time-zone, \
         --value or --host, or give --replace if the file is right",
        examples.join("; ")
    )
}

fn other_quantity_text(name: &str, other: &OtherQuantity) -> String {
    let OtherQuantity { series, known, read } = other;
    format!(
        "{name} has {read} of {}, of which the history has {known}; nothing was imported: mend --value or --unit, or name another \
         series with --task",
        series_text(series)
    )
}

fn series_text(series: &SeriesKey) -> String {
    let SeriesKey { target, task, part, .. } = series;
    let part = if part.is_empty() { String::new() } else { format!(": {part}") };
    let place = if target.is_empty() { String::new() } else { format!(" on {target}") };
    format!("{task}{part}{place}")
}

fn difference_text(difference: &Difference) -> String {
    let reading = |reading: &Reading| {
        let shown = match reading.value {
            Some(value) => format!("{value} {}", difference.unit).trim_end().to_owned(),
            None => format_duration(reading.duration_ns),
        };
        match reading.outcome {
            Outcome::Ok => shown,
            outcome => format!("{shown} ({outcome})"),
        }
    };
    let (read, known) = (reading(&difference.read), reading(&difference.known));
    format!("{} at {} {read}, known as {known}", series_text(&difference.series), in_utc(difference.time))
}

fn store_all(
    mut history: Box<dyn History>,
    understood: Vec<(String, Understood)>,
    comparisons: &[Option<Comparison>],
    place: &str,
) -> Result<(), Failure> {
    let command = as_typed(env::args_os());
    let mut printed = Ok(());
    for ((name, one), comparison) in understood.into_iter().zip(comparisons) {
        let text = match (one, comparison) {
            (Understood::Import(import), Some(comparison)) => {
                store(history.as_mut(), &import, comparison, &command, place)?
            }
            (Understood::Export(file), _) => stored_text(&name, merge(history.as_mut(), file, &name)?, place),
            (Understood::Import(_), None) => return Err(Failure::bug("an import was not compared")),
        };
        printed = printed.and(output::print_result(&text));
    }
    printed
}

/// What was typed after `import`, secrets removed. File names need not be text.
fn as_typed(arguments: impl Iterator<Item = OsString>) -> String {
    let typed = arguments.skip_while(|argument| argument != "import").skip(1);
    typed.map(|argument| redact_argument(&argument.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// Stores as one batch what is new or different.
fn store(
    history: &mut dyn History,
    import: &import::Import,
    comparison: &Comparison,
    command: &str,
    place: &str,
) -> Result<String, Failure> {
    let newest = history.batches().map_err(failure)?.last().map(|content| content.batch.id);
    let now = now();
    let batch = Batch {
        // The keys of the standard library's hash tables come from the kernel.
        id: BatchId::new(now, RandomState::new().build_hasher().finish() as u32, newest),
        made: now,
        file: import.report.file.clone(),
        hash: import.report.hash.clone(),
        options: command.to_owned(),
        author: author(|name| env::var_os(name), rustix::process::getuid().as_raw()),
        undone: None,
    };
    // A description may be better than the former one also where no sample is new.
    let first = usize::from(comparison.is_empty());
    let mut records = comparison.records(import, &batch).skip(first);
    loop {
        let part: Result<Vec<HistoryRecord>, _> = records.by_ref().take(RECORDS_PER_APPEND).collect();
        let part = part.map_err(failure)?;
        if part.is_empty() {
            return Ok(imported_text(comparison, &batch, place));
        }
        history.append(&part).map_err(failure)?;
    }
}

fn imported_text(comparison: &Comparison, batch: &Batch, place: &str) -> String {
    let file = &batch.file;
    if comparison.is_empty() {
        return format!("{file}: nothing is new in {place}, {} known\n", was_or_were(comparison.known));
    }
    let mut new = vec![counted(comparison.new, "sample is new", "samples are new")];
    if comparison.different > 0 {
        new.push(counted(comparison.different, "replaces another", "replace others"));
    }
    if comparison.events > 0 {
        new.push(counted(comparison.events, "event is new", "events are new"));
    }
    format!(
        "{file}: {} in {place}, {} known\n  to take it back: iolag history undo {}\n",
        new.join(", "),
        was_or_were(comparison.known),
        batch.id
    )
}

fn was_or_were(count: u64) -> String {
    counted(count, "was", "were")
}

fn stored_text(name: &str, appended: Appended, place: &str) -> String {
    format!(
        "{name}: {} in {place}, {} known\n",
        counted(appended.changed, "new or changed record is", "new or changed records are"),
        was_or_were(appended.records.saturating_sub(appended.changed))
    )
}
