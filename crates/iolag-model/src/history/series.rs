//! Series: the samples of one task, or of one part of it, on one target from one host.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::WallTime;
use crate::Nanoseconds;

/// What tells one series from every other, on all hosts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SeriesKey {
    /// Host name of the machine that measured.
    pub host: String,
    /// The target as users name it, secrets removed; empty for what belongs to the host alone (a covariate).
    pub target: String,
    /// The task: `list`, `create`, or the name that the user gave to a command or an import.
    pub task: String,
    /// The part of the task, empty for the whole: `ls -n` of `list`, `unlink` of `create`.
    pub part: String,
}

impl SeriesKey {
    /// Whether it belongs to the host alone, as a covariate does, and to no target.
    pub const fn is_of_host(&self) -> bool {
        self.target.is_empty()
    }
}

impl fmt::Display for SeriesKey {
    /// `task` or `task: part`, then ` on target`, without the host: reports of one host do not repeat it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.task)?;
        if !self.part.is_empty() {
            write!(formatter, ": {}", self.part)?;
        }
        if !self.is_of_host() {
            write!(formatter, " on {}", self.target)?;
        }
        Ok(())
    }
}

/// What the samples of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum SeriesKind {
    /// Durations of a task on a target.
    Task,
    /// Durations of the same task on the host's memory (tmpfs): what the host alone contributes.
    Control,
    /// Values that a command printed once a round; to correlate and stratify by.
    Covariate,
    /// Durations that were measured by something else and imported.
    ImportedDuration,
    /// Values that were measured by something else and imported.
    ImportedValue,
    /// A value of a run as a whole, one for each run: the rate of a bench, the median of a check.
    Benchmark,
    /// The same of the host's memory: what the host alone contributes.
    BenchmarkControl,
}

impl SeriesKind {
    /// Whether its samples are durations; otherwise they are values.
    pub const fn is_duration(self) -> bool {
        matches!(self, Self::Task | Self::Control | Self::ImportedDuration)
    }

    /// Whether its samples are values of whole runs.
    pub const fn is_of_runs(self) -> bool {
        matches!(self, Self::Benchmark | Self::BenchmarkControl)
    }

    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Control => "control",
            Self::Covariate => "covariate",
            Self::ImportedDuration => "imported-duration",
            Self::ImportedValue => "imported-value",
            Self::Benchmark => "benchmark",
            Self::BenchmarkControl => "benchmark-control",
        }
    }
}

/// A series and how it is measured. Identified by its key; of two descriptions the one with the later `described` wins, whatever was
/// applied first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Which one.
    pub key: SeriesKey,
    /// What its samples are.
    pub kind: SeriesKind,
    /// Smallest duration that the clock could tell from zero: a recorded duration below it is left-censored there. Zero for
    /// iolag's own samples, 10 ms for what `time` printed with two digits.
    pub resolution_ns: Nanoseconds,
    /// Length of time between intended starts, zero if unknown.
    pub period_ns: Nanoseconds,
    /// Deadline of its probes, zero if unknown.
    pub deadline_ns: Nanoseconds,
    /// What is executed, for people: sizes, counts, command line.
    pub description: String,
    /// Unit of values, empty for durations.
    pub unit: String,
    /// When it was described so: the begin of the watch that knew it first; `WallTime(0)` for imports.
    #[serde(default)]
    pub described: WallTime,
}
