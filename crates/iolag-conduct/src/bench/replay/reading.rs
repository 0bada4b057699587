//! What of a trace can be asked again, read from its file.

use std::io::{self, Read};

use iolag_model::{Nanoseconds, ReplayMap};
use iolag_trace::{
    Call, Divider, Edge, Ending, Repeater, Repetition, Scope, Sink, Tables, TraceFileError, TraceReader,
};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::trace::reading::cut_off;

/// A trace, read to be repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadToRepeat {
    /// What is to be asked.
    pub repetition: Repetition,
    /// The program, without its arguments, if it is known.
    pub program: Option<String>,
    /// If that is not all of the trace, a sentence.
    pub doubt: Option<String>,
}

/// What of a program's paths is asked again: `base` and the directories of `maps`, as far as they lie in `only`.
///
/// # Errors
/// If that cannot be.
pub fn replay_scope(base: &str, maps: &[ReplayMap], only: &[String]) -> Result<Scope, Failure> {
    // Where it leads is known elsewhere.
    let target = ReplayMap { from: base.to_owned(), to: String::new() };
    let all: Vec<ReplayMap> = std::iter::once(target).chain(maps.iter().cloned()).collect();
    Scope::new(&all, only).map_err(Failure::usage)
}

/// Reads a trace; of one that is cut off or damaged, what stands before.
///
/// # Errors
/// If it is no trace, or one of a newer iolag.
pub fn read_to_repeat(input: impl Read, scope: Scope) -> Result<ReadToRepeat, TraceFileError> {
    let mut reader = TraceReader::new(input)?;
    let about = reader.about().clone();
    let mut both = Both {
        repeater: Repeater::new(scope, about.cost),
        divider: Divider::new(about.cost.unwrap_or_default(), &about.mounts),
    };
    let read = reader.read_into(&mut both);
    let (ending, doubt) = match read {
        Ok(ending) => (ending, None),
        Err(error) => (Ending::default(), Some(cut_off(&error).doubt)),
    };
    let elapsed =
        both.divider.finish(ending.processor.map_or(Nanoseconds::ZERO, |time| time.program_ns), None);
    let traced = Nanoseconds(elapsed.span_ns.0.saturating_sub(elapsed.tracing_ns.0));
    Ok(ReadToRepeat { repetition: both.repeater.finish(traced), program: about.program, doubt })
}

/// Both look at the trace as it comes.
struct Both {
    repeater: Repeater,
    divider: Divider,
}

impl Sink for Both {
    fn call(&mut self, call: &Call, tables: &Tables) -> io::Result<()> {
        self.divider.call(call, tables)?;
        self.repeater.call(call, tables)
    }

    fn edge(&mut self, edge: &Edge, tables: &Tables) -> io::Result<()> {
        self.divider.edge(edge, tables)?;
        self.repeater.edge(edge, tables)
    }
}
