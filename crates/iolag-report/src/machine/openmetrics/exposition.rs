//! What the metrics are made from.

use iolag_analysis::history::Tallies;
use iolag_model::{MonotonicTime, ProbeStatus, WallTime, WatchStatus};

/// What is known when somebody asks.
#[derive(Debug, Clone, Copy)]
pub struct Exposition<'a> {
    /// The host that answers; what others measured is labelled with theirs.
    pub host: &'a str,
    /// Version of iolag.
    pub iolag_version: &'a str,
    /// Now, by the monotonic clock of this boot.
    pub now: MonotonicTime,
    /// What the watch is doing, if one runs on this host.
    pub status: Option<&'a WatchStatus>,
    /// If none runs: the probes that the last one left behind and that are still there, as between two rounds of cron.
    pub left_behind: &'a [ProbeStatus],
    /// What the history has counted up to, if it has been read to its end once.
    pub tallies: Option<&'a Tallies>,
    /// When the history last answered, if it is read by who answers.
    pub history_read: Option<WallTime>,
}
