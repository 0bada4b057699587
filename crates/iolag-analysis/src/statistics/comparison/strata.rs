//! Two samples as intervals between which amounts lie, under the same circumstances.

use crate::statistics::knowledge::Knowledge;
use crate::statistics::ranking::ascending;

/// What is known of an amount on the scale of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// When it was due, in ns.
    pub at: i64,
    /// Not less than this.
    pub low: f64,
    /// Not more than this.
    pub high: f64,
}

impl Range {
    /// The range of an amount that was due at `at`, on the scale of the comparison. What had not ended is longer than what ended at its
    /// bound, and what lies below the resolution is shorter than the resolution.
    pub(crate) fn of(at: i64, amount: f64, knowledge: Knowledge) -> Self {
        let (low, high) = match knowledge {
            Knowledge::Exactly => (amount, amount),
            Knowledge::AtLeast => (amount.next_up(), f64::INFINITY),
            Knowledge::AtMost => (f64::NEG_INFINITY, amount.next_down()),
        };
        Self { at, low, high }
    }
}

/// Two samples under the same circumstances: the whole, or one hour of the week.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stratum {
    pub(crate) first: Side,
    pub(crate) second: Side,
    /// Whether everything is known exactly, so that each difference has one end.
    pub(crate) is_exact: bool,
    /// Weight of a pair, so that strata count n m / (n + m).
    pub(crate) weight: f64,
    pub(crate) repeats: Repeats,
}

/// What tells how much the mean of a stratum scatters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeats {
    Attempts,
    Days,
    /// What an hour has in common with itself a week later is seen in these.
    Weeks,
}

/// One sample, with both ends of its ranges in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Side {
    /// By their lower ends.
    pub(crate) ranges: Vec<Range>,
    pub(crate) lows: Vec<f64>,
    pub(crate) highs: Vec<f64>,
}

impl Side {
    fn new(ranges: Vec<Range>) -> Self {
        let lows: Vec<f64> = ranges.iter().map(|range| range.low).collect();
        let mut ranges: Vec<Range> = ascending(&lows).into_iter().map(|place| ranges[place]).collect();
        for equal in ranges.chunk_by_mut(|one, other| one.low == other.low) {
            equal.sort_by(|one, other| one.high.total_cmp(&other.high));
        }
        let lows: Vec<f64> = ranges.iter().map(|range| range.low).collect();
        let mut highs: Vec<f64> = ranges.iter().map(|range| range.high).collect();
        highs.sort_unstable_by(f64::total_cmp);
        Self { ranges, lows, highs }
    }
}

impl Stratum {
    /// `None` if either side is empty.
    pub(crate) fn new(first: Vec<Range>, second: Vec<Range>) -> Option<Self> {
        if first.is_empty() || second.is_empty() {
            return None;
        }
        let weight = 1.0 / (first.len() + second.len()) as f64;
        let (first, second) = (Side::new(first), Side::new(second));
        let is_exact = [&first, &second].iter().all(|side| side.lows == side.highs);
        Some(Self { first, second, is_exact, weight, repeats: Repeats::Attempts })
    }

    /// The same whose mean repeats itself by this.
    pub(crate) fn repeated_by(self, repeats: Repeats) -> Self {
        Self { repeats, ..self }
    }

    /// Whether everything is known exactly, so that each difference has one end.
    pub(crate) const fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Weight of all its pairs together.
    pub(crate) fn total(&self) -> f64 {
        self.weight * self.first.lows.len() as f64 * self.second.lows.len() as f64
    }
}
