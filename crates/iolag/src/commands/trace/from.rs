//! `iolag trace --from`: what strace wrote becomes a run, or a file.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use iolag_analysis::{RunAnalysis, TraceContent, analyse_trace};
use iolag_conduct::environment::machine;
use iolag_conduct::{
    ExitCode, Failure, NewTrace, TraceRun, absolute, anchor_at, convert_to_trace, environment_of,
    open_store_at, read_trace, traced_program,
};
use iolag_model::{RunRecord, TraceAnonymity, one_line};
use iolag_report::show_head;
use iolag_store::Store;

use super::file;
use crate::args::{Common, MetadataForm, Trace};
use crate::commands::{Located, typed};
use crate::guarded::{in_child, replace_trace_by};
use crate::look::Look;
use crate::output::{self, Printed};

/// Runs the command.
///
/// # Errors
/// If the text cannot be read, or the trace cannot be kept.
pub(super) fn run(options: &Trace, common: &Common) -> Result<ExitCode, Failure> {
    if let Some(double) = options
        .from
        .iter()
        .enumerate()
        .find_map(|(place, path)| options.from[..place].contains(path).then_some(path))
    {
        let name = one_line(&double.display().to_string());
        return Err(Failure::usage(format!("{name} is named twice, and would count twice")));
    }
    let sources: Vec<PathBuf> = options
        .from
        .iter()
        .map(|path| if is_standard_input(path) { path.clone() } else { absolute(path) })
        .collect();
    let anonymity = if options.anonymise { TraceAnonymity::Anonymised } else { TraceAnonymity::Named };
    let look = Look::of_terminal(common);
    if let Some(path) = options.output.as_deref().map(absolute) {
        return in_child("trace", || {
            if sources.iter().any(|source| output::is_same(opened(source), &path)) {
                return Err(Failure::usage("-o names what is read: it would be lost; name another file"));
            }
            write(&sources, anonymity, &path)?;
            let printed = file::printed(&path, MetadataForm::Text, common, look)?;
            tell(common, printed)
        });
    }
    let located = Located::of(common)?;
    in_child("trace", || {
        let store = open_store_at(&located.root).map_err(Failure::unusable)?;
        let new = NewTrace {
            targets: told_sources(&sources, anonymity),
            labels: options.labels.iter().cloned().collect(),
            command: typed(),
            // Of this machine until the trace says of which it is: who looks whether this process lives has to know.
            environment: machine::capture(
                Path::new("/proc"),
                Path::new("/sys"),
                std::iter::empty::<(String, String)>(),
            ),
            ..NewTrace::default()
        };
        let (record, content) = keep(&store, new, &sources, anonymity)?;
        let analysis = RunAnalysis::Trace(analyse_trace(&record, content));
        let head = show_head(&record, look.colour);
        tell(common, file::printed_with(&head, &record, &analysis, common, look)?)
    })
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// The file that is read, also if it is standard input.
pub(super) fn opened(source: &Path) -> &Path {
    if is_standard_input(source) { Path::new("/proc/self/fd/0") } else { source }
}

/// What the run says that it was read from: of a trace without names none, and of a pipe there is none.
fn told_sources(sources: &[PathBuf], anonymity: TraceAnonymity) -> Vec<String> {
    let files = sources.iter().filter(|path| *path != Path::new("-"));
    match anonymity {
        TraceAnonymity::Named => files.map(|path| path.display().to_string()).collect(),
        TraceAnonymity::Anonymised => Vec::new(),
    }
}

fn tell(common: &Common, printed: Printed) -> Result<(), Failure> {
    output::tell(common, printed).map(drop)
}

/// Writes the trace to a file of the user's.
fn write(sources: &[PathBuf], anonymity: TraceAnonymity, path: &Path) -> Result<(), Failure> {
    let mut failure = None;
    let written = replace_trace_by(path, "-o", |file| {
        match convert_to_trace(sources, anonymity, BufWriter::new(file)) {
            Ok(mut output) => output.flush(),
            Err(refused) => {
                failure = Some(refused);
                Err(std::io::Error::other("there is nothing to write"))
            }
        }
    });
    failure.map_or(written, Err)
}

/// Keeps the trace as a run; of what cannot be read nothing is kept.
fn keep(
    store: &Store,
    new: NewTrace,
    sources: &[PathBuf],
    anonymity: TraceAnonymity,
) -> Result<(RunRecord, TraceContent), Failure> {
    let record = new.record(NewTrace::claim(store).map_err(Failure::unusable)?);
    let trace = TraceRun::begin(store, record).map_err(Failure::unusable)?;
    let content = match content(&trace, sources, anonymity) {
        Ok(content) => content,
        Err(failure) => {
            // The first failure is the one to tell; what is left is recovered by the next command.
            let _ = trace.abandon(store);
            return Err(failure);
        }
    };
    let completed = trace.complete(|record| describe(record, &content));
    let (_, record) = completed.map_err(Failure::unusable)?;
    Ok((record, content))
}

fn content(
    trace: &TraceRun,
    sources: &[PathBuf],
    anonymity: TraceAnonymity,
) -> Result<TraceContent, Failure> {
    let mut output = convert_to_trace(sources, anonymity, BufWriter::new(trace.file()))?;
    output.flush().map_err(|error| Failure::unusable(format!("cannot write the trace: {error}")))?;
    let written = trace.directory().open_trace().map_err(Failure::unusable)?;
    let written = written.ok_or_else(|| Failure::bug("the trace that was just written is not there"))?;
    read_trace(written).map_err(Failure::unusable)
}

/// What the trace says of where and when it was traced.
fn describe(record: &mut RunRecord, content: &TraceContent) {
    record.environment = environment_of(&content.about);
    match content.ending.began_realtime_ns {
        Some(began) => record.anchors = vec![anchor_at(began)],
        None => record.remarks.push(
            "The text does not say on which day it was traced: the run has the moment at which it was read."
                .to_owned(),
        ),
    }
    if let iolag_model::WorkloadSpec::Trace(spec) = &mut record.spec.workload {
        spec.origin = content.about.origin;
        spec.program = traced_program(content);
    }
}
