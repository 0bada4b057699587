//! The words of iolag as types.
//!
//! Everything that crosses a process, a crate or a file is defined here once: what was asked ([`Operation`]), what
//! happened ([`Sample`], [`Outcome`]), when ([`MonotonicTime`], [`Anchor`]), by whom ([`ClientId`], [`AttemptId`]),
//! and under which circumstances ([`RunSpec`], [`RunRecord`], [`Environment`]).
//!
//! Invariants: no I/O but reading a clock, no async, no dependency on another crate of iolag. A number in a `#[repr]`
//! is part of the store's format and is never reused.

mod columns;
mod detail;
mod explain;
mod fingerprint;
mod history;
mod identity;
mod operation;
mod outcome;
mod process_stat;
mod random;
mod recorder;
mod role;
mod run;
mod sample;
mod steering;
mod time;
mod trace;
mod units;

pub use columns::{Column, SampleColumns};
pub use detail::{Detail, DetailError, DetailKind, MAXIMUM_DETAIL_BYTES};
pub use explain::*;
pub use fingerprint::Fingerprint;
pub use history::{
    Batch, BatchContent, BatchId, Configuration, ConfigurationKey, Event, EventSource, EventState, Evidence,
    HistoryColumns, HistoryRecord, HistorySample, LastSample, Outage, OutageEnding, OutageKind, ProbeId,
    ProbePhase, ProbeStatus, Progress, Rename, Series, SeriesKey, SeriesKind, SessionEnd, Surroundings,
    TargetState, TargetStatus, WallSpan, WallTime, WatchSession, WatchStatus,
};
pub use identity::{
    AttemptId, ClientId, HostIndex, PlaceIdentity, PlaceMaker, PlaceToken, PlaceTokenError, RunId,
    RunIdError, StageIndex, TargetIndex,
};
pub use operation::{BlockDirection, Level, Operation, UnknownOperation};
pub use outcome::{ErrorClass, FailureCode, FailureOrigin, Outcome, UnknownOutcome};
pub use process_stat::ProcessStat;
pub use random::{GOLDEN, Random, mix};
pub use recorder::{Activity, Arrival, Coordinator, Meeting, Recorder, Waiting};
pub use role::Role;
pub use run::*;
pub use sample::{MARKS_MAX, Mark, Sample, SampleError};
pub use steering::{is_steering, one_line};
pub use time::{Anchor, Clock, MonotonicClock, MonotonicTime, Nanoseconds, SimulatedClock};
pub use trace::{
    AbsentName, CallWithoutEnd, CaptureTime, OtherDirectories, ProgramEnd, RepeatedQuestion, SearchPath,
    SearchedDirectory, TraceAbout, TraceActivity, TraceActivityKind, TraceAnonymity, TraceBranch, TraceCall,
    TraceCost, TraceCounts, TraceDirectory, TraceElapsed, TraceEnding, TraceKind, TraceList, TraceLookups,
    TraceMount, TraceNetwork, TraceNeverBack, TraceOrigin, TraceProgram, TraceRepeats, TraceSlot,
    TraceSummary, TraceTime, TraceTimeLine, TraceVain, TracingCost, USUAL_LISTS, VainDirectory, WaitEnd,
    loader_asks_below,
};
pub use units::{
    UnitError, counted, exact_bytes, exact_duration, format_bytes, format_count, format_duration,
    parse_bytes, parse_count, parse_duration,
};
