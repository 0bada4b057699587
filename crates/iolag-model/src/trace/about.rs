//! What a trace says of itself, before its first call.

use serde::{Deserialize, Serialize};

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
    /// Whether names are those of the program.
    pub anonymity: TraceAnonymity,
    /// What tracing cost the program for each call, if that was measured. It is in the gaps between calls, not in their durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead_ns: Option<Nanoseconds>,
    /// Variables of the command's environment that had lists of directories, by name: PATH, PYTHONPATH. Their values are not kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// What was mounted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<TraceMount>,
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
