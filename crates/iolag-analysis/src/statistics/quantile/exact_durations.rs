//! Durations kept for exact quantiles, in 4 bytes each.
//!
//! Values arrive in chunks that are never moved; a duration over 4.29 s goes to a list of its own. The
//! histogram that is kept beside tells in which bucket a rank lies, so that finding order statistics reads
//! the values once, keeps only those of the wanted buckets, and selects among these. Chunks are freed while
//! they are read.

use std::collections::BTreeMap;

use super::histogram::{HISTOGRAM_BUCKETS, Histogram, bucket_bounds, bucket_of};

/// Values per chunk: 1 MiB, so that even many small groups waste little and each chunk returns to the system.
const CHUNK_VALUES: usize = 1 << 18;
const FIRST_CHUNK_VALUES: usize = 1 << 8;

/// Durations in ns, in no promised order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    full: Vec<Vec<u32>>,
    open: Vec<u32>,
    long: Vec<u64>,
}

impl Values {
    #[inline]
    pub(crate) fn push(&mut self, ns: u64) {
        if let Ok(short) = u32::try_from(ns) {
            if self.open.len() == self.open.capacity() {
                self.make_room();
            }
            self.open.push(short);
        } else {
            self.push_long(ns);
        }
    }

    #[cold]
    fn push_long(&mut self, ns: u64) {
        self.long.push(ns);
    }

    /// Chunks grow from small to [`CHUNK_VALUES`] by doubling, without moving what is there.
    #[cold]
    fn make_room(&mut self) {
        let capacity = (self.open.capacity() * 2).clamp(FIRST_CHUNK_VALUES, CHUNK_VALUES);
        let full = std::mem::replace(&mut self.open, Vec::with_capacity(capacity));
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        self.full.extend(other.full);
        if !other.open.is_empty() {
            self.full.push(other.open);
        }
        self.long.extend(other.long);
    }

    /// How many values do not exceed each of these limits.
    pub(crate) fn counts_at_most(
        &mut self,
        histogram: &Histogram,
        sorted_limits_ns: &[u64],
    ) -> BTreeMap<u64, u64> {
        let mut limits = sorted_limits_ns.to_vec();
        limits.dedup();
        if limits.is_empty() {
            return BTreeMap::new();
        }
        self.long.sort_unstable();
        let mut wanted = WantedBuckets::new(histogram, limits.iter().map(|limit| bucket_of(*limit)));
        for chunk in self.full.iter().chain([&self.open]) {
            wanted.offer(chunk);
        }
        wanted.gathered.iter_mut().for_each(|bucket| bucket.sort_unstable());

        let short_count = histogram.count() - self.long.len() as u64;
        let mut below = 0;
        let mut next_bucket = 0;
        let mut count_at_most = |limit: u64| {
            let Ok(short_limit) = u32::try_from(limit) else {
                return short_count + self.long.partition_point(|ns| *ns <= limit) as u64;
            };
            let bucket = bucket_of(limit);
            below += histogram.counts()[next_bucket..bucket].iter().sum::<u64>();
            next_bucket = bucket;
            below + wanted.of(bucket).partition_point(|ns| *ns <= short_limit) as u64
        };
        limits.into_iter().map(|limit| (limit, count_at_most(limit))).collect()
    }

    /// The values of these ranks (1 is the shortest). Frees the values while it reads them.
    pub(crate) fn order_statistics(mut self, histogram: &Histogram, ranks: &[u64]) -> BTreeMap<u64, u64> {
        self.long.sort_unstable();
        let short_count = histogram.count() - self.long.len() as u64;
        let mut statistics = BTreeMap::new();
        let mut places = Vec::new();
        for &rank in ranks {
            if rank > short_count {
                let long = self.long.get((rank - short_count - 1) as usize);
                statistics.extend(long.map(|ns| (rank, *ns)));
            } else if let Some((bucket, below)) = histogram.bucket_of_rank(rank) {
                places.push((rank, bucket, below));
            }
        }
        let mut wanted = WantedBuckets::new(histogram, places.iter().map(|place| place.1));
        for chunk in self.full.into_iter().chain([self.open]) {
            wanted.offer(&chunk);
        }
        // Ranks ascend, so those of one bucket stand together.
        for of_bucket in places.chunk_by(|left, right| left.1 == right.1) {
            let (_, bucket, below) = of_bucket[0];
            let indices: Vec<usize> = of_bucket.iter().map(|place| (place.0 - below - 1) as usize).collect();
            let values = select(wanted.of(bucket), bucket, &indices);
            statistics.extend(of_bucket.iter().zip(values).map(|(place, ns)| (place.0, u64::from(ns))));
        }
        statistics
    }
}

/// The values at these ascending indices of the sorted `values`, all of which lie in `bucket`.
fn select(values: &mut [u32], bucket: usize, indices: &[usize]) -> Vec<u32> {
    let (lowest, highest) = bucket_bounds(bucket);
    let width = (highest - lowest + 1) as usize;
    if width <= values.len() {
        return select_by_counting(values, lowest as u32, width, indices);
    }
    let mut selected = vec![0; indices.len()];
    select_between(values, indices, 0, &mut selected);
    selected
}

/// Where there are more values than a bucket is wide, each value is counted: one pass for all indices.
fn select_by_counting(values: &[u32], lowest: u32, width: usize, indices: &[usize]) -> Vec<u32> {
    let mut counts = vec![0_usize; width];
    for ns in values {
        counts[(ns - lowest) as usize] += 1;
    }
    let mut offset = 0;
    let mut reached = counts[0];
    let value_at = |index: &usize| {
        while reached <= *index {
            offset += 1;
            reached += counts[offset];
        }
        lowest + offset as u32
    };
    indices.iter().map(value_at).collect()
}

/// The middle index first, the others in what lies on their side of it. `first` is the index of `values[0]`.
fn select_between(values: &mut [u32], indices: &[usize], first: usize, selected: &mut [u32]) {
    if indices.is_empty() {
        return;
    }
    let middle = indices.len() / 2;
    let at = indices[middle] - first;
    let (below, value, above) = values.select_nth_unstable(at);
    selected[middle] = *value;
    let (selected_below, selected_above) = selected.split_at_mut(middle);
    select_between(below, &indices[..middle], first, selected_below);
    select_between(above, &indices[middle + 1..], first + at + 1, &mut selected_above[1..]);
}

/// Buckets of which every short value is gathered. No bucket holds both short and long values: 2^32 is the
/// border of an octave.
struct WantedBuckets {
    /// Per bucket: 0, or one more than its place in `gathered`.
    places: Vec<u16>,
    gathered: Vec<Vec<u32>>,
}

impl WantedBuckets {
    fn new(histogram: &Histogram, buckets: impl Iterator<Item = usize>) -> Self {
        let mut wanted = Self { places: vec![0; HISTOGRAM_BUCKETS], gathered: Vec::new() };
        for bucket in buckets {
            if wanted.places[bucket] == 0 {
                wanted.gathered.push(Vec::with_capacity(histogram.counts()[bucket] as usize));
                wanted.places[bucket] = wanted.gathered.len() as u16;
            }
        }
        wanted
    }

    fn offer(&mut self, values: &[u32]) {
        for &ns in values {
            let place = self.places[bucket_of(u64::from(ns))];
            if place != 0 {
                self.gathered[usize::from(place) - 1].push(ns);
            }
        }
    }

    fn of(&mut self, bucket: usize) -> &mut [u32] {
        let place = usize::from(self.places[bucket]);
        if place == 0 { &mut [] } else { &mut self.gathered[place - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counting_and_selecting_agree_with_sorting() {
        // 300 values of one bucket that is 64 ns wide: counted; every tenth of them: selected.
        let (lowest, highest) = bucket_bounds(bucket_of(5_000));
        let many: Vec<u32> =
            (0..300).map(|step| (lowest + step * 37 % (highest - lowest + 1)) as u32).collect();
        for mut values in [many.clone(), many.into_iter().step_by(10).collect()] {
            let indices: Vec<usize> = (0..values.len()).step_by(7).collect();
            let selected = select(&mut values, bucket_of(5_000), &indices);
            values.sort_unstable();
            assert_eq!(selected, indices.iter().map(|index| values[*index]).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn order_statistics_and_counts_are_those_of_the_sorted_values(
            mut all in prop::collection::vec((0_u32..40, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1)), 1..2000),
            limits in prop::collection::vec(0_u64..1 << 36, 0..5),
        ) {
            let (mut values, mut histogram) = (Values::default(), Histogram::default());
            for ns in &all {
                values.push(*ns);
                histogram.record(*ns);
            }
            all.sort_unstable();
            let mut limits = limits;
            limits.sort_unstable();
            for (limit, count) in values.counts_at_most(&histogram, &limits) {
                prop_assert_eq!(count, all.partition_point(|ns| *ns <= limit) as u64);
            }
            let ranks: Vec<u64> = (1..=all.len() as u64).step_by(all.len() / 50 + 1).collect();
            for (rank, value) in values.order_statistics(&histogram, &ranks) {
                prop_assert_eq!(value, all[rank as usize - 1]);
            }
        }
    }
}
