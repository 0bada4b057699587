//! What a series tells, as moments and values: the form in which correlation, periodicity and change points read a history.
//!
//! Invariants: moments ascend; moments, values and knowledge have the same length; no value is NaN. A skipped slot is no
//! attempt and is left out here (episodes and the time-weighted view count it); a failed attempt has no duration; a timeout and a
//! hang are kept as "at least", a duration below the clock's resolution as "at most". An attempt that the watch interrupted is left out: ranks
//! would take it for longer than anything, and its age says nothing of the storage.

use crate::statistics::knowledge::Knowledge;
use std::fmt;

use iolag_model::{HistoryColumns, Nanoseconds, Outcome, Series, WallTime};
use serde::{Deserialize, Serialize};

use crate::statistics::ranking::{ascending, ascending_keys};

/// What is read from a series' samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// How long it took, in seconds.
    Duration,
    /// What was read, in the series' unit.
    Value,
    /// What succeeded per second of a run.
    Rate,
    /// How long the attempts of a run took, in the middle, in seconds.
    #[serde(rename = "run-median")]
    RunMedian,
    /// User and system time, in seconds.
    ProcessorTime,
    /// Duration less processor time, not below zero, in seconds.
    Waiting,
    /// Load average of 5 minutes.
    #[serde(rename = "load-5min")]
    Load5min,
    /// Runnable tasks.
    Runnable,
    /// Tasks in uninterruptible sleep.
    Blocked,
    /// Share of the time in which some task stalled for block I/O.
    #[serde(rename = "stalled-io")]
    StalledIo,
}

impl Quantity {
    /// What tells of the host rather than of the task.
    pub const OF_HOST: [Self; 4] = [Self::Load5min, Self::Runnable, Self::Blocked, Self::StalledIo];

    /// Whether more of it means that it takes longer.
    pub const fn is_duration(self) -> bool {
        matches!(self, Self::Duration | Self::RunMedian)
    }

    /// Whether it is read from the host's surroundings rather than from the task itself.
    pub fn is_of_host(self) -> bool {
        Self::OF_HOST.contains(&self)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Duration => "duration",
            Self::Value => "value",
            Self::Rate => "rate",
            Self::RunMedian => "median of a run",
            Self::ProcessorTime => "processor time",
            Self::Waiting => "waiting",
            Self::Load5min => "5-minute load",
            Self::Runnable => "runnable tasks",
            Self::Blocked => "blocked tasks",
            Self::StalledIo => "I/O pressure",
        })
    }
}

/// What a series is about.
pub(crate) const fn quantity_of(series: &Series) -> Quantity {
    match (series.kind.is_duration(), series.kind.is_of_runs()) {
        (true, _) => Quantity::Duration,
        // Durations have no unit of their own.
        (_, true) if series.unit.is_empty() => Quantity::RunMedian,
        (_, true) => Quantity::Rate,
        (false, false) => Quantity::Value,
    }
}

/// Values of one quantity in the order of their moments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimedValues {
    moments: Vec<WallTime>,
    values: Vec<f64>,
    knowledge: Vec<Knowledge>,
    /// What stands for a value below the resolution on a logarithmic axis: half of it.
    below_resolution: f64,
}

impl TimedValues {
    /// Reads `quantity` from the samples of a series.
    pub fn read(series: &Series, columns: &HistoryColumns, quantity: Quantity) -> Self {
        let resolution_ns = series.resolution_ns;
        let mut read = Self::with_room(columns.len());
        if quantity == Quantity::Duration {
            read.below_resolution = resolution_ns.as_seconds() / 2.0;
        }
        for row in 0..columns.len() {
            if let Some((value, knowledge)) = reading(columns, row, quantity, resolution_ns) {
                read.add(columns.start[row], value, knowledge);
            }
        }
        read.in_order()
    }

    /// Known values at moments, in any order; NaN are left out.
    pub fn known(moments: &[WallTime], values: &[f64]) -> Self {
        let mut read = Self::with_room(values.len());
        for (moment, value) in moments.iter().zip(values) {
            read.add(*moment, *value, Knowledge::Exactly);
        }
        read.in_order()
    }

    /// Values of which so much is known, in any order; NaN are left out.
    pub(crate) fn bounded(rows: impl IntoIterator<Item = (WallTime, f64, Knowledge)>) -> Self {
        let mut read = Self::default();
        rows.into_iter().for_each(|(moment, value, knowledge)| read.add(moment, value, knowledge));
        read.in_order()
    }

    fn with_room(count: usize) -> Self {
        Self {
            moments: Vec::with_capacity(count),
            values: Vec::with_capacity(count),
            knowledge: Vec::with_capacity(count),
            below_resolution: 0.0,
        }
    }

    fn add(&mut self, moment: WallTime, value: f64, knowledge: Knowledge) {
        if !value.is_nan() {
            self.moments.push(moment);
            self.values.push(value);
            self.knowledge.push(knowledge);
        }
    }

    fn in_order(mut self) -> Self {
        if !self.moments.is_sorted() {
            // Samples of the same moment stay in the order in which they were due.
            let order = ascending_keys(self.moments.iter().map(|moment| moment.0));
            self.moments = order.iter().map(|place| self.moments[*place]).collect();
            self.values = order.iter().map(|place| self.values[*place]).collect();
            self.knowledge = order.iter().map(|place| self.knowledge[*place]).collect();
        }
        self
    }

    /// Number of values.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// When each was taken.
    pub fn moments(&self) -> &[WallTime] {
        &self.moments
    }

    /// The values as recorded: a bound where they are censored.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How much is known of each.
    pub fn knowledge(&self) -> &[Knowledge] {
        &self.knowledge
    }

    /// What ranks are made of: whatever had not ended is above everything known, whatever was below the resolution below it.
    pub fn ordered(&self) -> Vec<f64> {
        let rows = self.values.iter().zip(&self.knowledge);
        rows.map(|(value, knowledge)| match knowledge {
            Knowledge::Exactly => *value,
            Knowledge::AtLeast => f64::INFINITY,
            Knowledge::AtMost => f64::NEG_INFINITY,
        })
        .collect()
    }

    /// Natural logarithms; half the resolution stands for what was below it, the bound for what had not ended. `None` if a known
    /// value is not positive, so that no logarithm exists.
    pub fn logarithms(&self) -> Option<Vec<f64>> {
        let rows = self.values.iter().zip(&self.knowledge);
        rows.map(|(value, knowledge)| match knowledge {
            Knowledge::AtMost => Some(self.below_resolution.max(1e-9).ln()),
            _ if *value > 0.0 => Some(value.ln()),
            _ => None,
        })
        .collect()
    }

    /// The median as a value and how much is known of it; `None` without values.
    pub fn median(&self) -> Option<(f64, Knowledge)> {
        let order = ascending(&self.ordered());
        self.at_rank(&order, self.len().div_ceil(2))
    }

    /// The value of this rank (from 1), `order` sorting by [`Self::ordered`]. Beyond the known, the greatest known value or least
    /// bound is what is certain.
    pub(crate) fn at_rank(&self, order: &[usize], rank: usize) -> Option<(f64, Knowledge)> {
        let index = *order.get(rank.checked_sub(1)?)?;
        Some(match self.knowledge[index] {
            Knowledge::Exactly => (self.values[index], Knowledge::Exactly),
            Knowledge::AtMost => (2.0 * self.below_resolution, Knowledge::AtMost),
            Knowledge::AtLeast => (self.least_bound().unwrap_or(0.0), Knowledge::AtLeast),
        })
    }

    /// The step of the clock; 0 of what is no duration.
    pub(crate) fn step_seconds(&self) -> f64 {
        2.0 * self.below_resolution
    }

    fn least_bound(&self) -> Option<f64> {
        let rows = self.values.iter().zip(&self.knowledge);
        let bounds = rows.filter(|(_, knowledge)| **knowledge == Knowledge::AtLeast).map(|(value, _)| *value);
        bounds.min_by(f64::total_cmp)
    }

    /// The rows from `first` up to, not including, `end`.
    pub fn part(&self, first: usize, end: usize) -> Self {
        Self {
            moments: self.moments[first..end].to_vec(),
            values: self.values[first..end].to_vec(),
            knowledge: self.knowledge[first..end].to_vec(),
            below_resolution: self.below_resolution,
        }
    }

    /// The usual time between two values: the median of the differences. `None` for fewer than two.
    pub fn usual_spacing(&self) -> Option<Nanoseconds> {
        usual_spacing(&self.moments)
    }

    /// Time from the first value to the last.
    pub fn covered(&self) -> Nanoseconds {
        match (self.moments.first(), self.moments.last()) {
            (Some(first), Some(last)) => last.since(*first),
            _ => Nanoseconds::ZERO,
        }
    }
}

/// The usual time between two of these moments, in any order: the median of the differences. `None` for fewer than two.
pub(crate) fn usual_spacing(moments: &[WallTime]) -> Option<Nanoseconds> {
    if !moments.is_sorted() {
        let mut ordered = moments.to_vec();
        ordered.sort_unstable();
        return usual_spacing(&ordered);
    }
    let mut spacings: Vec<u64> = moments.windows(2).map(|pair| pair[1].since(pair[0]).0).collect();
    let middle = spacings.len() / 2;
    (!spacings.is_empty()).then(|| Nanoseconds(*spacings.select_nth_unstable(middle).1))
}

fn reading(
    columns: &HistoryColumns,
    row: usize,
    quantity: Quantity,
    resolution: Nanoseconds,
) -> Option<(f64, Knowledge)> {
    let (outcome, duration) = (columns.outcome[row], columns.duration_ns[row]);
    if matches!(outcome, Outcome::Skipped | Outcome::Interrupted | Outcome::Retried) {
        return None;
    }
    let knowledge = match outcome {
        Outcome::Timeout | Outcome::Hung => Knowledge::AtLeast,
        _ if duration < resolution => Knowledge::AtMost,
        _ => Knowledge::Exactly,
    };
    // A duration of zero from a clock without stated resolution is one nanosecond at most, so that its logarithm exists.
    let seconds = Nanoseconds(duration.0.max(u64::from(resolution == Nanoseconds::ZERO))).as_seconds();
    match quantity {
        Quantity::Duration => (outcome != Outcome::Error).then_some((seconds, knowledge)),
        Quantity::Waiting => {
            let waiting = (seconds - columns.processor_seconds[row]).max(0.0);
            (outcome != Outcome::Error).then_some((waiting, knowledge))
        }
        Quantity::ProcessorTime => Some((columns.processor_seconds[row], Knowledge::Exactly)),
        Quantity::Value | Quantity::Rate | Quantity::RunMedian => {
            Some((columns.value[row], Knowledge::Exactly))
        }
        Quantity::Load5min => Some((columns.load_5min[row], Knowledge::Exactly)),
        Quantity::Runnable => Some((columns.runnable[row], Knowledge::Exactly)),
        Quantity::Blocked => Some((columns.blocked[row], Knowledge::Exactly)),
        Quantity::StalledIo => Some((columns.stalled_io[row], Knowledge::Exactly)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    fn series(resolution_ns: u64) -> Series {
        Series { resolution_ns: Nanoseconds(resolution_ns), ..series_of("/home", "list") }
    }

    fn columns(rows: &[(i64, u64, Outcome)]) -> HistoryColumns {
        columns_of(rows.iter().copied())
    }

    #[test]
    fn bad_moments_stay_and_are_marked() {
        let rows = [
            (0, 0, Outcome::Ok),
            (1, 20, Outcome::Ok),
            (2, 600, Outcome::Timeout),
            (3, 0, Outcome::Skipped),
            (4, 5, Outcome::Error),
            (5, 900, Outcome::Late),
            (6, 7, Outcome::Interrupted),
        ];
        let read = TimedValues::read(&series(10_000_000), &columns(&rows), Quantity::Duration);
        assert_eq!(read.values(), [0.0, 0.02, 0.6, 0.9]);
        use Knowledge::{AtLeast, AtMost, Exactly};
        assert_eq!(read.knowledge(), [AtMost, Exactly, AtLeast, Exactly]);
        assert_eq!(read.ordered(), [f64::NEG_INFINITY, 0.02, f64::INFINITY, 0.9]);
        assert_eq!(read.logarithms().unwrap()[0], 0.005_f64.ln());
        assert_eq!(read.median(), Some((0.02, Exactly)));
    }

    #[test]
    fn quantities_are_derived() {
        let rows = [(0, 1, Outcome::Ok), (1, 20, Outcome::Ok)];
        let waiting = TimedValues::read(&series(0), &columns(&rows), Quantity::Waiting);
        assert!(waiting.values()[0] == 0.0 && (waiting.values()[1] - 0.018).abs() < 1e-12);
        assert!(TimedValues::read(&series(0), &columns(&rows), Quantity::Load5min).is_empty());
        assert_eq!(TimedValues::read(&series(0), &columns(&rows), Quantity::Blocked).values(), [1.0, 1.0]);
        assert_eq!(waiting.logarithms(), None);
    }

    #[test]
    fn a_median_among_the_censored_is_a_bound() {
        let rows = [(0, 1, Outcome::Ok), (9, 600, Outcome::Timeout), (4, 500, Outcome::Hung)];
        let read = TimedValues::read(&series(0), &columns(&rows), Quantity::Duration);
        assert_eq!(read.median(), Some((0.5, Knowledge::AtLeast)));
        assert_eq!(read.moments()[1], WallTime::from_seconds(4));
        assert_eq!(read.usual_spacing(), Some(Nanoseconds::from_seconds(5)));
    }
}
