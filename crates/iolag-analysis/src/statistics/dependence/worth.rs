//! What attempts are worth that resemble each other: for a level, for a share of them, for a quantile.

use serde::{Deserialize, Serialize};

/// Shares up to this are in the tail.
pub(crate) const TAIL_SHARE: f64 = 0.1;
/// More than shares are rounded by.
pub(crate) const ROUNDING: f64 = 1e-9;

/// What a sequence is worth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EffectiveSampleSize {
    /// Attempts.
    pub attempts: u64,
    /// Independent attempts that would tell as much; never more than `attempts`.
    pub effective: f64,
}

impl EffectiveSampleSize {
    /// Every attempt tells something of its own.
    pub fn independent(attempts: u64) -> Self {
        Self { attempts, effective: attempts as f64 }
    }

    /// Whether the correction changes anything.
    pub fn is_reduced(&self) -> bool {
        self.effective + 0.5 < self.attempts as f64
    }

    /// Effective by actual attempts, 0 to 1; 1 without attempts.
    pub fn ratio(&self) -> f64 {
        if self.attempts == 0 { 1.0 } else { self.effective / self.attempts as f64 }
    }
}

/// What was counted in a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Attempts.
    pub attempts: u32,
    /// Of these, longer than some limit.
    pub over: u32,
}

/// What attempts are worth for a share of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worth {
    /// Their effective number.
    pub effective: f64,
    /// Those over the limit lie in so many stretches of time: too few for a quantile.
    pub few_stretches: Option<u64>,
}

impl Worth {
    /// Every attempt tells something of its own.
    pub const fn independent(attempts: u64) -> Self {
        Self { effective: attempts as f64, few_stretches: None }
    }
}

/// What attempts are worth for a quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileWorth {
    /// For the share beyond it.
    pub beyond: Worth,
    /// Their effective number for the lower end of its interval: in the tail, for [`lower_end_of`] it.
    pub effective_of_lower_end: f64,
}

impl QuantileWorth {
    /// Of the quantile `q`; `worth` tells what the attempts are worth for the share beyond a quantile.
    pub fn of(q: f64, worth: impl Fn(f64) -> Worth) -> Self {
        let beyond = worth(q);
        let effective_of_lower_end = match lower_end_of(q) {
            Some(lower) => worth(lower).effective.min(beyond.effective),
            None => beyond.effective,
        };
        Self { beyond, effective_of_lower_end }
    }

    /// The same of attempts that are worth only this share of their number.
    #[must_use]
    pub fn scaled(self, share: f64) -> Self {
        let beyond = Worth { effective: self.beyond.effective * share, ..self.beyond };
        Self { beyond, effective_of_lower_end: self.effective_of_lower_end * share }
    }
}

/// The quantile beyond which twice as many lie as beyond `q`, if `q` is in the tail. A record with more storms than usual has its quantile among the
/// slowest of them, where parts of a storm look like storms of their own; the truth lies lower, where whole storms reach. How far down it may lie is judged there.
pub fn lower_end_of(q: f64) -> Option<f64> {
    let share = 1.0 - q;
    (share <= TAIL_SHARE + ROUNDING).then_some(1.0 - 2.0 * share)
}
