//! `iolag export` of a trace: its calls for other programs.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use iolag_conduct::{Failure, absolute};
use iolag_model::one_line;
use iolag_store::RunDirectory;
use iolag_trace::{CsvWriter, ParquetCalls, TraceFileError, TraceReader, write_strace};

use crate::args::{Export, ExportForm};
use crate::guarded::replace_by;

/// Of a trace that is a run.
///
/// # Errors
/// If it cannot be read, or the output cannot be written.
pub fn of_run(run: &RunDirectory, options: &Export) -> Result<(), Failure> {
    let name = run.trace_path().display().to_string();
    match run.open_trace().map_err(Failure::unusable)? {
        Some(file) => export(BufReader::new(file), &name, options),
        None => Err(Failure::unusable(format!("there is no {name}: nothing of the trace was kept"))),
    }
}

/// Of a trace that is a file by itself.
///
/// # Errors
/// The same.
pub fn of_file(path: &Path, options: &Export) -> Result<(), Failure> {
    let name = one_line(&path.display().to_string());
    let file = File::open(path).map_err(|error| Failure::unusable(format!("cannot read {name}: {error}")))?;
    export(BufReader::new(file), &name, options)
}

/// What calls can be written as.
#[derive(Clone, Copy)]
enum Form {
    Csv,
    Parquet,
    Strace,
}

fn export(input: impl Read, name: &str, options: &Export) -> Result<(), Failure> {
    let form = match options.format {
        None | Some(ExportForm::Csv) => Form::Csv,
        Some(ExportForm::Parquet) if options.output == Path::new("-") => {
            return Err(Failure::usage("Parquet is not printed: name a file with -o"));
        }
        Some(ExportForm::Parquet) => Form::Parquet,
        Some(ExportForm::Strace) => Form::Strace,
        Some(ExportForm::Json | ExportForm::MdWorkbench) => {
            return Err(Failure::usage(
                "a trace has calls and no samples: choose --format csv, parquet or strace",
            ));
        }
    };
    if options.output == Path::new("-") {
        let mut trouble = None;
        let written = write(form, input, BufWriter::new(io::stdout()), &mut trouble);
        return match (trouble, written) {
            (Some(error), _) => Err(unreadable(name, &error)),
            // A reader that has seen enough (`| head`) is no failure.
            (None, Err(error)) if error.raw_os_error() != Some(libc::EPIPE) => {
                Err(Failure::unusable(format!("cannot write to standard output: {error}")))
            }
            _ => Ok(()),
        };
    }
    let mut trouble = None;
    let written = replace_by(&absolute(&options.output), "-o", |file| {
        write(form, input, BufWriter::new(file), &mut trouble)
    });
    trouble.map_or(written, |error| Err(unreadable(name, &error)))
}

fn unreadable(name: &str, error: &TraceFileError) -> Failure {
    Failure::unusable(format!("cannot export {name}: {error}"))
}

/// Writes the calls; `trouble` is why the trace cannot be read, if it is not the output that fails.
fn write(
    form: Form,
    input: impl Read,
    mut output: impl Write + Send,
    trouble: &mut Option<TraceFileError>,
) -> io::Result<()> {
    // A failure of the output comes back as that of reading, by way of the sink.
    let mut blame = |error: TraceFileError| match error {
        TraceFileError::Read(error) => error,
        other => {
            *trouble = Some(other);
            io::Error::other("the trace could not be read")
        }
    };
    let mut reader = TraceReader::new(input).map_err(&mut blame)?;
    match form {
        Form::Csv => {
            let mut writer = CsvWriter::new(output)?;
            reader.read_into(&mut writer).map_err(blame)?;
            writer.finish()?.flush()
        }
        Form::Parquet => {
            let mut writer = ParquetCalls::new(output)?;
            reader.read_into(&mut writer).map_err(blame)?;
            writer.finish()?.flush()
        }
        Form::Strace => {
            // Lines are in the order of time, calls in that of their ends.
            let (_, trace, ending) = reader.read_all().map_err(blame)?;
            write_strace(&trace, ending.began_realtime_ns, &mut output)?;
            output.flush()
        }
    }
}
