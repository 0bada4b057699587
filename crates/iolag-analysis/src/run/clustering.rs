//! How much the attempts of a run depend on each other: a second reading of its samples, by the moments of their starts.
//!
//! ```text
//! Engine::batch (all samples) -> Engine::clustering -> Clustering::batch (the same again) -> Engine::finish_with
//! ```
//!
//! The summary of a run merges and knows no order. What its attempts are worth does: whether the slowest 5 % came in one storm
//! is seen only in time. Once it is known between which moments a group lies and where its quantiles are, the samples are read again: up to
//! [`LISTED_MOST`] attempts are listed and put in order; more are counted in [`STRETCHES`] equal stretches of time, by how many exceed each
//! quantile and threshold, and neighbours joined until each has its share of the attempts: who waits starts few. Both merge in any order, so threads and clients may be read as they come.
//!
//! Limits: quantiles of groups that are counted are found to the 0.8 % of the histogram.

use iolag_model::{FailureCode, Nanoseconds, Outcome, SampleColumns};

use super::engine::{Grouping, NO_GROUP, ROWS_AT_ONCE};
use super::summary::QUANTILES;
use crate::statistics::dependence::effective_size::{
    EffectiveSampleSize, Level, QuantileWorth, Stretch, Worth, beyond_quantile, lower_end_of, stretches_of,
    worth_of_share,
};
use crate::statistics::interval::student::normal_quantile;
use crate::statistics::quantile::histogram::{Histogram, bucket_bounds, bucket_of};

/// Parts whose means tell how it went on.
pub(crate) const PARTS: usize = 32;

/// Attempts of a group that are listed.
const LISTED_MOST: u64 = 16_384;

/// Stretches of time in which more attempts are counted.
const STRETCHES: usize = 4096;

/// Joined stretches have at least this part of the attempts.
const JOINED: u64 = 1024;

/// Scores are summed as whole numbers, so that sums do not depend on their order.
const SCORE_UNIT: f64 = (1 << 20) as f64;

/// What a second reading counts.
#[derive(Debug, Clone)]
pub struct Clustering {
    grouping: Grouping,
    places: Vec<u32>,
    groups: Vec<GroupClustering>,
}

/// What a group's attempts are worth.
#[derive(Debug, Clone)]
pub(crate) struct GroupWorth {
    /// For the level as a whole.
    pub sample_size: EffectiveSampleSize,
    /// For each of [`QUANTILES`].
    pub quantiles: [QuantileWorth; QUANTILES.len()],
    /// For the share over each threshold.
    pub thresholds: Vec<Worth>,
    /// Means in ns of up to [`PARTS`] equal parts in the order of time, a bound counting as it is; absent without second reading.
    pub part_means_ns: Option<Vec<f64>>,
}

impl GroupWorth {
    /// The same for all.
    pub(crate) fn alike(sample_size: EffectiveSampleSize, thresholds: usize) -> Self {
        let worth = Worth { effective: sample_size.effective, few_stretches: None };
        Self {
            sample_size,
            quantiles: QUANTILES.map(|q| QuantileWorth::of(q, |_| worth)),
            thresholds: vec![worth; thresholds],
            part_means_ns: None,
        }
    }

    /// At one of [`QUANTILES`].
    pub(crate) fn at(&self, q: f64) -> QuantileWorth {
        let place = QUANTILES.iter().position(|known| *known == q).unwrap_or(1);
        self.quantiles[place]
    }
}

impl Clustering {
    pub(crate) const fn new(grouping: Grouping, places: Vec<u32>, groups: Vec<GroupClustering>) -> Self {
        Self { grouping, places, groups }
    }

    /// Takes a batch of the samples that the engine took, with the same columns.
    pub fn batch(&mut self, columns: SampleColumns<'_>) {
        let rows =
            columns.duration_ns.len().min(columns.operation_code.len()).min(columns.outcome_code.len());
        let mut places = [0; ROWS_AT_ONCE];
        for first in (0..rows).step_by(ROWS_AT_ONCE) {
            let rows = first..rows.min(first + ROWS_AT_ONCE);
            let places = &mut places[..rows.len()];
            self.grouping.find_places(&columns, rows.clone(), places);
            for (row, place) in rows.zip(places) {
                let group = self.places.get(*place as usize).filter(|group| **group != NO_GROUP);
                if let (Some(group), Some(reading)) = (group, Reading::of(&columns, row)) {
                    self.groups[*group as usize].add(&reading);
                }
            }
        }
    }

    /// Adds what another one counted of other samples of the same engine.
    pub fn merge(&mut self, other: Self) {
        self.groups.iter_mut().zip(other.groups).for_each(|(mine, theirs)| mine.merge(theirs));
    }

    pub(crate) fn worths(self) -> Vec<GroupWorth> {
        self.groups.into_iter().map(GroupClustering::worth).collect()
    }
}

/// One attempt that has a duration.
struct Reading {
    /// Absent where starts are not known: the order of arrival.
    start_ns: Option<i64>,
    /// As recorded.
    duration: Nanoseconds,
    /// What had not ended is longer than anything.
    has_ended: bool,
}

impl Reading {
    fn of(columns: &SampleColumns<'_>, row: usize) -> Option<Self> {
        let code = u8::try_from(columns.outcome_code[row]).ok()?;
        let outcome = Outcome::try_from(code).ok().filter(|outcome| *outcome != Outcome::Error)?;
        let failure = FailureCode(columns.failure_code.get(row).copied().unwrap_or_default() as u16);
        if outcome.is_censored() && !outcome.is_lower_bound(failure) {
            return None;
        }
        Some(Self {
            start_ns: columns.start_ns.get(row).copied(),
            duration: Nanoseconds(columns.duration_ns[row].max(0) as u64),
            has_ended: !outcome.is_censored(),
        })
    }
}

/// The attempts of a group in time.
#[derive(Debug, Clone)]
pub(crate) struct GroupClustering {
    thresholds: Vec<Nanoseconds>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    /// Start (or place), duration, and whether it had ended.
    Listed(Vec<(i64, u64, bool)>),
    Counted(Box<Counted>),
}

#[derive(Debug, Clone)]
struct Counted {
    first_ns: i64,
    length_ns: u64,
    /// [`quantiles_looked_at`], then thresholds.
    limits: Vec<Nanoseconds>,
    score_of_bucket: Vec<f32>,
    score_of_censored: f32,
    attempts: Vec<u32>,
    sums_ns: Vec<u64>,
    scores: Vec<i64>,
    /// By limit and stretch.
    over: Vec<u32>,
}

impl GroupClustering {
    /// For attempts with these durations that started in this span.
    pub(crate) fn new(
        histogram: &Histogram,
        (first_ns, end_ns): (i64, i64),
        thresholds: &[Nanoseconds],
    ) -> Self {
        let form = if histogram.total() <= LISTED_MOST || end_ns < first_ns {
            Form::Listed(Vec::new())
        } else {
            Form::Counted(Box::new(Counted::new(histogram, (first_ns, end_ns), thresholds)))
        };
        Self { thresholds: thresholds.to_vec(), form }
    }

    fn add(&mut self, reading: &Reading) {
        match &mut self.form {
            Form::Listed(list) => {
                let at = reading.start_ns.unwrap_or(list.len() as i64);
                list.push((at, reading.duration.0, reading.has_ended));
            }
            Form::Counted(counted) => counted.add(reading),
        }
    }

    fn merge(&mut self, other: Self) {
        match (&mut self.form, other.form) {
            (Form::Listed(mine), Form::Listed(theirs)) => mine.extend(theirs),
            (Form::Counted(mine), Form::Counted(theirs)) => mine.merge(&theirs),
            (Form::Listed(_), Form::Counted(_)) | (Form::Counted(_), Form::Listed(_)) => {
                debug_assert!(false, "clusterings of different engines");
            }
        }
    }

    fn worth(self) -> GroupWorth {
        match self.form {
            Form::Listed(list) => worth_of_list(list, &self.thresholds),
            Form::Counted(counted) => counted.worth(),
        }
    }
}

/// All that the intervals of [`QUANTILES`] ask for.
fn quantiles_looked_at() -> impl Iterator<Item = f64> {
    QUANTILES.into_iter().chain(QUANTILES.into_iter().filter_map(lower_end_of))
}

fn worth_of_list(mut list: Vec<(i64, u64, bool)>, thresholds: &[Nanoseconds]) -> GroupWorth {
    list.sort_unstable();
    let length = list.len().div_ceil(PARTS).max(1);
    let mean =
        |part: &[(i64, u64, bool)]| part.iter().map(|one| one.1 as f64).sum::<f64>() / part.len() as f64;
    // A last shorter part says less than the others.
    let parts = list.chunks(length).filter(|part| part.len() == length).map(mean).collect();
    let durations: Vec<u64> = list
        .into_iter()
        .map(|(_, duration, has_ended)| if has_ended { duration } else { u64::MAX })
        .collect();
    let amounts: Vec<f64> = durations.iter().map(|duration| *duration as f64).collect();
    let level = Level::of(&amounts).that_begins_cold();
    let worth = |is_over: &[bool]| worth_of_share(&stretches_of(is_over), &level);
    let over = |limit: &Nanoseconds| {
        worth(&durations.iter().map(|duration| *duration > limit.0).collect::<Vec<bool>>())
    };
    let mut sorted = amounts.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let quantile = |q: f64| {
        let rank = (q * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
        let beyond = |quantile: &f64| worth(&beyond_quantile(&amounts, *quantile, q));
        sorted.get(rank - 1).map_or(Worth::independent(0), beyond)
    };
    GroupWorth {
        sample_size: level.sample_size,
        quantiles: QUANTILES.map(|q| QuantileWorth::of(q, quantile)),
        thresholds: thresholds.iter().map(over).collect(),
        part_means_ns: Some(parts),
    }
}

impl Counted {
    fn new(histogram: &Histogram, (first_ns, end_ns): (i64, i64), thresholds: &[Nanoseconds]) -> Self {
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
        let limits: Vec<Nanoseconds> =
            quantiles_looked_at().map(at).chain(thresholds.iter().copied()).collect();
        let mut score_of_bucket = Vec::new();
        let mut below = 0.0;
        for (bucket, count) in histogram.occupied() {
            score_of_bucket.resize(bucket + 1, 0.0);
            score_of_bucket[bucket] = normal_quantile((below + count as f64 / 2.0) / total) as f32;
            below += count as f64;
        }
        let score_of_censored =
            if below < total { normal_quantile((below + total) / 2.0 / total) as f32 } else { 0.0 };
        Self {
            first_ns,
            length_ns: end_ns.abs_diff(first_ns) / STRETCHES as u64 + 1,
            over: vec![0; limits.len() * STRETCHES],
            limits,
            score_of_bucket,
            score_of_censored,
            attempts: vec![0; STRETCHES],
            sums_ns: vec![0; STRETCHES],
            scores: vec![0; STRETCHES],
        }
    }

    fn add(&mut self, reading: &Reading) {
        let since = reading.start_ns.map_or(0, |start| start.saturating_sub(self.first_ns).max(0) as u64);
        let stretch = ((since / self.length_ns) as usize).min(STRETCHES - 1);
        self.attempts[stretch] += 1;
        self.sums_ns[stretch] = self.sums_ns[stretch].saturating_add(reading.duration.0);
        let score = if reading.has_ended {
            self.score_of_bucket.get(bucket_of(reading.duration.0)).copied().unwrap_or_default()
        } else {
            self.score_of_censored
        };
        self.scores[stretch] += (f64::from(score) * SCORE_UNIT) as i64;
        for (limit, over) in self.limits.iter().zip(self.over.chunks_exact_mut(STRETCHES)) {
            over[stretch] += u32::from(!reading.has_ended || reading.duration > *limit);
        }
    }

    fn merge(&mut self, other: &Self) {
        let add = |mine: &mut [u32], theirs: &[u32]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.attempts, &other.attempts);
        add(&mut self.over, &other.over);
        self.sums_ns
            .iter_mut()
            .zip(&other.sums_ns)
            .for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        self.scores.iter_mut().zip(&other.scores).for_each(|(mine, theirs)| *mine += theirs);
    }

    fn worth(&self) -> GroupWorth {
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
        let worth = |over: &[u32]| {
            let stretches: Vec<Stretch> = counts.iter().zip(joined(over, &ends)).map(stretch).collect();
            worth_of_share(&stretches, &level)
        };
        let worths: Vec<Worth> = self.over.chunks_exact(STRETCHES).map(worth).collect();
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
fn joined<T: Copy + std::iter::Sum>(counts: &[T], ends: &[usize]) -> Vec<T> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| counts[start..*end].iter().copied().sum()).collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use iolag_model::Operation;

    use super::super::engine::Engine;
    use super::super::summary::{Precision, Summary};
    use super::*;
    use crate::statistics::noise::Noise;

    /// Starts and durations: 1 ms, and 50 ms in storms of 30 that come now and then.
    fn storms(n: usize, seed: u64) -> (Vec<i64>, Vec<i64>) {
        let mut noise = Noise::new(seed);
        let (mut now, mut left) = (0, 0_u32);
        (0..n)
            .map(|_| {
                left = if left == 0 && noise.uniform() < 1.0 / 970.0 { 30 } else { left.saturating_sub(1) };
                let level = if left > 0 { 50e6 } else { 1e6 };
                let duration = (level * (0.3 * noise.normal()).exp()) as i64;
                now += duration;
                (now - duration, duration)
            })
            .unzip()
    }

    /// The summary of these samples, read in batches in this order, by two engines that merge.
    fn summary(
        samples: &(Vec<i64>, Vec<i64>),
        order: impl Fn(usize) -> usize,
        precision: Precision,
    ) -> Summary {
        let batch = 256;
        let batches: Vec<usize> = (0..samples.0.len().div_ceil(batch)).map(order).collect();
        let codes = vec![Operation::Stat as i32; batch];
        let columns = |number: usize| {
            let rows = number * batch..samples.0.len().min((number + 1) * batch);
            SampleColumns {
                operation_code: &codes[..rows.len()],
                outcome_code: &[0; 256][..rows.len()],
                start_ns: &samples.0[rows.clone()],
                duration_ns: &samples.1[rows],
                ..Default::default()
            }
        };
        let grouping = Grouping { clients: NonZeroU32::new(1), ..Grouping::default() };
        let mut engines = [Engine::new(grouping, precision), Engine::new(grouping, precision)];
        batches.iter().enumerate().for_each(|(index, number)| engines[index % 2].batch(columns(*number)));
        let [mut engine, other] = engines;
        engine.merge(other);
        let mut counted = [engine.clustering(), engine.clustering()];
        batches.iter().enumerate().for_each(|(index, number)| counted[index % 2].batch(columns(*number)));
        let [mut clustering, other] = counted;
        clustering.merge(other);
        engine.finish_with(clustering).summaries.remove(0)
    }

    #[test]
    fn the_order_in_which_samples_are_read_changes_nothing() {
        for n in [3000, 40_000] {
            let samples = storms(n, 1);
            let batches = n.div_ceil(256);
            let forward = summary(&samples, |number| number, Precision::Exact);
            let backward = summary(&samples, |number| batches - 1 - number, Precision::Exact);
            assert_eq!(forward.durations, backward.durations);
        }
    }

    #[test]
    fn many_attempts_are_worth_about_as_much_counted_as_listed() {
        let samples = storms(16_000, 2);
        let histogram = {
            let mut histogram = Histogram::default();
            samples.1.iter().for_each(|duration| {
                histogram.record(*duration as u64);
            });
            histogram
        };
        let threshold = Nanoseconds::from_milliseconds(20);
        let mut counted = Counted::new(&histogram, (0, *samples.0.last().expect("many")), &[threshold]);
        for (start, duration) in samples.0.iter().zip(&samples.1) {
            let duration = Nanoseconds(*duration as u64);
            counted.add(&Reading { start_ns: Some(*start), duration, has_ended: true });
        }
        let list = samples.0.iter().zip(&samples.1).map(|(start, duration)| (*start, *duration as u64, true));
        let listed = worth_of_list(list.collect(), &[threshold]);
        let counted = counted.worth();
        let alike = |counted: f64, listed: f64| {
            assert!((0.5..2.0).contains(&(counted / listed)), "{counted} and {listed}");
        };
        alike(counted.sample_size.effective, listed.sample_size.effective);
        alike(counted.thresholds[0].effective, listed.thresholds[0].effective);
        for (counted, listed) in counted.quantiles.iter().zip(&listed.quantiles) {
            alike(counted.beyond.effective, listed.beyond.effective);
            alike(counted.effective_of_lower_end, listed.effective_of_lower_end);
        }
    }

    #[test]
    fn two_storms_are_too_few_for_a_p99_and_say_so() {
        let (start, mut duration) = storms(1000, 3);
        duration.iter_mut().enumerate().for_each(|(at, ns)| {
            let is_storm = (200..230).contains(&at) || (700..730).contains(&at);
            *ns = if is_storm { 50_000_000 } else { 1_000_000 + at as i64 * 7919 % 1000 };
        });
        let found = summary(&(start, duration), |number| number, Precision::Exact).durations.p99.value;
        assert_eq!(found, crate::QuantileValue::FewStretches { stretches: 2 });
    }

    #[test]
    fn a_run_that_ends_within_a_storm_has_no_p95_and_one_that_begins_cold_has() {
        let told = |slow: &[std::ops::Range<usize>]| {
            let (start, mut duration) = storms(1000, 3);
            duration.iter_mut().enumerate().for_each(|(at, ns)| {
                let is_slow = slow.iter().any(|slow| slow.contains(&at));
                *ns = if is_slow { 50_000_000 } else { 1_000_000 + at as i64 * 7919 % 1000 };
            });
            let summary = summary(&(start, duration), |number| number, Precision::Exact);
            (summary.durations.p95.value, crate::finding::footnotes([&summary].into_iter(), 0.0).concat())
        };
        let (p95, note) = told(std::slice::from_ref(&(996..1000)));
        assert_eq!(p95, crate::QuantileValue::FewStretches { stretches: 1 });
        assert_eq!(note, "The slowest of `stat` lie in a single stretch of time: too few for a p95.");
        for slow in [0..5, 500..505] {
            assert!(
                matches!(told(std::slice::from_ref(&slow)).0, crate::QuantileValue::Exactly(_)),
                "{slow:?}"
            );
        }
        let (_, note) = told(&[200..230, 700..730]);
        assert_eq!(note, "The slowest 5 % of `stat` lie in 2 stretches of time: too few for a p95.");
    }
}
