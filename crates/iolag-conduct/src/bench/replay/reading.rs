//! What of a trace can be asked again, read from its file.

use std::io::{self, Read, Seek};

use iolag_model::{Nanoseconds, ReplayMap};
use iolag_trace::{
    Ask, Bone, Call, Changes, Divider, Edge, Ending, Own, OwnFiles, Repeater, Repetition, Scope, Sink,
    Tables, TraceFileError, TraceReader, Whereabouts,
};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::trace::reading::cut_off;

/// A trace, read to be repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadToRepeat {
    /// What is to be asked.
    pub repetition: Repetition,
    /// Where its calls lie.
    pub whereabouts: Whereabouts,
    /// What tracing it cost, which is none of its time.
    pub tracing: Nanoseconds,
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

/// Whether what the program changed is changed again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changing {
    /// It is left out.
    Never,
    /// In files of each copy's own.
    OwnFiles,
}

/// Reads a trace, from its beginning; of one that is cut off or damaged, what stands before.
///
/// # Errors
/// If it is no trace, or one of a newer iolag.
pub fn read_to_repeat(
    mut input: impl Read + Seek,
    scope: &Scope,
    changing: Changing,
) -> Result<ReadToRepeat, TraceFileError> {
    let (own, bones) = match changing {
        Changing::Never => (Own::default(), Vec::new()),
        Changing::OwnFiles => changes(&mut input, scope)?,
    };
    let is_changed = !own.is_empty();
    let mut reader = TraceReader::new(input)?;
    let about = reader.about().clone();
    let mut both = Both {
        repeater: Repeater::new(scope.clone(), about.cost).with_own(own),
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
    let whereabouts = both.repeater.whereabouts(reader.tables());
    let mut repetition = both.repeater.finish(traced);
    if is_changed {
        repetition.own = Some(own_files(&repetition, scope, bones));
    }
    let tracing = elapsed.tracing_ns;
    Ok(ReadToRepeat { repetition, whereabouts, tracing, program: about.program, doubt })
}

/// What the program changes: all of it is known before anything is repeated.
fn changes(input: &mut (impl Read + Seek), scope: &Scope) -> Result<(Own, Vec<Bone>), TraceFileError> {
    let mut changes = Changes::new(scope.clone());
    // Where it is cut off is told by who reads it next.
    let _ = TraceReader::new(&mut *input)?.read_into(&mut changes);
    input.rewind()?;
    Ok(changes.finish())
}

fn own_files(repetition: &Repetition, scope: &Scope, bones: Vec<Bone>) -> OwnFiles {
    let (mut files, mut bytes) = (bones.len() as u64 + 1, 0_u64);
    for item in repetition.tasks.iter().flat_map(|task| &task.items) {
        bytes = bytes.saturating_add(item.ask.written());
        files += u64::from(matches!(&item.ask, Ask::Change(change) if change.makes()));
    }
    OwnFiles { map: scope.own(), bones, files, bytes }
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
