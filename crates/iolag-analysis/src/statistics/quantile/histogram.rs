//! Log-linear histograms: 1 ns to 13 days, relative error at most [`HISTOGRAM_RELATIVE_ERROR`].
//!
//! Layout: values below 128 ns have a bucket each; above, every octave is cut into 64 buckets of equal width.
//! A bucket is answered for by its middle, which is at most half a bucket's width (1/128 of its lower bound)
//! away from any value in it. The layout is fixed, so that an array of [`HISTOGRAM_BUCKETS`] counters in
//! shared memory is a histogram too.
//!
//! Invariant: `merge(a, b)` equals recording everything into one (property test). Censored durations are
//! counted apart: each is a lower bound, not a value. Limit: longer values count in the last bucket; minimum
//! and maximum are exact whatever the length.

use iolag_model::Nanoseconds;

use super::censored::{CensoredRanks, CensoredStep, Censoring, QuantileValue};

/// Buckets of a histogram.
pub const HISTOGRAM_BUCKETS: usize = 2880;

/// The middle of a bucket is at most this share away from any value in it.
pub const HISTOGRAM_RELATIVE_ERROR: f64 = 1.0 / 128.0;

const SUB_BUCKET_BITS: u32 = 6;
const LARGEST_NS: u64 = (1 << 50) - 1;

/// The bucket that counts a duration of `ns`; always below [`HISTOGRAM_BUCKETS`].
#[inline]
pub const fn bucket_of(ns: u64) -> usize {
    let ns = if ns > LARGEST_NS { LARGEST_NS } else { ns };
    let exponent = 63 - (ns | (1 << SUB_BUCKET_BITS)).leading_zeros();
    let shift = exponent - SUB_BUCKET_BITS;
    ((shift as usize) << SUB_BUCKET_BITS) + (ns >> shift) as usize
}

/// Smallest and largest duration in ns that `bucket` counts, both inclusive.
pub const fn bucket_bounds(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> SUB_BUCKET_BITS).saturating_sub(1);
    let lowest = ((bucket - (shift << SUB_BUCKET_BITS)) as u64) << shift;
    (lowest, lowest + (1 << shift) - 1)
}

/// Counts of durations by bucket, with exact count, sum and extremes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    /// Counters of censored durations; empty until the first one.
    censored: Vec<u64>,
    count: u64,
    censored_count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
    censored_max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; HISTOGRAM_BUCKETS].into_boxed_slice(),
            censored: Vec::new(),
            count: 0,
            censored_count: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            censored_max_ns: 0,
        }
    }
}

impl Histogram {
    /// A histogram of counters that were filled elsewhere by [`bucket_of`], with the extremes kept next to
    /// them. The mean is that of the buckets' middles. Counters past [`HISTOGRAM_BUCKETS`] are ignored.
    pub fn from_counts(counts: &[u64], min: Nanoseconds, max: Nanoseconds) -> Self {
        let mut histogram = Self::default();
        for (bucket, &count) in counts.iter().enumerate().take(HISTOGRAM_BUCKETS) {
            histogram.counts[bucket] = count;
            histogram.count += count;
            histogram.sum_ns += u128::from(middle_of(bucket)) * u128::from(count);
        }
        if histogram.count > 0 {
            (histogram.min_ns, histogram.max_ns) = (min.0, max.0);
        }
        histogram
    }

    /// Counts a duration and returns its bucket. Does not allocate.
    #[inline]
    pub fn record(&mut self, ns: u64) -> usize {
        let bucket = bucket_of(ns);
        self.counts[bucket] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        // Extremes are rarely new: a branch that is predicted costs less than two stores.
        if ns < self.min_ns {
            self.min_ns = ns;
        }
        if ns > self.max_ns {
            self.max_ns = ns;
        }
        bucket
    }

    /// Counts a duration of which only a lower bound is known. The first one allocates the counters.
    #[cold]
    pub fn record_censored(&mut self, ns: u64) {
        if self.censored.is_empty() {
            self.censored = vec![0; HISTOGRAM_BUCKETS];
        }
        self.censored[bucket_of(ns)] += 1;
        self.censored_count += 1;
        self.censored_max_ns = self.censored_max_ns.max(ns);
    }

    /// Adds everything that `other` has recorded.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        if self.censored.is_empty() {
            self.censored.clone_from(&other.censored);
        } else {
            for (mine, theirs) in self.censored.iter_mut().zip(&other.censored) {
                *mine += theirs;
            }
        }
        self.count += other.count;
        self.censored_count += other.censored_count;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.censored_max_ns = self.censored_max_ns.max(other.censored_max_ns);
    }

    /// Durations that are known.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Durations of which a lower bound is known.
    pub const fn censored_count(&self) -> u64 {
        self.censored_count
    }

    /// Known and censored durations.
    pub const fn total(&self) -> u64 {
        self.count + self.censored_count
    }

    /// The shortest known duration, exactly.
    pub fn min(&self) -> Option<Nanoseconds> {
        (self.count > 0).then_some(Nanoseconds(self.min_ns))
    }

    /// The longest known duration, exactly.
    pub fn max(&self) -> Option<Nanoseconds> {
        (self.count > 0).then_some(Nanoseconds(self.max_ns))
    }

    /// The greatest lower bound among the censored durations.
    pub fn censored_max(&self) -> Option<Nanoseconds> {
        (self.censored_count > 0).then_some(Nanoseconds(self.censored_max_ns))
    }

    /// Mean of the known durations in ns, exact unless made by [`Histogram::from_counts`].
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The counters of known durations, by bucket.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Buckets that hold a known duration, ascending, with their counts.
    pub fn occupied(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        self.counts.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// Buckets that hold a censored duration, ascending, with their counts.
    pub fn occupied_by_censored(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.censored.iter().copied().enumerate().filter(|(_, count)| *count > 0)
    }

    /// The known duration with this rank (1 is the shortest), within [`HISTOGRAM_RELATIVE_ERROR`]; the first
    /// and the last rank are exact. A rank past the end is the last.
    pub fn value_of_rank(&self, rank: u64) -> Option<Nanoseconds> {
        if rank <= 1 {
            return self.min();
        }
        if rank >= self.count {
            return self.max();
        }
        self.bucket_of_rank(rank)
            .map(|(bucket, _)| Nanoseconds(middle_of(bucket).clamp(self.min_ns, self.max_ns)))
    }

    /// The bucket that holds this rank, and the number of known durations in the buckets below it.
    pub fn bucket_of_rank(&self, rank: u64) -> Option<(usize, u64)> {
        let mut below = 0;
        for (bucket, count) in self.occupied() {
            if below + count >= rank {
                return Some((bucket, below));
            }
            below += count;
        }
        None
    }

    /// The smallest duration that at least the share `q` of all attempts did not exceed. Censored durations
    /// count as "at least"; a quantile within their mass is [`QuantileValue::AtLeast`]. With nothing
    /// recorded: `TooFew`.
    pub fn quantile(&self, q: f64) -> QuantileValue {
        self.ranks_under(Censoring::Independent).quantile(q, |rank| self.value_of_rank(rank))
    }

    /// Where the censored durations lie among the known ones. In a shared bucket the known ones come first; where being censored
    /// says something, only the bucket's lower edge is certain.
    pub fn ranks_under(&self, censoring: Censoring) -> CensoredRanks {
        let shared = usize::from(censoring.of(self.total()) == Censoring::Independent);
        let (mut known, mut next) = (0, 0);
        let steps = self.occupied_by_censored().map(|(bucket, count)| {
            known += self.counts[next..bucket + shared].iter().sum::<u64>();
            next = bucket + shared;
            CensoredStep { bound_ns: bucket_bounds(bucket).0, known, count }
        });
        let longest_ns = self.max_ns.max(self.censored_max_ns);
        CensoredRanks::new(self.count, steps.collect(), longest_ns, censoring)
    }
}

/// The duration in ns that stands for a bucket.
pub const fn middle_of(bucket: usize) -> u64 {
    let (lowest, highest) = bucket_bounds(bucket);
    lowest + (highest - lowest) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[(u64, bool)]) -> Histogram {
        let mut histogram = Histogram::default();
        for &(ns, censored) in values {
            if censored {
                histogram.record_censored(ns);
            } else {
                histogram.record(ns);
            }
        }
        histogram
    }

    /// Durations spread evenly over the octaves, sometimes past the last bucket.
    fn durations() -> impl Strategy<Value = u64> {
        (0_u32..53, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1))
    }

    #[test]
    fn buckets_are_contiguous_and_cover_ten_days() {
        let mut next = 0;
        for bucket in 0..HISTOGRAM_BUCKETS {
            let (lowest, highest) = bucket_bounds(bucket);
            assert_eq!(lowest, next);
            assert_eq!((bucket_of(lowest), bucket_of(highest)), (bucket, bucket));
            next = highest + 1;
        }
        assert_eq!(next, LARGEST_NS + 1);
        assert!(next > 10 * 86_400 * 1_000_000_000);
        assert_eq!(bucket_of(u64::MAX), HISTOGRAM_BUCKETS - 1);
    }

    #[test]
    fn a_quantile_in_the_censored_mass_is_a_lower_bound() {
        let second = 1_000_000_000;
        let histogram = of(&[(second, false), (2 * second, false), (15 * second, true), (15 * second, true)]);
        assert_eq!(histogram.quantile(0.25), QuantileValue::Exactly(Nanoseconds(second)));
        assert_eq!(histogram.quantile(0.75), QuantileValue::AtLeast(Nanoseconds(15 * second)));
        assert_eq!(Histogram::default().quantile(0.5), QuantileValue::TooFew { needed: 1, have: 0 });
    }

    #[test]
    fn foreign_counters_make_the_same_histogram() {
        let mut counters = vec![0_u64; HISTOGRAM_BUCKETS];
        let mut recorded = Histogram::default();
        for ns in [5, 90, 1_000, 1_003, 77_000_000] {
            counters[bucket_of(ns)] += 1;
            recorded.record(ns);
        }
        let foreign = Histogram::from_counts(&counters, Nanoseconds(5), Nanoseconds(77_000_000));
        assert_eq!(foreign.counts(), recorded.counts());
        assert_eq!(foreign.quantile(0.6), recorded.quantile(0.6));
    }

    proptest! {
        #[test]
        fn merging_equals_recording_everything(
            first in prop::collection::vec((durations(), any::<bool>()), 0..200),
            second in prop::collection::vec((durations(), any::<bool>()), 0..200),
        ) {
            let mut merged = of(&first);
            merged.merge(&of(&second));
            let all: Vec<_> = first.iter().chain(&second).copied().collect();
            prop_assert_eq!(merged, of(&all));
        }

        #[test]
        fn every_rank_is_within_the_stated_error(mut values in prop::collection::vec(durations(), 1..300)) {
            values.retain(|ns| *ns <= LARGEST_NS);
            let histogram = of(&values.iter().map(|ns| (*ns, false)).collect::<Vec<_>>());
            values.sort_unstable();
            for (index, exact) in values.iter().enumerate() {
                let found = histogram.value_of_rank(index as u64 + 1).unwrap().0;
                let error = found.abs_diff(*exact) as f64;
                prop_assert!(error <= HISTOGRAM_RELATIVE_ERROR * *exact as f64, "{} for {}", found, exact);
            }
        }
    }
}
