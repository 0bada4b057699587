//! Points and marks while they arrive.

use std::collections::BTreeMap;

use super::grid::column_of;
use super::plan::FigurePlan;
use crate::figure_column::{Column16, Column32};
use crate::run::figure::document::time_line::{MarkColumns, MarkCounts, Marks, Points, TIME_COLUMNS};

/// An attempt of known duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Point {
    pub(crate) series: u16,
    pub(crate) time: u32,
    pub(crate) bucket: u16,
    pub(crate) outcome: u8,
    /// Slot of the client.
    pub(crate) slot: u16,
}

/// Points as columns, in the order of series, then time.
pub(crate) fn points_of(mut points: Vec<Point>, plan: &FigurePlan) -> Points {
    points.sort_unstable();
    Points {
        time: points.iter().map(|point| point.time).collect(),
        bucket: points.iter().map(|point| point.bucket).collect(),
        series: points.iter().map(|point| point.series).collect(),
        outcome: points.iter().map(|point| point.outcome).collect(),
        client: points.iter().map(|point| plan.client_of(point.slot).0).collect(),
    }
}

/// An attempt that did not end well and in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) time: u32,
    pub(crate) series: u16,
    pub(crate) outcome: u8,
    pub(crate) reason: u8,
    pub(crate) bucket: u16,
    pub(crate) client: u32,
}

/// Marks: each, until there are too many; then counts by time column.
#[derive(Debug, Clone, Default)]
pub(crate) struct MarkRecorder {
    total: u64,
    each: Vec<Mark>,
    /// By series, outcome and reason.
    counts: BTreeMap<(u16, u8, u8), CountsByColumn>,
}

#[derive(Debug, Clone)]
struct CountsByColumn {
    counts: Vec<u32>,
    longest: Vec<u16>,
}

impl MarkRecorder {
    pub(crate) fn add(&mut self, mark: Mark, limit: u64) {
        self.total += 1;
        if self.total <= limit {
            self.each.push(mark);
            return;
        }
        self.count_each();
        self.count(mark);
    }

    /// Adds everything of `other`, whose series have the numbers `series_of` here.
    pub(crate) fn merge(&mut self, other: Self, series_of: &[u16], limit: u64) {
        self.total += other.total;
        self.each.extend(other.each.into_iter().map(|mark| mark.renumbered(series_of)));
        for ((series, outcome, reason), theirs) in other.counts {
            let mine = self.counts.entry((series_of[usize::from(series)], outcome, reason)).or_default();
            for (sum, count) in mine.counts.iter_mut().zip(theirs.counts) {
                *sum = sum.saturating_add(count);
            }
            for (longest, bucket) in mine.longest.iter_mut().zip(theirs.longest) {
                *longest = (*longest).max(bucket);
            }
        }
        if self.total > limit {
            self.count_each();
        }
    }

    fn count_each(&mut self) {
        for mark in std::mem::take(&mut self.each) {
            self.count(mark);
        }
    }

    fn count(&mut self, mark: Mark) {
        let own = self.counts.entry((mark.series, mark.outcome, mark.reason)).or_default();
        let column = column_of(mark.time, TIME_COLUMNS);
        own.counts[column] = own.counts[column].saturating_add(1);
        own.longest[column] = own.longest[column].max(mark.bucket);
    }

    /// The marks, their series having the numbers `series_of`.
    pub(crate) fn finish(self, series_of: &[u16]) -> Marks {
        let mut each: Vec<Mark> = self.each.into_iter().map(|mark| mark.renumbered(series_of)).collect();
        each.sort_unstable();
        let counts = self.counts.into_iter().map(|((series, outcome, reason), own)| MarkCounts {
            series: series_of[usize::from(series)],
            outcome,
            reason,
            counts: Column32(own.counts),
            longest: Column16(own.longest),
        });
        let mut counts: Vec<MarkCounts> = counts.collect();
        counts.sort_unstable_by_key(|own| (own.series, own.outcome, own.reason));
        Marks {
            total: self.total,
            each: MarkColumns {
                time: each.iter().map(|mark| mark.time).collect(),
                series: each.iter().map(|mark| mark.series).collect(),
                outcome: each.iter().map(|mark| mark.outcome).collect(),
                reason: each.iter().map(|mark| mark.reason).collect(),
                bucket: each.iter().map(|mark| mark.bucket).collect(),
                client: each.iter().map(|mark| mark.client).collect(),
            },
            counts,
        }
    }
}

impl Mark {
    fn renumbered(mut self, series_of: &[u16]) -> Self {
        self.series = series_of[usize::from(self.series)];
        self
    }
}

impl Default for CountsByColumn {
    fn default() -> Self {
        Self { counts: vec![0; TIME_COLUMNS as usize], longest: vec![0; TIME_COLUMNS as usize] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(time: u32, series: u16) -> Mark {
        Mark { time, series, outcome: 1, reason: 4, bucket: time as u16 % 7, client: 9 }
    }

    #[test]
    fn beyond_the_limit_marks_are_counted_whatever_the_order() {
        let mut once = MarkRecorder::default();
        (0..10).for_each(|time| once.add(mark(time << 28, 0), 4));
        let mut first = MarkRecorder::default();
        let mut second = MarkRecorder::default();
        (0..3).for_each(|time| first.add(mark(time << 28, 0), 4));
        (3..10).for_each(|time| second.add(mark(time << 28, 1), 4));
        first.merge(second, &[7, 0], 4);
        let found = once.finish(&[0]);
        assert_eq!(found, first.finish(&[0]));
        assert_eq!((found.total, found.each.time.0.len(), found.counts.len()), (10, 0, 1));
        assert_eq!(found.counts[0].counts.0.iter().sum::<u32>(), 10);
    }

    #[test]
    fn up_to_the_limit_each_mark_is_there_in_the_order_of_time() {
        let mut marks = MarkRecorder::default();
        [30, 10, 20].into_iter().for_each(|time| marks.add(mark(time, 0), 3));
        let found = marks.finish(&[5]);
        assert_eq!(found.each.time.0, [10, 20, 30]);
        assert_eq!((found.each.series.0, found.each.client.0), (vec![5; 3], vec![9; 3]));
        assert!(found.counts.is_empty());
    }
}
