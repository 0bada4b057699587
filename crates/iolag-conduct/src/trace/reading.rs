//! What the file of a trace says, in one pass.

use std::io::Read;

use iolag_analysis::{RunAnalysis, Summaries, TraceContent, analyse_run, analyse_trace};
use iolag_model::{
    Anchor, Environment, MonotonicTime, Nanoseconds, RunRecord, RunState, SetUpCounts, TraceAbout,
    TraceAnonymity, TraceSummary, Trust, counted,
};
use iolag_store::{RunDirectory, StoreError};
use iolag_trace::{Ending, Likeness, Summariser, TraceFileError, TraceReader};
use serde::{Deserialize, Serialize};

use super::storing::NewTrace;
use crate::storing::place;

/// Judges a stored run by its summaries, of a replay also by what its clients said, or, of a trace, by its file.
///
/// # Errors
/// If the store does not give that file.
pub fn analyse_stored(
    run: &RunDirectory,
    record: &RunRecord,
    summaries: &Summaries,
) -> Result<RunAnalysis, StoreError> {
    if record.spec.workload.replay().is_some() {
        return Ok(analyse_run(record, summaries).explained(&run.details()?));
    }
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
    let mut summariser = Summariser::new(about.overhead());
    let (ending, cut_off) = match reader.read_into(&mut summariser) {
        Ok(ending) => (ending, None),
        Err(error) => (Ending::default(), Some(cut_off(&error))),
    };
    let mut content = trace_content(about, summariser.finish(reader.tables()), ending);
    content.trust.splice(0..0, cut_off);
    Ok(content)
}

/// What a set-up has to be to be like a trace.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SetUpLike {
    /// What was asked.
    pub counts: SetUpCounts,
    /// If that is not all of the trace, a sentence.
    pub doubt: Option<String>,
}

/// Counts what a set-up is made of; of a trace that is cut off or damaged, what stands before.
///
/// # Errors
/// If it is no trace, or one of a newer iolag.
pub fn read_set_up_like(input: impl Read) -> Result<SetUpLike, TraceFileError> {
    let mut reader = TraceReader::new(input)?;
    let mut likeness = Likeness::default();
    let read = reader.read_into(&mut likeness);
    Ok(SetUpLike { counts: likeness.finish(), doubt: read.err().map(|error| cut_off(&error).doubt) })
}

/// What is told of a trace that was read to its end.
pub fn trace_content(about: TraceAbout, summary: TraceSummary, ending: Ending) -> TraceContent {
    let trust = doubts(&ending, &summary);
    TraceContent { about, summary, ending, trust }
}

/// The record of a trace that is a file by itself.
pub fn record_of_trace_file(content: &TraceContent) -> RunRecord {
    let about = TraceAbout { program: traced_program(content), ..content.about.clone() };
    let realtime_ns = content.ending.began_realtime_ns.unwrap_or_default();
    let id = place::run_ids(realtime_ns).next().expect("there are names in any second");
    let environment = environment_of(&about);
    let mut record = NewTrace { about, environment, ..NewTrace::default() }.record(id);
    record.state = match (content.ending.is_missing(), &content.ending.cut) {
        (true, _) => RunState::Incomplete { reason: "the trace is cut off".to_owned() },
        (false, Some(cut)) => {
            RunState::Incomplete { reason: format!("the trace ends before the program: {cut}") }
        }
        (false, None) => RunState::Complete,
    };
    record.anchors = content.ending.began_realtime_ns.into_iter().map(anchor_at).collect();
    record
}

/// What the program is called: as the trace says, or, unless that has no names, as what it executed first.
pub fn traced_program(content: &TraceContent) -> Option<String> {
    let first = || content.summary.programs.iter().find_map(|program| program.program.as_deref());
    let name = || first()?.rsplit('/').next().map(str::to_owned);
    let is_named = content.about.anonymity == TraceAnonymity::Named;
    content.about.program.clone().or_else(|| name().filter(|_| is_named))
}

/// The machine on which a program was traced, as far as its trace says.
pub fn environment_of(about: &TraceAbout) -> Environment {
    Environment {
        host: about.host.clone().unwrap_or_default(),
        kernel: about.kernel.clone().unwrap_or_default(),
        iolag_version: env!("CARGO_PKG_VERSION").to_owned(),
        ..Environment::default()
    }
}

/// A moment on another machine's clock.
pub fn anchor_at(realtime_ns: u64) -> Anchor {
    Anchor { monotonic_ns: MonotonicTime(0), boottime_ns: 0, realtime_ns }
}

pub(crate) fn cut_off(error: &TraceFileError) -> Trust {
    Trust {
        doubt: format!("the trace is not whole: {error}"),
        advice: "what is told is of the calls before that; trace it again for the rest".to_owned(),
    }
}

/// Less processor time that the trace does not show may be that of tracing.
const UNSEEN_MIN: Nanoseconds = Nanoseconds::from_milliseconds(200);

/// What the text was like from which a trace was made.
fn doubts(ending: &Ending, summary: &TraceSummary) -> Vec<Trust> {
    let mut trust = Vec::new();
    let mut doubt = |doubt: String, advice: &str| trust.push(Trust { doubt, advice: advice.to_owned() });
    if ending.foreign > 0 {
        let lines = counted(ending.foreign, "line was", "lines were");
        doubt(
            format!("{lines} not strace's, or not whole, and left out"),
            "have strace write to a file of its own, with -o",
        );
    }
    if ending.guessed > 0 {
        let tasks = counted(ending.guessed, "task", "tasks");
        doubt(
            format!("of {tasks} it is not certain who began them: several forks were going on at once"),
            "what they asked is right; which process has it may not be",
        );
    }
    let counted_ns = ending.processor.map_or(Nanoseconds::ZERO, |time| time.program_ns);
    // The kernel works in calls, too.
    let room_ns = Nanoseconds(summary.time.processor_ns.0.saturating_add(summary.time.storage_ns.0));
    if counted_ns.0 / 2 > room_ns.0 && counted_ns.0 - room_ns.0 > UNSEEN_MIN.0 {
        doubt(
            format!(
                "the system counted {counted_ns} of processor time, and calls on storage and the time between calls have room for {room_ns}"
            ),
            "threads worked that made no calls: see what they do with perf or a profiler",
        );
    }
    if summary.calls > 0 && summary.time.untimed == summary.calls {
        doubt("how long calls took is not known".to_owned(), "have strace write it, with -T");
    }
    trust
}

#[cfg(test)]
mod tests;
