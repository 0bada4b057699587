//! One series while its samples arrive.

use iolag_model::{ErrorClass, Nanoseconds, Operation, Outcome, TargetIndex};

use super::grid::column_of;
use super::marks::Point;
use super::plan::FigurePlan;
use crate::run::figure::document::activity::RATE_BINS;
use crate::run::figure::document::episode::{Spell, Spells};
use crate::run::figure::document::time_line::TIME_COLUMNS;
use crate::statistics::dependence::block_sums::Sequence;
use crate::{EffectiveSampleSize, ErrorCount, Histogram, bucket_of};

/// What a series is about; `part` is the first of the plan that it has attempts of, `slot` that of its client if clients are told
/// apart, else 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeriesKey {
    pub(crate) target: TargetIndex,
    pub(crate) part: u16,
    pub(crate) operation: Operation,
    pub(crate) slot: u16,
}

/// An attempt as the recorders take it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    /// Start and end as fractions of the span in units of 2^-32.
    pub(crate) time: u32,
    pub(crate) end_time: u32,
    pub(crate) ns: u64,
    /// Slot of the client.
    pub(crate) slot: u16,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct SeriesRecorder {
    pub(crate) key: SeriesKey,
    pub(crate) layer: u16,
    /// Known (ok, late) and censored durations.
    pub(crate) histogram: Histogram,
    sequence: Sequence,
    /// How many ended in each way; those that were ok are counted in the end.
    outcomes: [u64; Outcome::ALL.len()],
    pub(crate) errors: Vec<ErrorCount>,
    pub(crate) bytes: u64,
    /// Known and censored durations over each threshold.
    pub(crate) known_over: Vec<u64>,
    pub(crate) censored_over: Vec<u64>,
    /// The longest known duration of each time column: see [`pack_maximum`].
    pub(crate) maxima: Vec<u64>,
    pub(crate) operations: Vec<u32>,
    pub(crate) bytes_by_bin: Vec<u64>,
    /// Time in flight of attempts that do not cover the bin, ...
    busy_ns: Vec<u64>,
    /// ... and by how many more attempts than the bin before it is covered from edge to edge.
    covering: Vec<i64>,
    /// Of attempts that were slow: longer than the threshold with this number.
    slow: Option<(usize, u64, Spells)>,
    trouble: Spells,
    pub(crate) hangs: Spells,
}

impl SeriesRecorder {
    pub(crate) fn new(key: SeriesKey, layer: u16, thresholds: usize) -> Self {
        let bins = RATE_BINS as usize;
        Self {
            key,
            layer,
            histogram: Histogram::default(),
            sequence: Sequence::default(),
            outcomes: [0; Outcome::ALL.len()],
            errors: Vec::new(),
            bytes: 0,
            known_over: vec![0; thresholds],
            censored_over: vec![0; thresholds],
            maxima: vec![0; TIME_COLUMNS as usize],
            operations: vec![0; bins],
            bytes_by_bin: vec![0; bins],
            busy_ns: vec![0; bins],
            covering: vec![0; bins],
            slow: None,
            trouble: Spells::default(),
            hangs: Spells::default(),
        }
    }

    /// A known duration; returns its bucket.
    #[inline]
    pub(crate) fn record_known(
        &mut self,
        attempt: &Attempt,
        outcome: Outcome,
        thresholds: &[Nanoseconds],
    ) -> usize {
        let bucket = self.histogram.record(attempt.ns);
        self.sequence.push(bucket, attempt.ns);
        if thresholds.first().is_some_and(|least| attempt.ns > least.0) {
            count_over(&mut self.known_over, attempt.ns, thresholds);
        }
        let maximum = &mut self.maxima[column_of(attempt.time, TIME_COLUMNS)];
        *maximum = (*maximum).max(pack_maximum(bucket, attempt, outcome));
        let bin = column_of(attempt.end_time, RATE_BINS);
        self.operations[bin] = self.operations[bin].saturating_add(1);
        self.bytes_by_bin[bin] = self.bytes_by_bin[bin].wrapping_add(attempt.bytes);
        self.bytes = self.bytes.wrapping_add(attempt.bytes);
        bucket
    }

    /// A duration of which only a lower bound is known.
    pub(crate) fn record_censored(&mut self, ns: u64, thresholds: &[Nanoseconds]) {
        self.histogram.record_censored(ns);
        self.sequence.push(bucket_of(ns), ns);
        count_over(&mut self.censored_over, ns, thresholds);
    }

    /// Counts an attempt that was not simply ok.
    pub(crate) fn count_outcome(&mut self, outcome: Outcome, class: ErrorClass) {
        self.outcomes[outcome as usize] += 1;
        if outcome == Outcome::Error {
            self.count_error(class, 1);
        }
    }

    fn count_error(&mut self, class: ErrorClass, count: u64) {
        match self.errors.iter_mut().find(|error| error.class == class) {
            Some(error) => error.count += count,
            None => self.errors.push(ErrorCount { class, count }),
        }
    }

    /// The time that an attempt was in flight, shared out over the bins.
    #[inline]
    pub(crate) fn record_flight(&mut self, attempt: &Attempt, bin_ns: f64) {
        let first = column_of(attempt.time, RATE_BINS);
        let last = column_of(attempt.end_time, RATE_BINS);
        if first == last {
            // What was cut off at an edge of the span may have lasted longer than the bin.
            self.busy_ns[first] += attempt.ns.min(bin_ns as u64);
        } else {
            self.record_long_flight(attempt, first, last, bin_ns);
        }
    }

    #[cold]
    fn record_long_flight(&mut self, attempt: &Attempt, first: usize, last: usize, bin_ns: f64) {
        let within_bin = |time: u32| (f64::from(time) * f64::from(RATE_BINS) / 2f64.powi(32)).fract();
        self.busy_ns[first] += ((1.0 - within_bin(attempt.time)) * bin_ns) as u64;
        self.busy_ns[last] += (within_bin(attempt.end_time) * bin_ns) as u64;
        self.covering[first + 1] += 1;
        self.covering[last] -= 1;
    }

    /// Mean number of attempts in flight in each bin.
    pub(crate) fn in_flight(&self, bin_ns: f64) -> impl Iterator<Item = f32> {
        let covering = self.covering.iter().scan(0_i64, |covering, change| {
            *covering += change;
            Some(*covering)
        });
        let parts = self.busy_ns.iter().map(move |busy_ns| *busy_ns as f64 / bin_ns);
        covering.zip(parts).map(|(covering, part)| (covering as f64 + part) as f32)
    }

    /// An attempt that succeeded in time but took longer than the least threshold.
    #[cold]
    pub(crate) fn record_slow(
        &mut self,
        spell: Spell,
        ns: u64,
        thresholds: &[Nanoseconds],
        gap: Nanoseconds,
    ) {
        let Some(class) = thresholds.iter().rposition(|threshold| ns > threshold.0) else {
            return;
        };
        match &mut self.slow {
            Some((largest, ..)) if *largest > class => {}
            Some((largest, count, spells)) if *largest == class => {
                *count += 1;
                spells.add(spell, gap);
            }
            slow => {
                let mut spells = Spells::default();
                spells.add(spell, gap);
                *slow = Some((class, 1, spells));
            }
        }
    }

    /// An attempt that did not end well and in time.
    pub(crate) fn record_trouble(&mut self, spell: Spell, gap: Nanoseconds) {
        self.trouble.add(spell, gap);
    }

    /// Adds everything of `other`, as later samples.
    pub(crate) fn merge(&mut self, other: Self, plan: &FigurePlan) {
        let gap = plan.gap;
        self.key.part = self.key.part.min(other.key.part);
        self.histogram.merge(&other.histogram);
        self.sequence.merge(&other.sequence);
        self.bytes = self.bytes.wrapping_add(other.bytes);
        for error in other.errors {
            self.count_error(error.class, error.count);
        }
        let sums = [
            (&mut self.outcomes[..], &other.outcomes[..]),
            (&mut self.known_over, &other.known_over),
            (&mut self.censored_over, &other.censored_over),
            (&mut self.bytes_by_bin, &other.bytes_by_bin),
            (&mut self.busy_ns, &other.busy_ns),
        ];
        for (mine, theirs) in sums {
            for (sum, count) in mine.iter_mut().zip(theirs) {
                *sum = sum.wrapping_add(*count);
            }
        }
        for (sum, change) in self.covering.iter_mut().zip(other.covering) {
            *sum += change;
        }
        for (sum, count) in self.operations.iter_mut().zip(other.operations) {
            *sum = sum.saturating_add(count);
        }
        for (mine, theirs) in self.maxima.iter_mut().zip(other.maxima) {
            *mine = (*mine).max(theirs);
        }
        self.trouble.merge(other.trouble, gap);
        self.hangs.merge(other.hangs, plan.hang_gap);
        match (&mut self.slow, other.slow) {
            (Some(mine), Some(theirs)) if mine.0 == theirs.0 => {
                mine.1 += theirs.1;
                mine.2.merge(theirs.2, gap);
            }
            (Some(mine), Some(theirs)) if mine.0 > theirs.0 => {}
            (_, None) => {}
            (mine, theirs) => *mine = theirs,
        }
    }

    pub(crate) fn outcome(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ok => self.histogram.count() - self.outcomes[Outcome::Late as usize],
            other => self.outcomes[other as usize],
        }
    }

    pub(crate) fn attempts(&self) -> u64 {
        Outcome::ALL.iter().map(|outcome| self.outcome(*outcome)).sum()
    }

    /// What the durations are worth under autocorrelation.
    pub(crate) fn sample_size(&self) -> EffectiveSampleSize {
        let scored = || self.histogram.occupied().chain(self.histogram.occupied_by_censored());
        let total = self.histogram.total() as f64;
        if total == 0.0 {
            return EffectiveSampleSize::independent(0);
        }
        let mean = scored().map(|(bucket, count)| bucket as f64 * count as f64).sum::<f64>() / total;
        let square = |(bucket, count): (usize, u64)| (bucket as f64 - mean).powi(2) * count as f64;
        let variance = scored().map(square).sum::<f64>() / total;
        self.sequence.effective_sample_size(self.histogram.total(), variance)
    }

    /// The number of the threshold that means slow for this series, if slowness was counted and is no
    /// permanent state: at most half of the known durations.
    pub(crate) fn slow_threshold(&self) -> Option<usize> {
        let (class, count, _) = self.slow.as_ref()?;
        (*count * 2 <= self.histogram.count()).then_some(*class)
    }

    /// Spells of trouble, and of slowness unless it is permanent.
    pub(crate) fn spells(&self) -> impl Iterator<Item = &Spells> {
        let slow = self.slow.as_ref().filter(|_| self.slow_threshold().is_some());
        slow.map(|(_, _, spells)| spells).into_iter().chain([&self.trouble])
    }
}

fn count_over(over: &mut [u64], ns: u64, thresholds: &[Nanoseconds]) {
    for (over, threshold) in over.iter_mut().zip(thresholds) {
        *over += u64::from(ns > threshold.0);
    }
}

/// A maximum as one number: the longest wins, of equal ones the first; 0 is none.
#[inline]
const fn pack_maximum(bucket: usize, attempt: &Attempt, outcome: Outcome) -> u64 {
    // 14 bits of a bucket, 32 of a time, 4 of an outcome, 12 of a slot: none needs more.
    ((bucket as u64 + 1) << 48)
        | ((u32::MAX - attempt.time) as u64) << 16
        | (outcome as u64) << 12
        | (attempt.slot & 0xfff) as u64
}

/// The point of a maximum of this series.
pub(crate) const fn unpack_maximum(series: u16, packed: u64) -> Option<Point> {
    if packed == 0 {
        return None;
    }
    Some(Point {
        series,
        time: u32::MAX - (packed >> 16) as u32,
        bucket: (packed >> 48) as u16 - 1,
        outcome: (packed >> 12) as u8 & 0xf,
        slot: packed as u16 & 0xfff,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorder() -> SeriesRecorder {
        let key = SeriesKey { target: TargetIndex(0), part: 0, operation: Operation::Stat, slot: 0 };
        SeriesRecorder::new(key, 0, 4)
    }

    #[test]
    fn the_longest_of_a_column_is_kept_and_of_equal_ones_the_first() {
        let maximum = |bucket, time, outcome, slot| {
            pack_maximum(bucket, &Attempt { time, end_time: time, ns: 1, slot, bytes: 0 }, outcome)
        };
        let (short, long) = (maximum(0, 5, Outcome::Ok, 0), maximum(9, 4, Outcome::Late, 4095));
        assert!(long > short && maximum(9, 3, Outcome::Ok, 0) > long);
        let point = Point { series: 7, time: 4, bucket: 9, outcome: Outcome::Late as u8, slot: 4095 };
        assert_eq!((unpack_maximum(7, long), unpack_maximum(7, 0)), (Some(point), None));
        let first = Point { series: 0, time: 0, bucket: 0, outcome: 0, slot: 0 };
        assert_eq!(unpack_maximum(0, maximum(0, 0, Outcome::Ok, 0)), Some(first));
    }

    #[test]
    fn time_in_flight_is_shared_out_over_bins() {
        let mut series = recorder();
        let bin = u32::MAX / RATE_BINS + 1;
        // From the middle of bin 0 to the first quarter of bin 3.
        let attempt = Attempt { time: bin / 2, end_time: 3 * bin + bin / 4, ns: 275, slot: 0, bytes: 0 };
        series.record_flight(&attempt, 100.0);
        let found: Vec<f32> = series.in_flight(100.0).collect();
        for (found, expected) in found.iter().zip([0.5, 1.0, 1.0, 0.25, 0.0]) {
            assert!((found - expected).abs() < 0.02, "{found} for {expected}");
        }
    }
}
