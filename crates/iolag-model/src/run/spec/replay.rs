//! Replay: a traced program, asked again by copies.

use serde::{Deserialize, Serialize};

use super::{JobTerms, names};
use crate::Nanoseconds;

/// Parameters of `iolag replay`. What each copy asks follows from the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplaySpec {
    /// The trace: a run of the store, or a file.
    pub trace: String,
    /// The program, without its arguments, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The directory of the program that the target stands for.
    pub base: String,
    /// Where its other directories are asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<ReplayMap>,
    /// Directories of the program to which all is restricted; nothing if it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// When calls are made.
    pub timing: ReplayTiming,
    /// So many times as fast as they were made; of `asap` that is one.
    pub speed: f64,
    /// When copies begin: so long one after the other.
    pub stagger_ns: Nanoseconds,
    /// Tasks of a copy.
    pub tasks: u32,
    /// What the task that does most does.
    pub items_max: u64,
    /// How long the program took, what tracing cost taken off.
    pub traced_ns: Nanoseconds,
    /// What tracing cost besides, as far as it is known.
    #[serde(default)]
    pub tracing_ns: Nanoseconds,
    /// What of the trace is repeated.
    pub coverage: ReplayCoverage,
    /// What is asked of the copies.
    #[serde(flatten)]
    pub terms: JobTerms,
    /// A copy is ended after this long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kill_after_ns: Option<Nanoseconds>,
    /// What each copy changes in files of its own, if it may, and does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<ReplayOwn>,
}

/// What a copy changes in files of its own, below the working directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayOwn {
    /// Files and directories that are made, those that have to be there before, too.
    pub files: u64,
    /// Bytes that are written.
    pub bytes: u64,
}

/// A directory of the program, and the one that is asked in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayMap {
    /// As the program named it.
    pub from: String,
    /// Absolute.
    pub to: String,
}

/// When the calls of a copy are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplayTiming {
    /// Each as soon as the one before has ended.
    Asap,
    /// Each as long after the one before as the program took between them.
    Gaps,
    /// Each at its moment since the beginning.
    Exact,
}
names!(ReplayTiming { Asap = "asap", Gaps = "gaps", Exact = "exact" });

/// How much of a trace is repeated, per copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCoverage {
    /// Calls on files and directories that were traced.
    pub traced: u64,
    /// Those that each copy makes.
    pub repeated: u64,
    /// The others, most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl ReplayCoverage {
    /// Less of a trace is no repetition of its program.
    pub const SHARE_MIN: f64 = 0.95;

    /// The share that is repeated; of nothing that is none.
    pub fn share(&self) -> f64 {
        if self.traced == 0 { 0.0 } else { self.repeated as f64 / self.traced as f64 }
    }

    /// Whether that is enough.
    pub fn is_enough(&self) -> bool {
        self.repeated > 0 && self.share() >= Self::SHARE_MIN
    }
}

/// Calls that are not repeated, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Why.
    pub why: WhyLeftOut,
    /// The call, as the kernel calls it.
    pub call: String,
    /// How many.
    pub calls: u64,
    /// One of them was about this.
    pub example: String,
}

/// Why a call is not repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyLeftOut {
    /// What it is about is in no directory that is mapped.
    NotMapped,
    /// It changes what is there.
    Changes,
    /// It is about what the program had changed before.
    Changed,
    /// A descriptor that was open before the trace began, or of which nobody saw where it came from.
    UnknownDescriptor,
    /// Nobody knows in which directory it looked.
    UnknownDirectory,
    /// The trace has too little of it: an attribute without its name, a request to a driver.
    NotTold,
    /// It waits for other programs: a lock.
    Lock,
    /// It was not seen to come back.
    NeverBack,
    /// It was made in a part of the system that has paths of its own.
    OtherView,
    /// In the target it is a device, a pipe or a socket.
    Special,
    /// In the target a symbolic link leads out of what is mapped.
    Leads,
}
