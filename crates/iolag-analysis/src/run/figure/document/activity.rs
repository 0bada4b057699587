//! What was done over time, and how evenly between clients.

use iolag_model::{ClientId, Nanoseconds, StageIndex, TargetIndex};
use serde::{Deserialize, Serialize};

use super::distribution::ClientsShown;
use crate::figure_column::{Column32, ColumnFloat, detach};

/// Bins of the rates over time.
pub const RATE_BINS: u32 = 600;
/// Bins of the fairness over time.
pub const FAIRNESS_BINS: u32 = 200;

/// Rates over time. Every column holds `bins` numbers per series, series by series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Rates {
    /// Bins over the span.
    pub bins: u32,
    /// Width of a bin in ns.
    pub bin_ns: f64,
    /// Attempts that succeeded (also late), by the bin in which they ended. Per second: by `bin_ns`.
    pub operations: Column32,
    /// Bytes that they moved.
    pub bytes: ColumnFloat,
    /// Mean number of attempts in flight, whatever became of them. By the number of clients: the share of
    /// time that clients wait.
    pub in_flight: ColumnFloat,
}
detach!(Rates { operations, bytes, in_flight });

/// How evenly clients of one target were served.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Fairness {
    /// The target.
    pub target: TargetIndex,
    /// Clients, or groups of them, that did something.
    pub clients: u64,
    /// Clients per group; 1 unless there are more than 4096 clients.
    pub clients_per_group: u32,
    /// Bins over the span.
    pub bins: u32,
    /// Width of a bin in ns.
    pub bin_ns: f64,
    /// Which clients have a line.
    pub shown: ClientsShown,
    /// Their lines.
    pub lines: Vec<FairnessLine>,
    /// Jain's index (1984) of the clients' rates: `(Σx)² / (n Σx²)`, x being a client's operations that
    /// succeeded by the time from its first start to its last end. 1 is even, 1/n is one client alone.
    pub jain: Option<f64>,
    /// Jain's index of the operations that clients finished by moment: of bins that are joined until they hold 30 of each client on average; 0 where
    /// nothing was finished in three bins or more, and everywhere if there are fewer.
    pub jain_over_time: ColumnFloat,
    /// The stages.
    pub stages: Vec<StageFairness>,
}
detach!(Fairness { lines, jain_over_time });

/// What one client has done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FairnessLine {
    /// The client, or the first of its group.
    pub client: ClientId,
    /// Where it stands among the clients, 0 to 100, ordered by their rates; absent if each is shown.
    pub percent: Option<u32>,
    /// Operations that succeeded by the end of each bin.
    pub done: Column32,
    /// Operations per second, as in [`Fairness::jain`]; absent if they took no time.
    pub per_second: Option<f64>,
}
detach!(FairnessLine { done });

/// Clients within a stage, from their `stage` samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StageFairness {
    /// The stage.
    pub stage: StageIndex,
    /// Clients that were in it.
    pub clients: u64,
    /// Of these, did not end.
    pub unfinished: u64,
    /// When the first client that ended was done, from the first start on.
    pub first_done_ns: Option<Nanoseconds>,
    /// When the last one was.
    pub last_done_ns: Option<Nanoseconds>,
    /// Jain's index of the clients' rates: operations by the client's own time in the stage.
    pub jain: Option<f64>,
}
