//! Shares of attempts that took longer than a threshold.

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

use super::ranks_and_shares::{ShareInterval, share_interval};
use crate::statistics::dependence::worth::EffectiveSampleSize;

/// Thresholds of shares unless others are given: 0.1, 1, 10 and 60 s.
pub const DEFAULT_THRESHOLDS: [Nanoseconds; 4] = [
    Nanoseconds::from_milliseconds(100),
    Nanoseconds::from_seconds(1),
    Nanoseconds::from_seconds(10),
    Nanoseconds::from_seconds(60),
];

/// Share of attempts longer than a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareOver {
    /// The threshold.
    pub threshold_ns: Nanoseconds,
    /// Attempts known to be longer.
    pub over: u64,
    /// Attempts censored before the threshold: it is not known whether they would have been longer.
    pub undecided: u64,
    /// Interval as if every attempt were independent; undecided attempts widen it upwards.
    pub interval_naive: ShareInterval,
    /// Interval with the effective sample size: the one to show.
    pub interval: ShareInterval,
}

/// A share with both intervals.
pub(crate) fn share_over(
    threshold_ns: Nanoseconds,
    over: u64,
    undecided: u64,
    sample_size: EffectiveSampleSize,
) -> ShareOver {
    let within = |ratio: f64| {
        let trials = sample_size.attempts as f64 * ratio;
        let low = share_interval(over as f64 * ratio, trials).low;
        let high = share_interval((over + undecided) as f64 * ratio, trials).high;
        ShareInterval { low, high }
    };
    ShareOver {
        threshold_ns,
        over,
        undecided,
        interval_naive: within(1.0),
        interval: within(sample_size.ratio()),
    }
}
