//! `iolag export history`: for other programs.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use iolag_conduct::{ExitCode, Failure};
use iolag_model::{WallSpan, counted};
use iolag_store::history::{Access, History, HistoryError, TableForm, write_records, write_samples};

use crate::args::{Common, Export, ExportForm};
use crate::commands::history::access::{Chosen, failure, here};
use crate::guarded::{in_child, replace_by};
use crate::output::{self};

/// Runs `iolag export history`: in a child without a deadline, since the reader of a pipe may take its time; Ctrl-C ends it.
///
/// # Errors
/// If there is no such history, or the output cannot be written; then nothing of it stays in a file.
pub fn run(options: &Export, common: &Common) -> Result<ExitCode, Failure> {
    let chosen = Chosen::new(&options.span.place)?;
    let form = match options.format {
        None | Some(ExportForm::Json) => HistoryForm::Records,
        Some(ExportForm::Csv) => HistoryForm::Samples(TableForm::Csv),
        Some(ExportForm::Parquet) if options.output == Path::new("-") => {
            return Err(Failure::usage("Parquet is not printed: name a file with -o"));
        }
        Some(ExportForm::Parquet) => HistoryForm::Samples(TableForm::Parquet),
        Some(ExportForm::MdWorkbench | ExportForm::Strace) => {
            return Err(Failure::usage(
                "a history has no latency files and no calls: say --format csv, parquet, or json, which can be imported again",
            ));
        }
    };
    in_child("export", || {
        let span = here()
            .span(options.span.since.as_deref(), options.span.until.as_deref())
            .map_err(Failure::usage)?;
        let mut history = chosen.open(Access::ReadOnly)?;
        if options.output == Path::new("-") {
            return print(form, history.as_mut(), span);
        }
        let count = write_file(form, history.as_mut(), span, &options.output)?;
        let written = match form {
            HistoryForm::Records => counted(count, "record", "records"),
            HistoryForm::Samples(_) => counted(count, "sample", "samples"),
        };
        let sentence = format!("{written} written to {}", options.output.display());
        output::notice(common, &sentence);
        Ok(())
    })
}

/// What is exported of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HistoryForm {
    /// Everything, as lines of JSON that another history imports.
    Records,
    /// A table of its samples.
    Samples(TableForm),
}

impl HistoryForm {
    fn write(
        self,
        history: &mut dyn History,
        span: WallSpan,
        output: &mut (impl Write + Send),
    ) -> Result<u64, HistoryError> {
        match self {
            Self::Records => write_records(history, span, output),
            Self::Samples(form) => write_samples(history, span, form, output),
        }
    }
}

fn print(form: HistoryForm, history: &mut dyn History, span: WallSpan) -> Result<(), Failure> {
    let mut output = BufWriter::new(std::io::stdout());
    match form.write(history, span, &mut output) {
        Err(HistoryError::Sink { source }) => {
            output::lost(&source).map_or(Ok(()), |why| Err(Failure::unusable(why)))
        }
        Err(error) => Err(failure(error)),
        Ok(_) => Ok(()),
    }
}

fn write_file(
    form: HistoryForm,
    history: &mut dyn History,
    span: WallSpan,
    path: &Path,
) -> Result<u64, Failure> {
    let (mut count, mut trouble) = (0, None);
    let written = replace_by(path, "-o", |file: &mut File| {
        let mut output = BufWriter::new(file);
        match form.write(history, span, &mut output) {
            Ok(records) => count = records,
            Err(HistoryError::Sink { source }) => return Err(source),
            Err(error) => {
                trouble = Some(error);
                return Err(std::io::Error::other("the history could not be read"));
            }
        }
        output.flush()
    });
    match trouble {
        Some(error) => Err(failure(error)),
        None => written.map(|()| count),
    }
}
