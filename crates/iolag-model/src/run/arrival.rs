//! Open schedules: when operations are due, whatever the ones before them do.

use serde::{Deserialize, Serialize};

/// When the operations of an open schedule are due. Rates are positive and finite, in operations a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances, the first at once.
    Rate(f64),
    /// At random, independent of each other: so many a second on average.
    Poisson(f64),
}

/// What becomes of operations that come due while the client is busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenLate {
    /// They are asked one after the other; their response times tell how late.
    CatchUp,
    /// They are not asked, and recorded as skipped.
    Skip,
}
