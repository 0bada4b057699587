//! Where and when the load was felt most.

use std::cmp::Ordering;

use iolag_model::{LoadTime, Nanoseconds, Operation, Standpoint};

use super::analysis::{BesideAnalysis, BesideCell, BesideRow, BesideTime};
use super::times::TimesAsLong;
use crate::statistics::quantile::censored::QuantileValue;

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

/// What was felt of a row in the stages of the load, for those who compare runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeltOfRun {
    /// Where.
    pub standpoint: Standpoint,
    /// What.
    pub operation: Operation,
    /// Compared with before, in the stage in which it was felt most.
    pub times_as_long: Option<TimesAsLong>,
    /// Whether it could be shown: there were attempts enough.
    pub is_judged: bool,
    /// Whether it is shown that it took longer there.
    pub is_longer: bool,
    /// Whether somebody waited much longer in any stage, or after all, than anybody before.
    pub is_stall: bool,
    /// Attempts that did not end within their deadline, in all stages and after them.
    pub stuck: u64,
    /// The longest of all.
    pub longest: QuantileValue,
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

    /// Whether anybody waited: it hung, took longer, or somebody waited much longer than anybody before.
    pub const fn is_felt(&self) -> bool {
        self.stuck() > 0 || self.is_longer || self.is_stall
    }
}

impl Felt<'_> {
    /// First what hung or stalled, by how long, then by how many times as long it took, at least.
    fn is_worse_than(&self, other: &Self) -> Ordering {
        let rank = |felt: &Self| {
            let waited = felt.cell.stuck() > 0 || felt.cell.is_stall;
            let waited_ns = if waited { felt.cell.longest().bound() } else { None };
            let times = felt.cell.times_as_long;
            let least = times.map(|times| times.interval.map_or(0.0, |[low, _]| low)).unwrap_or_default();
            // Of a few attempts the factor is chance.
            (waited_ns.unwrap_or(Nanoseconds::ZERO), least, felt.cell.summary.attempts)
        };
        let (one, other) = (rank(self), rank(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
    }
}

impl BesideAnalysis {
    /// What was felt most in places of the target while the load was in a stage, else what hung after it; nothing if nobody waited.
    pub fn felt_most(&self) -> Option<Felt<'_>> {
        let of_target = |felt: &Felt<'_>| felt.standpoint != Standpoint::Control;
        let is_felt = |felt: &Felt<'_>| felt.cell.is_felt();
        let during = self.all_during().filter(of_target).filter(is_felt).max_by(Felt::is_worse_than);
        // What hangs only when the load has ended hangs because of it all the same.
        let after =
            || self.all_after().filter(of_target).filter(|felt| felt.cell.stuck() > 0 || felt.cell.is_stall);
        during.or_else(|| after().max_by(Felt::is_worse_than))
    }

    /// What was felt most of a row while the load was in a stage.
    pub fn felt_most_of<'a>(&'a self, row: &'a BesideRow) -> Option<Felt<'a>> {
        self.during(row).max_by(Felt::is_worse_than)
    }

    /// What was felt of each row.
    pub fn of_run(&self) -> Vec<FeltOfRun> {
        let of_row = |row: &BesideRow| {
            let most = self.felt_most_of(row)?;
            // What hangs only when the load has ended hangs because of it all the same.
            let since = || self.at(row, |time| time != LoadTime::Before).map(|felt| felt.cell);
            Some(FeltOfRun {
                standpoint: row.standpoint,
                operation: row.operation,
                times_as_long: most.cell.times_as_long,
                is_judged: most.cell.times_as_long.is_some_and(|times| times.interval.is_some()),
                is_longer: most.cell.is_longer,
                is_stall: since().any(|cell| cell.is_stall),
                stuck: since().map(BesideCell::stuck).sum(),
                longest: since().map(BesideCell::longest).max_by_key(|longest| longest.bound())?,
            })
        };
        self.rows.iter().filter_map(of_row).collect()
    }

    /// The same thing at the same time in another place, if it was asked there.
    pub fn elsewhere(&self, felt: &Felt<'_>, standpoint: Standpoint) -> Option<Felt<'_>> {
        self.all_during().chain(self.all_after()).find(|other| {
            other.standpoint == standpoint && other.operation == felt.operation && other.time == felt.time
        })
    }

    /// Whether this machine itself was slower then: the same was in its own memory.
    pub fn is_machine_slower(&self, felt: &Felt<'_>) -> bool {
        self.elsewhere(felt, Standpoint::Control).is_some_and(|control| control.cell.is_longer)
    }

    /// Whether nothing of the target can be compared with before: the load, or the time before it, was too short for the few attempts.
    pub fn is_too_short(&self) -> bool {
        let of_target = |felt: &Felt<'_>| felt.standpoint != Standpoint::Control;
        let is_compared =
            |felt: Felt<'_>| felt.cell.times_as_long.is_some_and(|times| times.interval.is_some());
        !self.all_during().filter(of_target).any(is_compared)
    }

    fn all_during(&self) -> impl Iterator<Item = Felt<'_>> {
        self.rows.iter().flat_map(move |row| self.during(row))
    }

    fn all_after(&self) -> impl Iterator<Item = Felt<'_>> {
        self.rows.iter().flat_map(move |row| self.at(row, |time| time == LoadTime::After))
    }

    fn during<'a>(&'a self, row: &'a BesideRow) -> impl Iterator<Item = Felt<'a>> {
        self.at(row, |time| matches!(time, LoadTime::During(_)))
    }

    fn at<'a>(
        &'a self,
        row: &'a BesideRow,
        is_meant: fn(LoadTime) -> bool,
    ) -> impl Iterator<Item = Felt<'a>> {
        let cells = self.times.iter().zip(&row.felt);
        cells.filter(move |(time, _)| is_meant(time.time)).filter_map(move |(time, cell)| {
            let (standpoint, operation) = (row.standpoint, row.operation);
            Some(Felt { time, standpoint, operation, cell: cell.as_ref()? })
        })
    }
}
