//! Clients while their samples arrive: durations by operation, and what was done when.

use std::collections::BTreeMap;

use iolag_model::{MonotonicTime, Nanoseconds, TargetIndex};

use super::grid::column_of;
use super::series::Attempt;
use crate::run::figure::document::activity::FAIRNESS_BINS;
use crate::{HISTOGRAM_BUCKETS, Histogram, StageClock, bucket_bounds, middle_of};

/// Histogram buckets per bucket of a client: 16 per octave, so that the middle is at most 2.2 % beside.
const SHIFT: u32 = 2;

/// Durations of one client and layer, in as many counters as are needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientDurations {
    first: usize,
    counts: Vec<u32>,
    /// Censored durations by the same buckets.
    censored: BTreeMap<usize, u64>,
    min_ns: u64,
    max_ns: u64,
    censored_max_ns: u64,
}

impl ClientDurations {
    #[inline]
    fn record(&mut self, bucket: usize, ns: u64) {
        let place = bucket >> SHIFT;
        match self.counts.get_mut(place.wrapping_sub(self.first)) {
            Some(count) => *count = count.saturating_add(1),
            None => self.add(place, 1),
        }
        if self.max_ns == 0 || ns < self.min_ns {
            self.min_ns = ns;
        }
        self.max_ns = self.max_ns.max(ns).max(1);
    }

    #[cold]
    fn add(&mut self, place: usize, count: u32) {
        if self.counts.is_empty() {
            self.first = place;
        }
        if place < self.first {
            let missing = self.first - place;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = place;
        }
        if self.counts.len() <= place - self.first {
            self.counts.resize(place - self.first + 1, 0);
        }
        let own = &mut self.counts[place - self.first];
        *own = own.saturating_add(count);
    }

    fn merge(&mut self, other: &Self) {
        if other.max_ns > 0 {
            self.min_ns = if self.max_ns == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
            self.max_ns = self.max_ns.max(other.max_ns);
        }
        for (offset, count) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            self.add(other.first + offset, *count);
        }
        for (place, count) in &other.censored {
            *self.censored.entry(*place).or_default() += count;
        }
        self.censored_max_ns = self.censored_max_ns.max(other.censored_max_ns);
    }

    /// The bucket of the median of known and censored durations: what clients are ordered by.
    pub(crate) fn median_place(&self) -> usize {
        let known: u64 = self.counts.iter().copied().map(u64::from).sum();
        let half = (known + self.censored.values().sum::<u64>()).div_ceil(2);
        let mut reached = 0;
        for (offset, count) in self.counts.iter().enumerate() {
            reached += u64::from(*count);
            if reached >= half {
                return self.first + offset;
            }
        }
        HISTOGRAM_BUCKETS
    }

    /// The same durations as a histogram; each counts in the middle of its four buckets.
    pub(crate) fn histogram(&self) -> Histogram {
        let mut counts = vec![0_u64; HISTOGRAM_BUCKETS];
        let middle = |place: usize| ((place << SHIFT) + (1 << (SHIFT - 1))).min(HISTOGRAM_BUCKETS - 1);
        for (offset, count) in self.counts.iter().enumerate() {
            counts[middle(self.first + offset)] += u64::from(*count);
        }
        let mut histogram =
            Histogram::from_counts(&counts, Nanoseconds(self.min_ns), Nanoseconds(self.max_ns));
        for (place, count) in &self.censored {
            for _ in 0..*count {
                histogram.record_censored(middle_of(middle(*place)).min(self.censored_max_ns));
            }
        }
        histogram
    }
}

/// One client, or a group of neighbours.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientRecorder {
    pub(crate) target: TargetIndex,
    /// By layer; short of the last ones that it did not use.
    pub(crate) durations: Vec<Option<Box<ClientDurations>>>,
    /// Operations that succeeded, by the bin in which they ended; empty until the first.
    pub(crate) done: Vec<u32>,
    first_start_ns: Option<u64>,
    last_end_ns: u64,
}

impl ClientRecorder {
    #[inline]
    pub(crate) fn record_known(&mut self, layer: u16, attempt: &Attempt, bucket: usize) {
        self.layer(layer).record(bucket, attempt.ns);
        if self.done.is_empty() {
            self.done = vec![0; FAIRNESS_BINS as usize];
        }
        let done = &mut self.done[column_of(attempt.end_time, FAIRNESS_BINS)];
        *done = done.saturating_add(1);
    }

    pub(crate) fn record_censored(&mut self, layer: u16, bucket: usize) {
        let own = self.layer(layer);
        *own.censored.entry(bucket >> SHIFT).or_default() += 1;
        own.censored_max_ns = own.censored_max_ns.max(bucket_bounds(bucket).1);
    }

    /// Widens the time in which it was at work.
    #[inline]
    pub(crate) fn span(&mut self, target: TargetIndex, start_ns: u64, ns: u64) {
        if self.first_start_ns.is_none_or(|first| start_ns < first) {
            self.first_start_ns = Some(start_ns);
            self.target = target;
        }
        self.last_end_ns = self.last_end_ns.max(start_ns.saturating_add(ns));
    }

    fn layer(&mut self, layer: u16) -> &mut ClientDurations {
        let layer = usize::from(layer);
        if self.durations.len() <= layer {
            self.durations.resize(layer + 1, None);
        }
        self.durations[layer].get_or_insert_default()
    }

    /// Adds everything of `other`, whose layers have the numbers `layer_of` here.
    pub(crate) fn merge(&mut self, other: Self, layer_of: &[u16]) {
        for (layer, durations) in other.durations.iter().enumerate() {
            if let Some(durations) = durations {
                self.layer(layer_of[layer]).merge(durations);
            }
        }
        if self.done.is_empty() {
            self.done = other.done;
        } else {
            for (sum, count) in self.done.iter_mut().zip(other.done) {
                *sum = sum.saturating_add(count);
            }
        }
        if let Some(start_ns) = other.first_start_ns {
            self.span(other.target, start_ns, 0);
        }
        self.last_end_ns = self.last_end_ns.max(other.last_end_ns);
    }

    pub(crate) const fn is_used(&self) -> bool {
        self.first_start_ns.is_some()
    }

    pub(crate) fn total_done(&self) -> u64 {
        self.done.iter().copied().map(u64::from).sum()
    }

    /// Operations that succeeded by the time from first start to last end; `None` if that is no time.
    pub(crate) fn per_second(&self) -> Option<f64> {
        let ns = self.last_end_ns.saturating_sub(self.first_start_ns?);
        (ns > 0).then(|| self.total_done() as f64 / Nanoseconds(ns).as_seconds())
    }
}

/// One stage on one target, from the samples that tell of clients' stages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StageRecorder {
    pub(crate) clients: u64,
    pub(crate) unfinished: u64,
    /// The clients' first start and last end.
    clock: Option<StageClock>,
    /// The last ends of the clients that ended: the first and the last of them.
    done: Option<StageClock>,
    pub(crate) begin: Option<u32>,
    pub(crate) end: Option<u32>,
    /// Sums of the clients' rates in 1/1000 per second, and of their squares: whole numbers, so that the order
    /// of merging does not matter.
    rates: u128,
    squares: u128,
}

impl StageRecorder {
    /// A client's stage of this length; `ended` tells whether it came to its end.
    pub(crate) fn record(&mut self, start_ns: i64, attempt: &Attempt, ended: bool) {
        let begin = MonotonicTime(start_ns.max(0) as u64);
        let end = begin.after(Nanoseconds(attempt.ns));
        self.merge(&Self {
            clients: 1,
            unfinished: u64::from(!ended),
            clock: Some(StageClock { begin, end }),
            done: ended.then_some(StageClock { begin: end, end }),
            begin: Some(attempt.time),
            end: Some(attempt.end_time),
            ..Self::of_rate(attempt)
        });
    }

    fn of_rate(attempt: &Attempt) -> Self {
        let rate = u128::from(attempt.bytes) * 1_000_000_000_000 / u128::from(attempt.ns.max(1));
        let rate = rate.min(u128::from(u32::MAX) * 1000);
        Self { rates: rate, squares: rate * rate, ..Self::default() }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let both = |mine: Option<StageClock>, theirs: Option<StageClock>| {
            mine.into_iter().chain(theirs).reduce(StageClock::and)
        };
        self.clients += other.clients;
        self.unfinished += other.unfinished;
        self.clock = both(self.clock, other.clock);
        self.done = both(self.done, other.done);
        self.begin = self.begin.into_iter().chain(other.begin).min();
        self.end = self.end.max(other.end);
        self.rates += other.rates;
        self.squares += other.squares;
    }

    /// When the first and the last client that ended were done, from the first start on.
    pub(crate) fn done_ns(&self) -> Option<[Nanoseconds; 2]> {
        let (clock, done) = self.clock.zip(self.done)?;
        Some([done.begin, done.end].map(|end| clock.done(end)))
    }

    pub(crate) fn jain(&self) -> Option<f64> {
        let sum = self.rates as f64;
        (self.squares > 0).then(|| sum * sum / (self.clients as f64 * self.squares as f64))
    }
}

/// Jain's index of these amounts; `None` if all are 0.
pub(crate) fn jain(amounts: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for amount in amounts {
        n += 1.0;
        sum += amount;
        squares += amount * amount;
    }
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// So many operations of each client, on average, tell how even they were served; of fewer the index is mostly chance.
const DONE_LEAST: u64 = 30;
/// So many bins in which nothing was done, one after the other, are a gap.
const GAP_BINS_LEAST: usize = 3;

/// Jain's index of what clients had done in each of `bins`, which are joined until it tells something; 0 in gaps, and everywhere if it never does. `done`
/// tells how much a client had done in a bin.
pub(crate) fn jain_over_time(clients: usize, bins: usize, done: impl Fn(usize, usize) -> u32) -> Vec<f32> {
    let least = DONE_LEAST * clients as u64;
    let mut ends = Vec::new();
    let mut window = 0;
    for bin in 0..bins {
        window += (0..clients).map(|client| u64::from(done(client, bin))).sum::<u64>();
        if window >= least {
            ends.push(bin + 1);
            window = 0;
        }
    }
    // What is left at the end belongs to the last window.
    let Some(last) = ends.last_mut() else { return vec![0.0; bins] };
    *last = bins;
    let mut indices = Vec::with_capacity(bins);
    for end in ends {
        let first = indices.len();
        let sum = |client| (first..end).map(|bin| f64::from(done(client, bin))).sum();
        let index = jain((0..clients).map(sum)).unwrap_or_default() as f32;
        indices.resize(end, index);
    }
    let is_empty = |bin: &usize| (0..clients).all(|client| done(client, *bin) == 0);
    let empty: Vec<usize> = (0..bins).filter(is_empty).collect();
    for gap in empty.chunk_by(|one, next| one + 1 == *next).filter(|gap| gap.len() >= GAP_BINS_LEAST) {
        gap.iter().for_each(|bin| indices[*bin] = 0.0);
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bucket_of;

    #[test]
    fn an_index_of_a_moment_is_of_enough_operations_and_gaps_have_none() {
        // Two clients in turn, four operations a bin: each bin is as uneven as can be, fifteen are not.
        let in_turn = |client: usize, bin: usize| if (bin + client).is_multiple_of(2) { 4 } else { 0 };
        assert!(jain_over_time(2, 64, in_turn).iter().all(|index| *index > 0.99));
        // One has all from the middle on; nothing is done in ten bins.
        let one = |client: usize, bin: usize| match bin {
            0..20 => 60,
            20..30 => 0,
            _ => 60 * (1 - client as u32),
        };
        let found = jain_over_time(2, 50, one);
        assert_eq!((found[..20].to_vec(), found[20..30].to_vec()), (vec![1.0; 20], vec![0.0; 10]));
        assert_eq!(found[30..], [0.5; 20]);
        // The last operations are too few for an index of their own, and these are too few for any.
        assert_eq!(jain_over_time(2, 3, |_, bin| if bin == 2 { 1 } else { 30 }), [1.0; 3]);
        assert_eq!(jain_over_time(2, 4, |_, _| 7), [0.0; 4]);
        assert_eq!(jain_over_time(0, 2, |_, _| 7), [0.0; 2]);
    }

    #[test]
    fn jains_index_is_one_when_even_and_one_nth_when_one_has_all() {
        assert_eq!(jain([3.0, 3.0, 3.0].into_iter()), Some(1.0));
        assert_eq!(jain([0.0, 8.0, 0.0, 0.0].into_iter()), Some(0.25));
        assert_eq!(jain([1.0, 2.0, 3.0].into_iter()), Some(36.0 / (3.0 * 14.0)));
        assert_eq!((jain([0.0].into_iter()), jain([].into_iter())), (None, None));
    }

    #[test]
    fn a_clients_durations_merge_and_stay_within_their_error() {
        let values = [900_000_u64, 5, 70, 123_456, 130_000, 7_000_000_000];
        let of = |values: &[u64]| {
            let mut durations = ClientDurations::default();
            values.iter().for_each(|ns| durations.record(bucket_of(*ns), *ns));
            durations
        };
        let mut merged = of(&values[..3]);
        merged.merge(&of(&values[3..]));
        let (merged, once) = (merged.histogram(), of(&values).histogram());
        assert_eq!(merged, once);
        assert_eq!((once.min(), once.max()), (Some(Nanoseconds(5)), Some(Nanoseconds(7_000_000_000))));
        let found = once.value_of_rank(4).unwrap().0 as f64;
        assert!((found / 130_000.0 - 1.0).abs() < 0.022, "{found}");
    }
}
