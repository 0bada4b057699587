//! `iolag import`: what others have measured, and what iolag exported elsewhere, into the history.
//!
//! Invariants: every file is understood before anything is written; what was guessed is shown before it is stored. Importing twice
//! changes nothing, so an interrupted import is simply repeated.
//!
//! Limit: an export that comes through a pipe is put aside in $TMPDIR, without a name, since it is read twice.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use iolag_model::{HistoryRecord, counted, format_count};
use iolag_store::history::{Access, Appended, History, LastLine, merge_records, read_records};
use iolag_store::import::{
    self, ImportError, ImportForm, ImportOptions, ValueColumn, is_history_export, parse_time_zone,
};

use super::history::{Chosen, failure, here};
use super::note::author;
use crate::args::{Common, Import};
use crate::exit_code::{ExitCode, Failure};
use crate::guarded::in_child;
use crate::output;

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
    if options.dry_run {
        output::notice(common, "nothing was stored, since this was a dry run");
        return Ok(());
    }
    let mut history = chosen.open(Access::Create)?;
    let mut printed = Ok(());
    for (name, one) in understood {
        let appended = match one {
            Understood::Export(file) => merge(history.as_mut(), file, &name)?,
            Understood::Import(import) => store(history.as_mut(), &import)?,
        };
        printed = printed.and(output::print_result(&stored_text(&name, appended, &chosen.shown())));
    }
    printed
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
    let this_host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host = options.host.clone().unwrap_or_else(this_host);
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
        author: author(|name| std::env::var_os(name), rustix::process::getuid().as_raw()),
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
        ImportError::System { .. } => Failure::unusable(error),
        _ => Failure::usage(error),
    }
}

/// Keeps what comes through a pipe in a file that nobody else sees.
fn put_aside(beginning: &[u8], mut rest: File, name: &str) -> Result<File, Failure> {
    let directory = std::env::temp_dir();
    let failed = |error: std::io::Error| {
        Failure::unusable(format!(
            "cannot put {name} aside in {}: {error}; save it in a file and import that, or name another directory with TMPDIR",
            directory.display()
        ))
    };
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(libc::O_TMPFILE)
        .open(&directory)
        .map_err(failed)?;
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

fn store(history: &mut dyn History, import: &import::Import) -> Result<Appended, Failure> {
    let mut all = Appended::default();
    let mut records = import.records();
    loop {
        let batch: Vec<HistoryRecord> = records.by_ref().take(RECORDS_PER_APPEND).collect();
        if batch.is_empty() {
            return Ok(all);
        }
        let appended = history.append(&batch).map_err(failure)?;
        all.records += appended.records;
        all.changed += appended.changed;
    }
}

fn stored_text(name: &str, appended: Appended, place: &str) -> String {
    let known = appended.records.saturating_sub(appended.changed);
    format!(
        "{name}: {} in {place}, {} known\n",
        counted(appended.changed, "new or changed record is", "new or changed records are"),
        counted(known, "was", "were")
    )
}
