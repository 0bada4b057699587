//! A change of level, what is no change, and the segments between changes.

use iolag_model::WallTime;
use serde::{Deserialize, Serialize};

use super::levels::LevelRatio;
use crate::statistics::knowledge::Knowledge;

/// Independent values on the shorter side from which on a change is moderate, and strong.
const MODERATE_FROM: f64 = 20.0;
const STRONG_FROM: f64 = 100.0;

/// What a change looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeShape {
    /// One level until a moment, another since: it has a date.
    Step,
    /// From one level to another along a straight line, for longer than between two values.
    Ramp,
    /// Another level that differs by less than is told, or by nobody knows what: it has a date and is nobody's concern.
    SmallStep,
    /// Another level for a short while, then the one before.
    Episode,
    /// Load that wanders on all time scales: levels come and go by themselves.
    Wandering,
    /// The record is too short to tell it from the time of the day.
    TimeOfDay,
    /// The record is too short to tell it from the day of the week.
    TimeOfWeek,
}

/// How much stands behind a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStrength {
    /// Fewer than 20 independent values on one side.
    Weak,
    /// 20 to 100.
    Moderate,
    /// At least 100 on both sides.
    Strong,
}

impl ChangeStrength {
    /// Of so many independent values on the shorter side.
    pub(crate) const fn of(independent: f64) -> Self {
        match independent {
            least if least < MODERATE_FROM => Self::Weak,
            least if least < STRONG_FROM => Self::Moderate,
            _ => Self::Strong,
        }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// The last value before it was taken then.
    pub last_before: WallTime,
    /// The first value after it was taken then: it happened between the two.
    pub first_after: WallTime,
    /// When the level before began to change, if that took longer: it had changed with `first_after`, or is still changing where both are equal.
    pub began: Option<WallTime>,
    /// Place of that value.
    pub place: usize,
    /// Values in the segment before.
    pub count_before: u64,
    /// Values in the segment after.
    pub count_after: u64,
    /// Median before.
    pub median_before: f64,
    /// How much is known of it.
    pub median_before_is: Knowledge,
    /// Median after.
    pub median_after: f64,
    /// How much is known of it.
    pub median_after_is: Knowledge,
    /// 95 of 100 values after are no greater.
    pub p95_after: f64,
    /// Median after by median before.
    pub ratio: LevelRatio,
    /// Probability that a value after is greater than one before, ties counting half.
    pub greater_after: f64,
    /// Probability of such a change in noise that remembers as this series does.
    pub p: f64,
    /// What it looks like.
    pub shape: ChangeShape,
    /// How much stands behind it.
    pub strength: ChangeStrength,
}

/// What looked like a change of level and is not told as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTold {
    /// Why.
    pub shape: ChangeShape,
    /// When it began, where that is known.
    pub begin: Option<WallTime>,
    /// When it ended, where that is known.
    pub end: Option<WallTime>,
}

/// A segment between changes: places from `first` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// First place.
    pub first: usize,
    /// Place after the last.
    pub end: usize,
}

impl Segment {
    pub(crate) const fn length(self) -> usize {
        self.end - self.first
    }
}

/// The segments that these changes make of `count` values.
pub fn segments_of(changes: &[ChangePoint], count: usize) -> Vec<Segment> {
    let starts = std::iter::once(0).chain(changes.iter().map(|change| change.place));
    let ends = changes.iter().map(|change| change.place).chain(std::iter::once(count));
    starts.zip(ends).map(|(first, end)| Segment { first, end }).collect()
}
