//! History: what a watch remembers for years.
//!
//! Everything that a watch learns is a [`HistoryRecord`]: a probe's [`HistorySample`], the [`Configuration`] under which it
//! was taken, an [`Event`], an [`Outage`], the [`Evidence`] gathered at a deadline, and the [`WatchSession`] that says when
//! somebody was watching at all. Records are self-contained: each names its host and series in full, so that a spool, an export and a merge of
//! several hosts are nothing but records, applied in any order and any number of times with the same result.
//!
//! Invariants: a record is identified by its key (see each type); applying a record twice changes nothing; of two records with the
//! same key the one that knows more wins ([`HistorySample::supersedes`]).
//!
//! Time: the history spans boots and hosts, so moments are wall-clock nanoseconds ([`WallTime`]); durations come from the monotonic
//! clock. Limits: moments of different hosts are as comparable as their clocks.

mod batch;
mod columns;
mod digits;
mod keys;
mod outage;
mod record;
mod series;
mod status;
mod wall_time;

pub use batch::{Batch, BatchContent, BatchId};
pub use columns::HistoryColumns;
pub use keys::{ConfigurationKey, ProbeId};
pub use outage::{Outage, OutageEnding, OutageKind};
pub use record::{
    Configuration, Event, EventSource, EventState, Evidence, HistoryRecord, HistorySample, Rename,
    SessionEnd, Surroundings, WatchSession,
};
pub use series::{Series, SeriesKey, SeriesKind};
pub use status::{LastSample, ProbePhase, ProbeStatus, Progress, TargetState, TargetStatus, WatchStatus};
pub use wall_time::{WallSpan, WallTime};
