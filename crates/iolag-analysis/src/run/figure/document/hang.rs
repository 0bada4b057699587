//! Hangs of a run as stretches of time.

use iolag_model::{Nanoseconds, TargetIndex};
use serde::{Deserialize, Serialize};

/// A stretch of time in which at least one attempt on a target was past its deadline, from its start to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HangSpan {
    /// The target.
    pub target: TargetIndex,
    /// Start of the first of its attempts, since the begin of the run's span.
    pub begin_ns: Nanoseconds,
    /// End of the last one, since the begin of the run's span; absent if one had not ended when the run was over.
    pub end_ns: Option<Nanoseconds>,
    /// Index of the series of the attempt that lasted longest.
    pub series: u16,
}
