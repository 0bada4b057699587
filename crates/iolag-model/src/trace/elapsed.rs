//! Where the time that passed while a command was traced went.

use serde::{Deserialize, Serialize};

use crate::Nanoseconds;

/// Each moment from the first call to the last, given to what was being done then. Other than in [`TraceTime`](super::TraceTime), time in which
/// several tasks wait for each other counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceElapsed {
    /// From the first call to the end of the last.
    pub span_ns: Nanoseconds,
    /// Of it, what tracing took: it is in none of the activities.
    pub tracing_ns: Nanoseconds,
    /// What was done; most time first.
    pub activities: Vec<TraceActivity>,
}

/// Variables that list directories for everybody; any other may be a site's own, and say whose trace it is.
pub const USUAL_LISTS: [&str; 9] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PERL5LIB",
    "CPATH",
    "LIBRARY_PATH",
    "MANPATH",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
];

/// A variable of the environment that is a list of directories, and what was looked for in vain in these. Which they are is not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceList {
    /// What the variable is called.
    pub variable: String,
    /// How many different directories it lists, but for the root.
    pub directories: u64,
    /// How many of them were looked for, or in, and nothing was ever found in them: they are not there, or have nothing that was wanted.
    pub in_vain: u64,
    /// How many look-ups that were.
    pub calls: u64,
    /// How long they took, over all tasks.
    pub tasks_ns: Nanoseconds,
}

/// What was done for some of the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceActivity {
    /// What.
    pub kind: TraceActivityKind,
    /// How much of the time that passed is its.
    pub elapsed_ns: Nanoseconds,
    /// How long all tasks did it, which may be more, or, of what is only waited for, less.
    pub tasks_ns: Nanoseconds,
    /// How many calls.
    pub calls: u64,
}

/// What a task does. Who waits for another task does less than that one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceActivityKind {
    /// Looks for a name that is not there, in what is mounted at this place.
    LookUps(String),
    /// Asks for anything else of what is mounted at this place.
    Storage(String),
    /// Asks what users, groups and hosts are called: daemons, servers, and the files of such names.
    NameService,
    /// Uses a processor between two calls.
    Processor,
    /// Waits for time to pass.
    Time,
    /// Waits for who is reached over a network or a socket, and is no name service.
    Network,
    /// Waits for pipes, terminals, devices and the like.
    Others,
    /// Waits for what it has started.
    Processes,
    /// Makes no call and uses no processor: pages of mapped files, locks, or the processor is somebody else's.
    Unknown,
}
