//! How much the attempts of a run depend on each other: a second reading of its samples, by the moments of their starts.
//!
//! ```text
//! Engine::batch (all samples) -> Engine::clustering -> Clustering::batch (the same again) -> Engine::finish_with
//! ```
//!
//! The summary of a run merges and knows no order. What its attempts are worth does: whether the slowest 5 % came in one storm
//! is seen only in time. Once it is known between which moments a group lies and where its quantiles are, the samples are read again: up to
//! [`STRETCHES_MOST`] attempts are listed and put in order; more are counted in [`STRETCHES`] equal stretches of time, by how many exceed each
//! quantile and threshold. Both merge in any order, so threads and clients may be read as they come.
//!
//! Limits: quantiles of groups that are counted are found to the 0.8 % of the histogram.

use iolag_model::{FailureCode, Nanoseconds, Outcome, SampleColumns};

use crate::engine::{Grouping, NO_GROUP, ROWS_AT_ONCE};
use crate::histogram::{Histogram, bucket_of};
use crate::statistics::dependence::{
    EffectiveSampleSize, STRETCHES_MOST, Stretch, Worth, score_sums_of, stretches_of, worth_of_score_sums,
    worth_of_share,
};
use crate::statistics::student::normal_quantile;
use crate::summary::QUANTILES;

/// Stretches of time in which many attempts are counted.
const STRETCHES: usize = 1024;

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
    pub quantiles: [Worth; QUANTILES.len()],
    /// For the share over each threshold.
    pub thresholds: Vec<Worth>,
}

impl GroupWorth {
    /// The same for all.
    pub(crate) fn alike(sample_size: EffectiveSampleSize, thresholds: usize) -> Self {
        let worth = Worth { effective: sample_size.effective, few_stretches: None };
        Self { sample_size, quantiles: [worth; QUANTILES.len()], thresholds: vec![worth; thresholds] }
    }

    /// At one of [`QUANTILES`].
    pub(crate) fn at(&self, q: f64) -> Worth {
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
    /// Absent if it had not ended: longer than anything.
    duration: Option<Nanoseconds>,
}

impl Reading {
    fn of(columns: &SampleColumns<'_>, row: usize) -> Option<Self> {
        let code = u8::try_from(columns.outcome_code[row]).ok()?;
        let outcome = Outcome::try_from(code).ok().filter(|outcome| *outcome != Outcome::Error)?;
        let failure = FailureCode(columns.failure_code.get(row).copied().unwrap_or_default() as u16);
        if outcome.is_censored() && !outcome.is_lower_bound(failure) {
            return None;
        }
        let duration = Nanoseconds(columns.duration_ns[row].max(0) as u64);
        Some(Self {
            start_ns: columns.start_ns.get(row).copied(),
            duration: (!outcome.is_censored()).then_some(duration),
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
    /// Start (or place) and duration of each, the greatest number for what had not ended.
    Listed(Vec<(i64, u64)>),
    Counted(Box<Counted>),
}

#[derive(Debug, Clone)]
struct Counted {
    first_ns: i64,
    length_ns: u64,
    /// Quantiles, then thresholds.
    limits: Vec<Nanoseconds>,
    score_of_bucket: Vec<f32>,
    score_of_censored: f32,
    attempts: Vec<u32>,
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
        let form = if histogram.total() <= STRETCHES_MOST as u64 || end_ns < first_ns {
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
                list.push((at, reading.duration.map_or(u64::MAX, |duration| duration.0)));
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

fn worth_of_list(mut list: Vec<(i64, u64)>, thresholds: &[Nanoseconds]) -> GroupWorth {
    list.sort_unstable();
    let durations: Vec<u64> = list.into_iter().map(|(_, duration)| duration).collect();
    let amounts: Vec<f64> = durations.iter().map(|duration| *duration as f64).collect();
    let (sample_size, memory) = worth_of_score_sums(&score_sums_of(&amounts), amounts.len() as u64);
    let over = |limit: u64| {
        let is_over: Vec<bool> = durations.iter().map(|duration| *duration > limit).collect();
        worth_of_share(&stretches_of(&is_over), memory)
    };
    let mut sorted = durations.clone();
    sorted.sort_unstable();
    let quantile = |q: f64| {
        let rank = (q * sorted.len() as f64 - 1e-9).ceil().max(1.0) as usize;
        sorted.get(rank - 1).map_or(Worth::independent(0), |limit| over(*limit))
    };
    GroupWorth {
        sample_size,
        quantiles: QUANTILES.map(quantile),
        thresholds: thresholds.iter().map(|threshold| over(threshold.0)).collect(),
    }
}

impl Counted {
    fn new(histogram: &Histogram, (first_ns, end_ns): (i64, i64), thresholds: &[Nanoseconds]) -> Self {
        let total = histogram.total() as f64;
        let known = histogram.count();
        // What had not ended lies above everything: no limit is passed by nobody.
        let at = |q: f64| {
            let rank = (q * total - 1e-9).ceil().max(1.0) as u64;
            histogram.value_of_rank(rank.min(known)).unwrap_or_default()
        };
        let limits: Vec<Nanoseconds> =
            QUANTILES.into_iter().map(at).chain(thresholds.iter().copied()).collect();
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
            scores: vec![0; STRETCHES],
        }
    }

    fn add(&mut self, reading: &Reading) {
        let since = reading.start_ns.map_or(0, |start| start.saturating_sub(self.first_ns).max(0) as u64);
        let stretch = ((since / self.length_ns) as usize).min(STRETCHES - 1);
        self.attempts[stretch] += 1;
        let score = match reading.duration {
            Some(duration) => self.score_of_bucket.get(bucket_of(duration.0)).copied().unwrap_or_default(),
            None => self.score_of_censored,
        };
        self.scores[stretch] += (f64::from(score) * SCORE_UNIT) as i64;
        for (limit, over) in self.limits.iter().zip(self.over.chunks_exact_mut(STRETCHES)) {
            over[stretch] += u32::from(reading.duration.is_none_or(|duration| duration > *limit));
        }
    }

    fn merge(&mut self, other: &Self) {
        let add = |mine: &mut [u32], theirs: &[u32]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.attempts, &other.attempts);
        add(&mut self.over, &other.over);
        self.scores.iter_mut().zip(&other.scores).for_each(|(mine, theirs)| *mine += theirs);
    }

    fn worth(&self) -> GroupWorth {
        let attempts: u64 = self.attempts.iter().map(|count| u64::from(*count)).sum();
        let total: i64 = self.scores.iter().sum();
        let mean = total as f64 / SCORE_UNIT / attempts.max(1) as f64;
        let sum = |(score, count): (&i64, &u32)| *score as f64 / SCORE_UNIT - mean * f64::from(*count);
        let sums: Vec<f64> = self.scores.iter().zip(&self.attempts).map(sum).collect();
        let (sample_size, memory) = worth_of_score_sums(&sums, attempts);
        let stretch = |(attempts, over): (&u32, &u32)| Stretch { attempts: *attempts, over: *over };
        let mut worths = self.over.chunks_exact(STRETCHES).map(|over| {
            let stretches: Vec<Stretch> = self.attempts.iter().zip(over).map(stretch).collect();
            worth_of_share(&stretches, memory)
        });
        GroupWorth {
            sample_size,
            quantiles: QUANTILES.map(|_| worths.next().unwrap_or(Worth::independent(attempts))),
            thresholds: worths.collect(),
        }
    }
}
