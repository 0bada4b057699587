//! Many attempts, counted in stretches of time.

use iolag_model::Nanoseconds;

use super::listed::PARTS;
use super::reading::Reading;
use super::worth::GroupWorth;
use crate::statistics::dependence::effective_size::{Level, worth_of_share};
use crate::statistics::dependence::worth::{QuantileWorth, Stretch, Worth, lower_end_of};
use crate::statistics::quantile::censored::QUANTILES;
use crate::statistics::quantile::histogram::{Histogram, bucket_bounds, bucket_of};
use crate::statistics::student::normal_quantile;

/// Stretches of time in which more attempts are counted.
const STRETCHES: usize = 4096;

/// Joined stretches have at least this part of the attempts.
const JOINED: u64 = 1024;

/// Scores are summed as whole numbers, so that sums do not depend on their order.
const SCORE_UNIT: f64 = (1 << 20) as f64;

#[derive(Debug, Clone)]
pub(crate) struct Counted {
    first_ns: i64,
    length_ns: u64,
    /// In ascending order.
    limits: Vec<Nanoseconds>,
    /// Which of them is that of [`quantiles_looked_at`], one after the other, then of thresholds.
    places: Vec<usize>,
    /// In [`SCORE_UNIT`]s.
    score_of_bucket: Vec<i64>,
    score_of_censored: i64,
    attempts: Vec<u32>,
    sums_ns: Vec<u64>,
    scores: Vec<i64>,
    /// Attempts by stretch, and within it by how many limits they exceed.
    beyond: Vec<u32>,
}

/// All that the intervals of [`QUANTILES`] ask for.
pub(crate) fn quantiles_looked_at() -> impl Iterator<Item = f64> {
    QUANTILES.into_iter().chain(QUANTILES.into_iter().filter_map(lower_end_of))
}

impl Counted {
    pub(crate) fn new(
        histogram: &Histogram,
        (first_ns, end_ns): (i64, i64),
        thresholds: &[Nanoseconds],
    ) -> Self {
        let total = histogram.total() as f64;
        let known = histogram.count();
        // What had not ended lies above everything. Of a bucket that holds the quantile, all lie beyond or none, as in `beyond_quantile`.
        let at = |q: f64| {
            let rank = (q * total - 1e-9).ceil().max(1.0) as u64;
            let quantile = histogram.value_of_rank(rank.min(known)).unwrap_or_default();
            let bucket = bucket_of(quantile.0);
            let (first, last) = bucket_bounds(bucket);
            let through =
                histogram.occupied().take_while(|(place, _)| *place <= bucket).map(|(_, count)| count);
            let through = through.sum::<u64>() as f64;
            let before = through - histogram.counts()[bucket] as f64;
            let takes_bucket = through == total || (q * total - before).abs() < (through - q * total).abs();
            Nanoseconds(if takes_bucket { first.saturating_sub(1) } else { last })
        };
        let unsorted: Vec<Nanoseconds> =
            quantiles_looked_at().map(at).chain(thresholds.iter().copied()).collect();
        let mut limits = unsorted.clone();
        limits.sort_unstable();
        let place = |limit: &Nanoseconds| limits.partition_point(|other| other < limit);
        let score = |share: f64| (normal_quantile(share) * SCORE_UNIT) as i64;
        let mut score_of_bucket = Vec::new();
        let mut below = 0.0;
        for (bucket, count) in histogram.occupied() {
            score_of_bucket.resize(bucket + 1, 0);
            score_of_bucket[bucket] = score((below + count as f64 / 2.0) / total);
            below += count as f64;
        }
        let score_of_censored = if below < total { score((below + total) / 2.0 / total) } else { 0 };
        Self {
            first_ns,
            length_ns: end_ns.abs_diff(first_ns) / STRETCHES as u64 + 1,
            beyond: vec![0; (limits.len() + 1) * STRETCHES],
            places: unsorted.iter().map(place).collect(),
            limits,
            score_of_bucket,
            score_of_censored,
            attempts: vec![0; STRETCHES],
            sums_ns: vec![0; STRETCHES],
            scores: vec![0; STRETCHES],
        }
    }

    pub(crate) fn add(&mut self, reading: &Reading) {
        let since = reading.start_ns.map_or(0, |start| start.saturating_sub(self.first_ns).max(0) as u64);
        let stretch = ((since / self.length_ns) as usize).min(STRETCHES - 1);
        self.attempts[stretch] += 1;
        self.sums_ns[stretch] = self.sums_ns[stretch].saturating_add(reading.duration.0);
        let (exceeded, score) = if reading.has_ended {
            let exceeded = self.limits.iter().filter(|limit| reading.duration > **limit).count();
            (exceeded, self.score_of_bucket.get(bucket_of(reading.duration.0)).copied().unwrap_or_default())
        } else {
            (self.limits.len(), self.score_of_censored)
        };
        self.beyond[stretch * (self.limits.len() + 1) + exceeded] += 1;
        self.scores[stretch] += score;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let add = |mine: &mut [u32], theirs: &[u32]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.attempts, &other.attempts);
        add(&mut self.beyond, &other.beyond);
        self.sums_ns
            .iter_mut()
            .zip(&other.sums_ns)
            .for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        self.scores.iter_mut().zip(&other.scores).for_each(|(mine, theirs)| *mine += theirs);
    }

    pub(crate) fn worth(&self) -> GroupWorth {
        let attempts: u64 = self.attempts.iter().map(|count| u64::from(*count)).sum();
        let ends = self.joined_ends(attempts);
        let total: i64 = self.scores.iter().sum();
        let mean = total as f64 / SCORE_UNIT / attempts.max(1) as f64;
        let counts = joined(&self.attempts, &ends);
        let scores = joined(&self.scores, &ends);
        let sum = |(score, count): (&i64, &u32)| *score as f64 / SCORE_UNIT - mean * f64::from(*count);
        let sums: Vec<f64> = scores.iter().zip(&counts).map(sum).collect();
        let level = Level::of_score_sums(&sums, attempts).that_begins_cold();
        let stretch = |(attempts, over): (&u32, u32)| Stretch { attempts: *attempts, over };
        let worth = |place: &usize| {
            let over = |beyond: &[u32]| beyond[place + 1..].iter().sum();
            let over: Vec<u32> = self.beyond.chunks_exact(self.limits.len() + 1).map(over).collect();
            let stretches: Vec<Stretch> = counts.iter().zip(joined(&over, &ends)).map(stretch).collect();
            worth_of_share(&stretches, &level)
        };
        let worths: Vec<Worth> = self.places.iter().map(worth).collect();
        let (of_quantiles, of_thresholds) = worths.split_at(quantiles_looked_at().count());
        let beyond = |q: f64| {
            let place = quantiles_looked_at().position(|looked_at| looked_at == q);
            place.map_or(Worth::independent(attempts), |place| of_quantiles[place])
        };
        GroupWorth {
            sample_size: level.sample_size,
            quantiles: QUANTILES.map(|q| QuantileWorth::of(q, beyond)),
            thresholds: of_thresholds.to_vec(),
            part_means_ns: Some(self.part_means_ns(attempts)),
        }
    }

    /// Where stretches end that are joined until each has its part of the attempts; the last one may have less.
    fn joined_ends(&self, attempts: u64) -> Vec<usize> {
        let least = attempts.div_ceil(JOINED);
        let (mut ends, mut count) = (Vec::new(), 0);
        for (place, of_stretch) in self.attempts.iter().enumerate() {
            count += u64::from(*of_stretch);
            if count >= least {
                ends.push(place + 1);
                count = 0;
            }
        }
        if count > 0 {
            ends.push(STRETCHES);
        }
        ends
    }

    /// Stretches joined until they hold their share of the attempts.
    fn part_means_ns(&self, attempts: u64) -> Vec<f64> {
        let mut means = Vec::new();
        let (mut sum, mut count, mut passed) = (0.0, 0, 0);
        for (sum_ns, of_stretch) in self.sums_ns.iter().zip(&self.attempts) {
            sum += *sum_ns as f64;
            count += u64::from(*of_stretch);
            passed += u64::from(*of_stretch);
            if count > 0 && passed * PARTS as u64 >= attempts * (means.len() as u64 + 1) {
                means.push(sum / count as f64);
                (sum, count) = (0.0, 0);
            }
        }
        means
    }
}

/// Sums over the stretches between these ends.
pub(crate) fn joined<T: Copy + std::iter::Sum>(counts: &[T], ends: &[usize]) -> Vec<T> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| counts[start..*end].iter().copied().sum()).collect()
}
