//! How much the attempts of a run depend on each other: a second reading of its samples, by the moments of their starts.
//!
//! ```text
//! Engine::batch (all samples) -> Engine::clustering -> Clustering::batch (the same again) -> Engine::finish_with
//! ```
//!
//! The summary of a run merges and knows no order. What its attempts are worth does: whether the slowest 5 % came in one storm
//! is seen only in time. Once it is known between which moments a group lies and where its quantiles are, the samples are read again: up to
//! [`LISTED_MOST`] attempts are listed and put in order; more are counted in equal stretches of time, by how many exceed each
//! quantile and threshold, and neighbours joined until each has its share of the attempts: who waits starts few. Both merge in any order, so threads and clients may be read as they come.
//!
//! Limits: quantiles of groups that are counted are found to the 0.8 % of the histogram.

use iolag_model::{Nanoseconds, SampleColumns};

use super::counted::Counted;
use super::listed::worth_of_list;
use super::reading::Reading;
use super::worth::GroupWorth;
use crate::run::grouping::{Grouping, NO_GROUP, ROWS_AT_ONCE};
use crate::statistics::quantile::histogram::Histogram;

/// Attempts of a group that are listed.
const LISTED_MOST: u64 = 16_384;

/// What a second reading counts.
#[derive(Debug, Clone)]
pub struct Clustering {
    grouping: Grouping,
    places: Vec<u32>,
    groups: Vec<GroupClustering>,
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use iolag_model::Operation;

    use super::*;
    use crate::run::engine::Engine;
    use crate::run::summary::{Precision, Summary};
    use iolag_model::Random;

    /// Starts and durations: 1 ms, and 50 ms in storms of 30 that come now and then.
    fn storms(n: usize, seed: u64) -> (Vec<i64>, Vec<i64>) {
        let mut noise = Random::new(seed);
        let (mut now, mut left) = (0, 0_u32);
        (0..n)
            .map(|_| {
                left = if left == 0 && noise.unit() < 1.0 / 970.0 { 30 } else { left.saturating_sub(1) };
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
            (
                summary.durations.p95.value,
                crate::run::any_workload::footnotes([&summary].into_iter(), 0.0).concat(),
            )
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
