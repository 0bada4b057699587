//! `iolag export`: samples for other programs.

use iolag_conduct::{ExitCode, Failure, absolute};
use iolag_model::counted;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use iolag_report::write_latency_files;
use iolag_store::{Directory, RunDirectory, StoreError, TextForm};

use crate::args::{Common, Export, ExportForm, HISTORY};
use crate::commands::{Located, trace};
use crate::guarded::{in_child, replace_by};
use crate::output;

/// Runs the command: in a child without a deadline, since the reader of a pipe may take its time; Ctrl-C ends it.
///
/// # Errors
/// If there is no such run, or the output cannot be written.
pub fn run(options: &Export, common: &Common) -> Result<ExitCode, Failure> {
    output::refuse_document(common, "export")?;
    if options.run == HISTORY {
        return crate::commands::history::export::run(options, common);
    }
    crate::commands::history::access::refuse_option(options.span.given(), "export", &options.run)?;
    let located = Located::of(common)?;
    in_child("export", || export(options, &located))
}

fn export(options: &Export, located: &Located) -> Result<(), Failure> {
    if let Some(path) = trace::file::meant(&options.run) {
        return trace::export::of_file(&path, options);
    }
    let (run, record) = crate::commands::runs::opening::open(located, &options.run)?;
    if record.spec.workload.trace().is_some() {
        return trace::export::of_run(&run, options);
    }
    match options.format.unwrap_or(ExportForm::Csv) {
        ExportForm::Csv => stream(&run, TextForm::Csv, &options.output),
        ExportForm::Json => stream(&run, TextForm::JsonLines, &options.output),
        ExportForm::Parquet => {
            let directory = directory(&options.output)?;
            run.export_parquet(&directory).map_err(Failure::unusable)?;
            Ok(())
        }
        ExportForm::MdWorkbench => latency_files(&run, &options.output),
        ExportForm::Strace => Err(Failure::usage(format!(
            "--format strace is for traces; run {} is a {}",
            record.id,
            record.spec.workload.name()
        ))),
    }
}

fn stream(run: &RunDirectory, form: TextForm, to: &Path) -> Result<(), Failure> {
    if to == Path::new("-") {
        let mut output = BufWriter::new(std::io::stdout().lock());
        return match run.export_text(form, &mut output, Path::new("standard output")) {
            // A reader that has seen enough (`| head`) is no failure.
            Err(error) if error.errno() != Some(libc::EPIPE) => Err(Failure::unusable(error)),
            _ => Ok(()),
        };
    }
    let mut trouble = None;
    let written = replace_by(to, "-o", |file| {
        let mut output = BufWriter::new(file);
        match run.export_text(form, &mut output, to) {
            // That this file could not be written is no matter of the store.
            Err(
                StoreError::System { action: "write", source, .. }
                | StoreError::Full { action: "write", source, .. },
            ) => Err(source),
            Err(error) => {
                trouble = Some(error);
                Err(std::io::Error::other("the run could not be read"))
            }
            Ok(_) => output.flush(),
        }
    });
    match trouble {
        Some(error) => Err(Failure::unusable(error)),
        None => written,
    }
}

fn directory(path: &Path) -> Result<Directory, Failure> {
    if path == Path::new("-") {
        return Err(Failure::usage("this format writes several files: name a directory with -o"));
    }
    Directory::open_or_create(&absolute(path)).map_err(Failure::unusable)
}

fn latency_files(run: &RunDirectory, to: &Path) -> Result<(), Failure> {
    let directory = directory(to)?;
    let record = run.record().map_err(Failure::unusable)?;
    let samples = run.samples().map_err(Failure::unusable)?;
    let mut failure = None;
    let samples = samples
        .map_while(|sample| sample.map_err(|error| failure = Some(error)).ok().map(|stored| stored.sample));
    let open = |name: &str| File::create(directory.path().join(name)).map(BufWriter::new);
    let written = write_latency_files(&record, samples, "latency", open);
    if let Some(error) = failure {
        return Err(Failure::unusable(error));
    }
    let export =
        written.map_err(|error| Failure::unusable(format!("cannot write to {}: {error}", to.display())))?;
    let sentence = format!(
        "{} written to {}; {} no place in these files",
        counted(export.rows, "row", "rows"),
        to.display(),
        counted(export.failed, "failed operation has", "failed operations have")
    );
    // Nobody is left to be told if standard error is gone.
    let _ = writeln!(std::io::stderr(), "iolag: {sentence}");
    Ok(())
}
