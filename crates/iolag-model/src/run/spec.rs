//! The spec: everything that decides what a run does. Immutable, serialised into every run.

mod jobs;
mod replay;
mod set_up;
mod tree;

pub use jobs::JobTerms;
pub use replay::{LeftOut, ReplayCoverage, ReplayMap, ReplayOwn, ReplaySpec, ReplayTiming, WhyLeftOut};
pub use set_up::{MILLION, SetUpCounts, SetUpPreset, SetUpSpec};
pub use tree::{TreeNames, TreeRecord, TreeSpec, TreeStage};

use serde::{Deserialize, Serialize};

use super::deadlines::{OnError, known_rules};
use super::server::Connections;
use crate::{
    BystanderSpec, CacheState, CopyEnd, DeadlineRule, Deadlines, FormatVersion, Nanoseconds, Operation,
    RUN_FORMAT, RUN_FORMAT_WITH_PING, RUN_FORMAT_WITH_TRACES, Role, StreamSpec, TargetIndex, TraceOrigin,
};

/// What to run. Two runs with equal specs execute the same operations in the same order per client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The workload and its parameters.
    pub workload: WorkloadSpec,
    /// Targets as the user wrote them, secrets removed.
    pub targets: Vec<String>,
    /// Number of clients per target.
    pub clients: u32,
    /// After this long an operation counts as hung (while it lasts) or late (when it ends).
    pub deadline_ns: Nanoseconds,
    /// Deadlines other than that, by operation and by what a client is there for.
    #[serde(default, deserialize_with = "known_rules", skip_serializing_if = "Vec::is_empty")]
    pub deadlines: Vec<DeadlineRule>,
    /// What a hung operation does to the run.
    pub on_hang: OnHang,
    /// What a failed request does to the run.
    #[serde(default, skip_serializing_if = "OnError::is_continue")]
    pub on_error: OnError,
    /// Seed of everything random.
    pub seed: u64,
    /// Shared memory for samples, in bytes, over all clients.
    pub ring_bytes: u64,
    /// What caches hold when a stage begins.
    #[serde(default, skip_serializing_if = "CacheState::is_asis")]
    pub caches: CacheState,
    /// A command for a shell that drops the caches of servers, executed each time the own ones are dropped; secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop_command: Option<String>,
    /// Who measures beside the load, if somebody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bystander: Option<BystanderSpec>,
}

impl RunSpec {
    /// How long operations of clients of this role may take.
    pub fn deadlines_of(&self, role: Role) -> Deadlines {
        Deadlines::by_rules(role, self.deadline_ns, &self.deadlines)
    }

    /// Clients of the load: those that its clients begin have the numbers that follow theirs.
    pub fn load_clients(&self) -> u32 {
        self.clients.saturating_mul(self.workload.replay().map_or(1, |replay| replay.tasks.max(1)))
    }

    /// Clients that this one begins.
    pub fn followers_of(&self, client: u32) -> std::ops::Range<u32> {
        let each = self.workload.replay().map_or(0, |replay| replay.tasks.saturating_sub(1));
        let first = self.clients.saturating_add(client.saturating_mul(each));
        first..first.saturating_add(each)
    }

    /// In which target something is that the load asks in such a phase, where a run has several: it copies from the first to the second, and
    /// the blocks are in both.
    pub fn place_of(&self, phase: Phase, operation: Operation) -> Option<String> {
        let [file, copy] = &self.targets[..] else { return None };
        self.workload.stream().filter(|stream| stream.copies())?;
        Some(match CopyEnd::of(phase, operation) {
            CopyEnd::File => file.clone(),
            CopyEnd::Copy => copy.clone(),
            CopyEnd::Both => format!("{file} and {copy}"),
        })
    }
}

/// Makes of the list of workloads their enum, what is asked of each, and a macro that evaluates an expression of whatever it is. A
/// row: the spec, what it is called, who gives it, and the format of its runs.
macro_rules! workloads {
    ($dollar:tt $($(#[$about:meta])* $variant:ident($spec:ident) = $name:literal, $own:ident, $format:ident;)*) => {
        /// A workload with its parameters.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "kind")]
        pub enum WorkloadSpec {
            $($(#[$about])* #[serde(rename = $name)] $variant($spec),)*
        }

        impl WorkloadSpec {
            /// What it is called: `check`, `metadata`, `ping`.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// The format of a run of this workload: an iolag from before a workload says that it is too old for such runs, and
            /// goes on reading the others.
            pub const fn run_format(&self) -> FormatVersion {
                match self { $(Self::$variant(_) => $format,)* }
            }

            $(
                #[doc = concat!("That of ", $name, ", if it is one.")]
                pub const fn $own(&self) -> Option<&$spec> {
                    if let Self::$variant(spec) = self { Some(spec) } else { None }
                }
            )*
        }

        /// The expression of whatever workload it is.
        #[macro_export]
        macro_rules! whatever_workload {
            ($dollar workload:expr, $dollar spec:ident => $dollar told:expr) => {
                match $dollar workload { $($crate::WorkloadSpec::$variant($dollar spec) => $dollar told,)* }
            };
        }
    };
}

workloads! { $
    /// `iolag check`.
    Check(CheckSpec) = "check", check, RUN_FORMAT;
    /// `iolag bench metadata`.
    Metadata(MetadataSpec) = "metadata", metadata, RUN_FORMAT;
    /// `iolag ping`.
    Ping(PingSpec) = "ping", ping, RUN_FORMAT_WITH_PING;
    /// `iolag trace`.
    Trace(TraceSpec) = "trace", trace, RUN_FORMAT_WITH_TRACES;
    /// `iolag bench setup`.
    SetUp(SetUpSpec) = "setup", set_up, RUN_FORMAT_WITH_TRACES;
    /// `iolag bench stream`.
    Stream(StreamSpec) = "stream", stream, RUN_FORMAT_WITH_TRACES;
    /// `iolag bench tree`.
    Tree(TreeSpec) = "tree", tree, RUN_FORMAT_WITH_TRACES;
    /// `iolag replay`.
    Replay(ReplaySpec) = "replay", replay, RUN_FORMAT_WITH_TRACES;
}

impl WorkloadSpec {
    /// The target that nobody asked for: the machine's own memory, with which a check compares.
    pub fn control(&self) -> Option<TargetIndex> {
        self.check().and_then(|check| check.control)
    }

    /// What is asked of the copies, if it is a job's.
    pub const fn job_terms(&self) -> Option<&JobTerms> {
        match self {
            Self::SetUp(spec) => Some(&spec.terms),
            Self::Replay(spec) => Some(&spec.terms),
            _ => None,
        }
    }

    /// The same, to ask something else.
    pub const fn job_terms_mut(&mut self) -> Option<&mut JobTerms> {
        match self {
            Self::SetUp(spec) => Some(&mut spec.terms),
            Self::Replay(spec) => Some(&mut spec.terms),
            _ => None,
        }
    }
}

/// Parameters of `iolag ping`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PingSpec {
    /// What one probe is.
    pub probe: PingProbe,
    /// From the intended start of one probe to that of the next.
    pub every_ns: Nanoseconds,
    /// How many probes; without, until it is told to end.
    pub count: Option<u64>,
}

/// What one probe of `iolag ping` is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum PingProbe {
    /// stat of a file, open and read of it, create of another: made by iolag itself, without a program.
    Operations {
        /// Bytes of both files.
        object_bytes: u64,
    },
    /// stat and read of the object that the URL of a web server names; nothing is made.
    Object,
    /// A task as the watch executes it, in a process of its own.
    Task {
        /// Its name.
        name: String,
    },
}

/// Parameters of `iolag trace`. What was asked is in a file beside the record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSpec {
    /// Where the trace is from.
    pub origin: TraceOrigin,
    /// The program, without its arguments, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// Parameters of `iolag check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSpec {
    /// Time for all directories together.
    pub budget_ns: Nanoseconds,
    /// Files in the directory that is listed (study 000: 6).
    pub listed_files: u32,
    /// Small files created by the create task (study 000: 500).
    pub created_files: u32,
    /// Bytes of the short stream.
    pub stream_bytes: u64,
    /// Bytes of one block of the stream.
    pub block_bytes: u64,
    /// Bytes of an object of the single operations.
    pub object_bytes: u64,
    /// Durations whose share of slower attempts is shown.
    pub thresholds_ns: Vec<Nanoseconds>,
    /// The target on the machine's own memory that the others are compared with, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<TargetIndex>,
}

/// Parameters of `iolag bench metadata`, in the letters of the ancestor: D, P, I, R, S, O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetadataSpec {
    /// In which order objects are accessed.
    pub pattern: Pattern,
    /// What a sample is.
    pub granularity: Granularity,
    /// Which phases run.
    pub phases: Vec<Phase>,
    /// D: datasets (directories) per client.
    pub datasets: u32,
    /// P: objects precreated per dataset.
    pub precreated_objects: u64,
    /// I: objects per dataset and iteration.
    pub objects: u64,
    /// R: iterations of the benchmark phase.
    pub iterations: u32,
    /// S: bytes of an object.
    pub object_bytes: u64,
    /// O: distance to the client whose objects are read.
    pub offset: u32,
    /// Pause after every operation.
    pub think: Think,
    /// Whether objects are replaced.
    pub access: Access,
    /// End of an iteration before all objects are done.
    pub time_limit: Option<TimeLimit>,
    /// Whether created objects are made durable inside the timing.
    pub durability: Durability,
    /// Whether the content that was read is compared, outside the timing.
    pub verification: Verification,
    /// Whether datasets are made and removed on this target.
    #[serde(default, skip_serializing_if = "Datasets::are_made")]
    pub dataset_kind: Datasets,
    /// Whether connections to a server are kept.
    #[serde(default, skip_serializing_if = "Connections::are_kept")]
    pub connections: Connections,
}

/// Whether datasets exist by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Datasets {
    /// They are made and removed; an object needs its own.
    #[default]
    Made,
    /// They are what objects' names have in common: nothing is made, and a missing one is an empty one.
    Implied,
}

impl Datasets {
    /// Whether they are made and removed.
    pub const fn are_made(&self) -> bool {
        matches!(self, Self::Made)
    }
}

/// What the choices of an enum are called.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// Every choice, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name on the command line and in files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }
    };
}
pub(in crate::run) use names;

/// In which order objects are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// md-workbench's code: read from client r − O(d+1), create at r + O(d+1).
    Code,
    /// The 2013 paper: read from client r + O(d+1), create at r + O·d.
    Paper,
    /// mdtest's school: create all, stat all, read all, remove all; make and remove a tree.
    Batch,
}
names!(Pattern { Code = "code", Paper = "paper", Batch = "batch" });

/// What a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Granularity {
    /// One per operation on an object, with the bounds of md-workbench.
    Operations,
    /// One per system call.
    Calls,
}
names!(Granularity { Operations = "operations", Calls = "calls" });

/// A part of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Make the working set.
    Precreate,
    /// Work on it, its size staying the same.
    Benchmark,
    /// Remove it.
    Cleanup,
    /// Batch: make a tree of directories.
    TreeCreate,
    /// Batch: create all objects.
    BatchCreate,
    /// Batch: stat all objects.
    BatchStat,
    /// Batch: read all objects.
    BatchRead,
    /// Batch: remove all objects.
    BatchRemove,
    /// Batch: remove the tree of directories.
    TreeRemove,
    /// A round of `iolag check`.
    Check,
    /// The probes of `iolag ping`.
    Ping,
    /// Stream: write a file that was not there.
    Write,
    /// Stream: write over a file that is there.
    Rewrite,
    /// Stream: read a file from its beginning to its end.
    Read,
    /// Stream: read every block of a file, in random order.
    RandomRead,
    /// Stream: write over every block of a file, in random order.
    RandomWrite,
    /// Stream: copy a file to another one.
    Copy,
    /// Tree: read all directories.
    Walk,
    /// Tree: ask for the attributes of every name.
    Stat,
    /// Tree: read every file to its end, and sum it.
    Sum,
    /// Tree: ask for the attributes of each name, and sum it if it is a file.
    Combined,
}
names!(Phase {
    Precreate = "precreate",
    Benchmark = "benchmark",
    Cleanup = "cleanup",
    TreeCreate = "tree-create",
    BatchCreate = "batch-create",
    BatchStat = "batch-stat",
    BatchRead = "batch-read",
    BatchRemove = "batch-remove",
    TreeRemove = "tree-remove",
    Check = "check",
    Ping = "ping",
    Write = "write",
    Rewrite = "rewrite",
    Read = "read",
    RandomRead = "random-read",
    RandomWrite = "random-write",
    Copy = "copy",
    Walk = "walk",
    Stat = "stat",
    Sum = "sum",
    Combined = "combined",
});

impl Phase {
    /// Whether it only makes the working set, or removes it: nobody measures that.
    pub const fn is_of_working_set(self) -> bool {
        matches!(self, Self::Precreate | Self::TreeCreate | Self::Cleanup | Self::TreeRemove)
    }
}

/// Pause after every operation, in which the client does nothing. Not part of an operation's duration.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// No pause.
    None,
    /// This many times the duration of the operation.
    Factor(f64),
    /// This long.
    Fixed(Nanoseconds),
}

/// Whether objects are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// stat, read, delete, create.
    Replace,
    /// stat, read.
    ReadOnly,
}
names!(Access { Replace = "replace", ReadOnly = "read-only" });

/// When an iteration ends before all objects are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeLimit {
    /// Time since the iteration's start.
    pub after_ns: Nanoseconds,
    /// What happens then.
    pub wear_out: WearOut,
}

/// What happens when the time limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WearOut {
    /// Every client stops where it is.
    Stop,
    /// Every client goes on to the objects that the fastest had reached.
    Equalise,
}
names!(WearOut { Stop = "stop", Equalise = "equalise" });

/// Whether created objects are made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// As the target does it by itself.
    Default,
    /// fsync before close, inside the create operation.
    Fsync,
}
names!(Durability { Default = "default", Fsync = "fsync" });

/// Whether read content is compared with what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verification {
    /// Only the number of bytes.
    Length,
    /// Every byte, outside the timing.
    Content,
}
names!(Verification { Length = "length", Content = "content" });

/// What a hung operation does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnHang {
    /// Wait until it ends, however long that takes.
    Wait,
    /// Go on with the other clients; at the end leave it behind.
    Continue,
    /// End the run now, with what was measured.
    Stop,
}
names!(OnHang { Wait = "wait", Continue = "continue", Stop = "stop" });
