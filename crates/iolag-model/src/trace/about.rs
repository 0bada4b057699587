//! What a trace says of itself, before its first call.

use serde::{Deserialize, Serialize};

use super::elapsed::TraceList;
use crate::Nanoseconds;

/// What is known before the first call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceAbout {
    /// Where the trace is from.
    pub origin: TraceOrigin,
    /// The program, without its arguments; of text, nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The version of strace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strace: Option<String>,
    /// Whether calls on sockets were traced, too.
    #[serde(skip_serializing_if = "TraceNetwork::is_left")]
    pub network: TraceNetwork,
    /// What tracing costs, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<TracingCost>,
    /// Whether names are those of the program.
    pub anonymity: TraceAnonymity,
    /// Variables of the command's environment that had lists of directories, by name: PATH, PYTHONPATH. Their values are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// What was mounted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<TraceMount>,
}

impl TraceAbout {
    /// What is taken from the time between two calls, because it is the tracer's.
    pub fn overhead(&self) -> Nanoseconds {
        self.cost.map_or(Nanoseconds::ZERO, |cost| cost.between_ns.median)
    }
}

/// A mount, as far as it tells what calls were about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceMount {
    /// Where.
    pub point: String,
    /// Type as the kernel names it: ext4, nfs4, lustre.
    pub kind: String,
    /// What is mounted, secrets removed.
    pub source: String,
}

/// Where a trace is from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceOrigin {
    /// A command that iolag ran under strace.
    Captured,
    /// Processes that strace was attached to.
    Attached,
    /// Text that somebody else had strace write.
    #[default]
    Text,
}

/// Whether the names in a trace are those that the program asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceAnonymity {
    /// They are.
    #[default]
    Named,
    /// Each is replaced by another of the same length.
    Anonymised,
}

/// Whether calls on sockets are traced, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceNetwork {
    /// They are left out.
    #[default]
    Left,
    /// They are traced.
    Traced,
}

impl TraceNetwork {
    // serde hands over a reference.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
    fn is_left(&self) -> bool {
        *self == Self::Left
    }
}

/// What a traced call costs more than one that is not, measured just before on the same machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracingCost {
    /// How much later the task goes on, beyond the end that strace tells: it is taken from the time between calls.
    pub between_ns: TraceCost,
    /// How much longer the call itself seems: it is taken from nothing.
    pub within_ns: TraceCost,
}

impl TracingCost {
    /// All of it.
    pub fn whole(&self) -> TraceCost {
        let both = |one: Nanoseconds, other: Nanoseconds| Nanoseconds(one.0.saturating_add(other.0));
        TraceCost {
            median: both(self.between_ns.median, self.within_ns.median),
            least: both(self.between_ns.least, self.within_ns.least),
            most: both(self.between_ns.most, self.within_ns.most),
        }
    }
}

/// A time that was measured in several batches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCost {
    /// Of the batch in the middle.
    pub median: Nanoseconds,
    /// Of the cheapest batch.
    pub least: Nanoseconds,
    /// Of the dearest batch.
    pub most: Nanoseconds,
}

/// What is known after the last call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceEnding {
    /// Calls in the file.
    pub calls: u64,
    /// Edges in the file.
    pub edges: u64,
    /// When it began, in ns since 1970, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began_realtime_ns: Option<u64>,
    /// What its times are made of: `none`, `of-day`, `unix`, `since-last`.
    pub clock: String,
    /// Calls of which the end was not seen.
    pub unfinished: u64,
    /// Lines that were not strace's, or not whole.
    pub foreign: u64,
    /// Tasks of which it is not certain who began them.
    pub guessed: u64,
    /// What was looked for in the lists of directories that its environment has; those whose failed look-ups took longest first. Of text, nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<TraceList>,
    /// How the program ended, if that was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<ProgramEnd>,
    /// Why the trace ends before the program, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// Processor time, if it was captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processor: Option<CaptureTime>,
}

impl TraceEnding {
    /// Whether this is what stands for the ending of a trace that is cut off: every other one names its clock.
    pub const fn is_missing(&self) -> bool {
        self.clock.is_empty()
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramEnd {
    /// By itself, with this status.
    Exited(u8),
    /// By the signal with this number; 0 if it is unknown.
    Killed(u8),
}

/// Processor time while a program was traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureTime {
    /// Of the program, and all that it started and that has ended.
    pub program_ns: Nanoseconds,
    /// Of strace.
    pub strace_ns: Nanoseconds,
    /// Of iolag, which reads what strace writes.
    pub iolag_ns: Nanoseconds,
}
