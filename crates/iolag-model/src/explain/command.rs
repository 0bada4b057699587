//! What was seen of a command that is to be explained.

use serde::{Deserialize, Serialize};

use super::{Connecting, Counted, ServedBy, Waits};
use crate::{FileSystem, Nanoseconds, ProgramEnd, TraceElapsed, TraceList, TraceSummary, TracingCost, Trust};

/// What was mounted where a command asked, and took time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeenMount {
    /// What is mounted.
    pub file_system: FileSystem,
    /// Who answers for it.
    pub served_by: ServedBy,
    /// What its client counted while the command ran, for whomever.
    pub counted: Counted,
    /// The way to its server.
    pub connecting: Connecting,
}

/// What was seen of a command while it was traced.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenCommand {
    /// The program, without its arguments.
    pub program: String,
    /// How it ended, if that was seen.
    pub ended: Option<ProgramEnd>,
    /// Why the trace ends before it, if it does.
    pub cut: Option<String>,
    /// The deadline at which it was ended, if it was.
    pub past_deadline_ns: Option<Nanoseconds>,
    /// What could not be ended, by name and where it waits.
    pub left: Vec<String>,
    /// Where the time that passed went.
    pub elapsed: TraceElapsed,
    /// How long its tasks used a processor, with what tracing makes them use.
    pub processor_ns: Nanoseconds,
    /// What tracing a call costs.
    pub cost: TracingCost,
    /// What is mounted where it asked, if that took time worth a look.
    pub mounts: Vec<SeenMount>,
    /// In which functions of the kernel its tasks waited: of so many looks at all of them, how many found one there. A look may find several.
    pub waits: Waits,
    /// From the first look to the last.
    pub looked_ns: Nanoseconds,
    /// Variables of its environment that are lists of directories; those whose failed look-ups took longest first.
    pub lists: Vec<TraceList>,
    /// What is to be doubted.
    pub trust: Vec<Trust>,
    /// What all its calls come to. It is long: documents have what matters of it.
    #[serde(skip)]
    pub summary: TraceSummary,
}
