//! At which level of a history attempts took long, and what was before it or since.

use iolag_model::WallTime;

use crate::history::series::estimate::Estimate;
use crate::history::series::shares::ThresholdShare;

/// Of which part of a record something is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ToldLevel {
    /// Of all of it.
    Whole,
    /// Of the last level.
    Latest {
        /// When it began.
        since: Option<WallTime>,
        /// What was before it, where that differs.
        before: Option<BeforeLevel>,
    },
    /// Of a level that is over, and none was slow since, as far as is known.
    Over {
        /// When it began.
        since: Option<WallTime>,
        /// When it ended.
        until: Option<WallTime>,
        /// Attempts since of which nobody knows how long they took.
        undecided_since: u64,
    },
}

/// What was before a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeforeLevel {
    /// Where a spell lies between that is left out: until when.
    pub until: Option<WallTime>,
    /// How many took long.
    pub slow: SlowBefore,
}

/// How many attempts took long before a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SlowBefore {
    /// None.
    None,
    /// Of so many that is not known.
    Unknown(u64),
    /// This share.
    Share(f64),
}

/// More than half of all attempts take long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongAsARule {
    /// The highest threshold of which that is so, and how many took longer.
    pub over: ThresholdShare,
    /// The median of all.
    pub median: Estimate,
}
