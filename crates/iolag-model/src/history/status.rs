//! What a watch is doing right now, published for `iolag watch --status`, `iolag serve` and `/metrics`.

use serde::{Deserialize, Serialize};

use super::{Outage, ProbeId, SeriesKey, WallTime};
use crate::{MonotonicTime, Nanoseconds, Outcome};

/// Where a probe that has not ended stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbePhase {
    /// Within its deadlines.
    InFlight,
    /// Past its soft deadline.
    Slow,
    /// Past its hard deadline, being ended.
    Ending,
    /// It cannot be ended, or is not to be: its end is waited for.
    Hung,
}

/// How far a task that counts its operations has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Operations that are over.
    pub done: u32,
    /// All of them.
    pub of: u32,
}

/// A probe that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeStatus {
    /// Its series, the whole task.
    pub series: SeriesKey,
    /// Which probe.
    pub probe: ProbeId,
    /// The part of the task that is in flight, if any; empty for the whole.
    pub part: String,
    /// Its process.
    pub process: u32,
    /// When it started, by the monotonic clock of `boot_id` in [`WatchStatus`]: ages are computed by who reads this.
    pub start_ns: MonotonicTime,
    /// The same by wall clock.
    pub start: WallTime,
    /// Where it stands.
    pub phase: ProbePhase,
    /// What it waits for, as the kernel says; empty before its first deadline.
    pub waits_in: String,
    /// How far it has come, if it counts that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
}

/// The last end of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastSample {
    /// Which series.
    pub series: SeriesKey,
    /// When it started.
    pub start: WallTime,
    /// How long it took.
    pub duration_ns: Nanoseconds,
    /// What was read, for a covariate.
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetState {
    /// Nobody has come back from there yet.
    Unknown,
    /// It answers.
    Answers,
    /// It answers, and a task is past its deadline, or its last one was.
    Slow,
    /// It does not answer.
    NoAnswer,
    /// Nothing is mounted where it was seen mounted.
    NotMounted,
}

/// A target and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetStatus {
    /// Its name, as its series have it.
    pub name: String,
    /// Where its file system is mounted, or was; empty if nobody knows, and of a server.
    pub mount_point: String,
    /// The type of that file system: ext4, nfs4, fuse.sshfs; empty if nobody knows. Of a server its kind: s3, postgres.
    pub kind: String,
    /// How it is.
    pub state: TargetState,
    /// Since when it does not answer, or is not mounted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<WallTime>,
}

impl TargetStatus {
    /// Whether it is a server, which lies on no mount: of a mount nobody knows the type alone.
    pub const fn is_server(&self) -> bool {
        self.mount_point.is_empty() && !self.kind.is_empty()
    }
}

/// What a watch is doing right now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchStatus {
    /// Version of this text's form.
    pub version: u32,
    /// Version of iolag.
    pub iolag_version: String,
    /// Process id of the watch.
    pub process: u32,
    /// Start of that process in clock ticks since boot, so that a reused id is noticed.
    pub process_start_ticks: u64,
    /// Host name.
    pub host: String,
    /// The boot whose monotonic clock is used below.
    pub boot_id: String,
    /// Where the history is, secrets removed.
    pub history: String,
    /// When the watch began.
    pub begin: WallTime,
    /// When this was written.
    pub written: WallTime,
    /// The same by the monotonic clock.
    pub written_ns: MonotonicTime,
    /// When the next round begins, by the monotonic clock.
    pub next_round_ns: MonotonicTime,
    /// Rounds begun.
    pub rounds: u64,
    /// Probes that have not ended, oldest first.
    pub in_flight: Vec<ProbeStatus>,
    /// The last end of each series.
    pub last: Vec<LastSample>,
    /// The user's targets.
    #[serde(default)]
    pub targets: Vec<TargetStatus>,
    /// Outages that have not ended.
    pub outages: Vec<Outage>,
    /// Records that wait for the history.
    pub waiting_records: u64,
    /// Why the history could not be written, if it could not.
    pub history_trouble: Option<String>,
    /// How late the last round began.
    pub lag_ns: Nanoseconds,
}

impl WatchStatus {
    /// The wall-clock time at this moment of the boot's monotonic clock, as the watch's clocks stood when it wrote this.
    pub const fn wall(&self, now: MonotonicTime) -> WallTime {
        self.written.after(now.since(self.written_ns))
    }
}
