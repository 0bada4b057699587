//! What the file of a trace says, in one pass.

use std::io::Read;

use iolag_analysis::{RunAnalysis, Summaries, TraceContent, analyse_run, analyse_trace};
use iolag_model::{Nanoseconds, RunRecord, Trust};
use iolag_store::{RunDirectory, StoreError};
use iolag_trace::{Summariser, TraceFileError, TraceReader};

/// Judges a stored run by its summaries, or, of a trace, by its file.
///
/// # Errors
/// If the store does not give that file.
pub fn analyse_stored(
    run: &RunDirectory,
    record: &RunRecord,
    summaries: &Summaries,
) -> Result<RunAnalysis, StoreError> {
    if record.spec.workload.trace().is_none() {
        return Ok(analyse_run(record, summaries));
    }
    let content = match run.open_trace()? {
        Some(file) => read_trace(file).unwrap_or_else(|error| nothing(&error.to_string())),
        None => nothing("its file is not there"),
    };
    Ok(RunAnalysis::Trace(analyse_trace(record, content)))
}

fn nothing(why: &str) -> TraceContent {
    let doubt = format!("nothing can be told of the trace: {why}");
    let advice = "trace it again".to_owned();
    TraceContent { trust: vec![Trust { doubt, advice }], ..TraceContent::default() }
}

/// Reads all that can be read of a trace. Of one that is cut off or damaged that is what stands before, and a doubt says so.
///
/// # Errors
/// If it is no trace, or one of a newer iolag.
pub fn read_trace(input: impl Read) -> Result<TraceContent, TraceFileError> {
    let mut reader = TraceReader::new(input)?;
    let about = reader.about().clone();
    let mut summariser = Summariser::new(about.overhead_ns.unwrap_or(Nanoseconds::ZERO));
    let mut trust = Vec::new();
    if let Err(error) = reader.read_into(&mut summariser) {
        trust.push(cut_off(&error));
    }
    let summary = summariser.finish(reader.tables());
    Ok(TraceContent { about, summary, trust })
}

fn cut_off(error: &TraceFileError) -> Trust {
    Trust {
        doubt: format!("the trace is not whole: {error}"),
        advice: "what is told is of the calls before that; trace it again for the rest".to_owned(),
    }
}
