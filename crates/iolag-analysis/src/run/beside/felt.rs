//! Where and when the load was felt most.

use std::cmp::Ordering;

use iolag_model::{LoadTime, Nanoseconds, Operation, Standpoint};

use super::analysis::{BesideAnalysis, BesideCell, BesideRow, BesideTime, TimesAsLong};
use crate::statistics::quantile::censored::QuantileValue;

/// What takes less than this longer nobody feels.
const LEAST: f64 = 1.1;

/// Something that took longer beside the load than before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Felt<'a> {
    /// When.
    pub time: &'a BesideTime,
    /// Where.
    pub standpoint: Standpoint,
    /// What.
    pub operation: Operation,
    /// How much longer it took, and how often it hung.
    pub cell: &'a BesideCell,
}

impl BesideCell {
    /// Attempts that did not end within their deadline.
    pub const fn stuck(&self) -> u64 {
        let summary = &self.summary;
        summary.hung + summary.timeout + summary.late
    }

    /// The longest of them.
    pub const fn longest(&self) -> QuantileValue {
        self.summary.durations.max
    }

    /// Whether it is shown that it took longer than before.
    pub fn is_longer(&self) -> bool {
        self.times_as_long.is_some_and(TimesAsLong::is_longer)
    }
}

impl TimesAsLong {
    fn is_longer(self) -> bool {
        self.interval.is_some_and(|[low, _]| low > LEAST)
    }
}

impl Felt<'_> {
    /// First what hung, by how long, then by how many times as long it took, at least.
    fn is_worse_than(&self, other: &Self) -> Ordering {
        let rank = |felt: &Self| {
            let stuck_ns = if felt.cell.stuck() > 0 { felt.cell.longest().bound() } else { None };
            let times = felt.cell.times_as_long;
            let least = times.map(|times| times.interval.map_or(0.0, |[low, _]| low)).unwrap_or_default();
            (stuck_ns.unwrap_or(Nanoseconds::ZERO), least, times.map_or(0.0, |times| times.factor))
        };
        let (one, other) = (rank(self), rank(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.total_cmp(&other.2))
    }
}

impl BesideAnalysis {
    /// What was felt most in places of the target while the load was in a stage; nothing if nothing took longer than before.
    pub fn felt_most(&self) -> Option<Felt<'_>> {
        let of_target = |felt: &Felt<'_>| felt.standpoint != Standpoint::Control;
        let is_felt = |felt: &Felt<'_>| felt.cell.stuck() > 0 || felt.cell.is_longer();
        self.all_during().filter(of_target).filter(is_felt).max_by(Felt::is_worse_than)
    }

    /// What was felt most of a row while the load was in a stage.
    pub fn felt_most_of<'a>(&'a self, row: &'a BesideRow) -> Option<Felt<'a>> {
        self.during(row).max_by(Felt::is_worse_than)
    }

    /// The same thing at the same time in another place, if it was asked there.
    pub fn elsewhere(&self, felt: &Felt<'_>, standpoint: Standpoint) -> Option<Felt<'_>> {
        self.all_during().find(|other| {
            other.standpoint == standpoint && other.operation == felt.operation && other.time == felt.time
        })
    }

    /// Whether this machine itself was slower beside the load than before it: its own memory was.
    pub fn is_machine_slower(&self) -> bool {
        self.all_during().any(|felt| felt.standpoint == Standpoint::Control && felt.cell.is_longer())
    }

    /// Whether nothing can be compared with before: the load, or the time before it, was too short.
    pub fn is_too_short(&self) -> bool {
        let is_compared =
            |felt: Felt<'_>| felt.cell.times_as_long.is_some_and(|times| times.interval.is_some());
        !self.all_during().any(is_compared)
    }

    fn all_during(&self) -> impl Iterator<Item = Felt<'_>> {
        self.rows.iter().flat_map(move |row| self.during(row))
    }

    fn during<'a>(&'a self, row: &'a BesideRow) -> impl Iterator<Item = Felt<'a>> {
        let cells = self.times.iter().zip(&row.felt);
        let during = cells.filter(|(time, _)| matches!(time.time, LoadTime::During(_)));
        during.filter_map(move |(time, cell)| {
            let (standpoint, operation) = (row.standpoint, row.operation);
            Some(Felt { time, standpoint, operation, cell: cell.as_ref()? })
        })
    }
}
