//! Durations counted in two ladders of buckets at once: a coarse one of round numbers (classic histograms), and a fine one whose
//! buckets grow by a factor of 2^(1/8), about 1.09 (native histograms of schema 3, as Prometheus defines them).
//!
//! Invariants: each duration is in one bucket of each ladder; upper bounds belong to their buckets; merging is adding.

use std::collections::BTreeMap;

use iolag_model::Nanoseconds;
use serde::{Deserialize, Serialize};

/// Buckets per factor of two are 2 to the power of this.
pub const NATIVE_SCHEMA: i32 = 3;

/// 1-2-5 from 1 ms to 500 000 s.
const BOUNDS: usize = 27;
const BOUNDS_NS: [u64; BOUNDS] = bounds();
/// The limits of what people notice, what breaks their thought, and what ends their patience: always shown.
const ALWAYS_NS: [u64; 3] = [100_000_000, 1_000_000_000, 10_000_000_000];
/// The largest bound for durations that are known up to a deadline.
const DURATION_BOUND_MAX_NS: u64 = 5_000_000_000_000;
/// The smallest bound for late ends.
const LATE_BOUND_MIN_NS: u64 = 1_000_000_000;

const fn bounds() -> [u64; BOUNDS] {
    let mut bounds = [0; BOUNDS];
    let (mut at, mut decade) = (0, 1_000_000);
    while at < BOUNDS {
        bounds[at] = decade * [1, 2, 5][at % 3];
        at += 1;
        if at.is_multiple_of(3) {
            decade *= 10;
        }
    }
    bounds
}

/// All upper bounds of the coarse ladder, ascending, in ns.
pub const fn tally_bounds() -> &'static [u64] {
    &BOUNDS_NS
}

/// Counted durations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurationTally {
    count: u64,
    sum_ns: u64,
    zero: u64,
    /// As many as there are bounds, and one for all above; empty as long as nothing is counted.
    coarse: Vec<u64>,
    fine: BTreeMap<i32, u64>,
}

impl DurationTally {
    pub(crate) const fn new() -> Self {
        Self { count: 0, sum_ns: 0, zero: 0, coarse: Vec::new(), fine: BTreeMap::new() }
    }

    /// Counts a duration.
    pub fn observe(&mut self, duration: Nanoseconds) {
        self.count += 1;
        // Overflows after 584 years.
        self.sum_ns = self.sum_ns.saturating_add(duration.0);
        self.coarse.resize(BOUNDS + 1, 0);
        self.coarse[BOUNDS_NS.partition_point(|bound| *bound < duration.0)] += 1;
        match native_bucket(duration) {
            None => self.zero += 1,
            Some(bucket) => *self.fine.entry(bucket).or_default() += 1,
        }
    }

    /// How many were counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in ns.
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// How many were zero.
    pub const fn zero(&self) -> u64 {
        self.zero
    }

    /// The fine ladder: number of each bucket that is not empty, and its count.
    pub const fn fine(&self) -> &BTreeMap<i32, u64> {
        &self.fine
    }

    /// The coarse ladder of probes with `deadline`: upper bound in ns, and how many are not above it. The largest bound is below
    /// the deadline, so that what ran into it is above all of them; 0.1 s, 1 s and 10 s are always there. A deadline of zero is
    /// unknown.
    pub fn below_deadline(&self, deadline: Nanoseconds) -> Vec<(u64, u64)> {
        self.cumulative(|bound| {
            let is_below = deadline == Nanoseconds::ZERO || bound < deadline.0;
            ALWAYS_NS.contains(&bound) || (is_below && bound <= DURATION_BOUND_MAX_NS)
        })
    }

    /// The coarse ladder from 1 s on: upper bound in ns, and how many are not above it.
    pub fn above_a_second(&self) -> Vec<(u64, u64)> {
        self.cumulative(|bound| bound >= LATE_BOUND_MIN_NS)
    }

    fn cumulative(&self, is_shown: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let mut below = 0;
        let counts = self.coarse.iter().copied().chain(std::iter::repeat(0));
        let all = BOUNDS_NS.iter().zip(counts).map(|(bound, count)| {
            below += count;
            (*bound, below)
        });
        all.filter(|(bound, _)| is_shown(*bound)).collect()
    }
}

/// The number of the fine bucket that a duration is in, `None` for zero. Bucket `i` holds what is above 2^((i-1)/8) s and not
/// above 2^(i/8) s.
pub fn native_bucket(duration: Nanoseconds) -> Option<i32> {
    /// 2^(j/8 - 1): the bounds between one half and one.
    const FRACTIONS: [f64; 8] = [
        0.5,
        0.545_253_866_332_628_8,
        0.594_603_557_501_360_5,
        0.648_419_777_325_504_8,
        0.707_106_781_186_547_5,
        0.771_105_412_703_970_4,
        0.840_896_415_253_714_4,
        0.917_004_043_204_671_1,
    ];
    /// What a number between one half and one has in its exponent.
    const EXPONENT_OF_HALF: u64 = 1022;
    if duration == Nanoseconds::ZERO {
        return None;
    }
    // At least 1e-9, hence no subnormal number: mantissa and exponent can be taken apart.
    let bits = (duration.0 as f64 / 1e9).to_bits();
    let exponent = (bits >> 52) as i32 - EXPONENT_OF_HALF as i32;
    let fraction = f64::from_bits(bits & ((1 << 52) - 1) | EXPONENT_OF_HALF << 52);
    let within = FRACTIONS.partition_point(|bound| *bound < fraction) as i32;
    Some(within + (exponent - 1) * FRACTIONS.len() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_coarse_ladder_is_1_2_5() {
        let seconds: Vec<f64> = tally_bounds().iter().map(|bound| *bound as f64 / 1e9).collect();
        assert_eq!(seconds[..7], [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]);
        assert_eq!(seconds[18..], [1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5]);
    }

    #[test]
    fn the_largest_bound_is_below_the_deadline() {
        let bounds = |seconds: u64| -> Vec<u64> {
            let shown = DurationTally::new().below_deadline(Nanoseconds(seconds * SECOND));
            shown.iter().map(|(bound, _)| *bound).collect()
        };
        assert_eq!(bounds(60).last(), Some(&(50 * SECOND)));
        assert_eq!(bounds(50).last(), Some(&(20 * SECOND)));
        assert_eq!(bounds(2)[9..], [SECOND, 10 * SECOND]);
        assert_eq!(bounds(0).last(), Some(&(5000 * SECOND)));
        assert_eq!(bounds(10_000_000).last(), Some(&(5000 * SECOND)));
        assert_eq!(DurationTally::new().above_a_second().len(), 18);
    }

    #[test]
    fn bounds_belong_to_their_buckets() {
        let mut tally = DurationTally::new();
        for ns in [0, SECOND, SECOND + 1, 700_000 * SECOND] {
            tally.observe(Nanoseconds(ns));
        }
        let one = tally.above_a_second()[..2].to_vec();
        assert_eq!(one, [(SECOND, 2), (2 * SECOND, 3)]);
        assert_eq!(tally.above_a_second().last(), Some(&(500_000 * SECOND, 3)));
        assert_eq!((tally.count(), tally.zero(), tally.sum_ns()), (4, 1, 700_002 * SECOND + 1));
        assert_eq!(tally.fine().iter().next(), Some((&0, &1)));
    }

    /// From the definition in Prometheus' documentation of native histograms.
    #[test]
    fn known_fine_buckets() {
        for (ns, bucket) in
            [(1, -239), (SECOND / 2, -8), (SECOND, 0), (2 * SECOND, 8), (3 * SECOND, 13), (60 * SECOND, 48)]
        {
            assert_eq!(native_bucket(Nanoseconds(ns)), Some(bucket), "{ns}");
        }
        assert_eq!(native_bucket(Nanoseconds::ZERO), None);
    }

    proptest! {
        #[test]
        fn a_fine_bucket_holds_its_durations(ns in 1_u64..u64::MAX) {
            let bucket = f64::from(native_bucket(Nanoseconds(ns)).unwrap());
            let exact = (ns as f64 / 1e9).log2() * 8.0;
            prop_assert!(exact <= bucket + 1e-9 && exact > bucket - 1.0 - 1e-9, "{} in {}", exact, bucket);
        }

        #[test]
        fn all_ladders_hold_all(durations in prop::collection::vec(0_u64..6_000 * SECOND, 0..50)) {
            let mut tally = DurationTally::new();
            durations.iter().for_each(|ns| tally.observe(Nanoseconds(*ns)));
            let count = durations.len() as u64;
            prop_assert_eq!(tally.zero() + tally.fine().values().sum::<u64>(), count);
            prop_assert_eq!(tally.above_a_second().last().unwrap().1, count);
            for (bound, below) in tally.below_deadline(Nanoseconds::ZERO) {
                prop_assert_eq!(below, durations.iter().filter(|ns| **ns <= bound).count() as u64);
            }
        }
    }
}
