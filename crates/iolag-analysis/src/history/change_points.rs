//! When did a series change for good?
//!
//! E-divisive (Matteson and James 2014) on logarithms of durations, in a hierarchical form that a year of samples passes through in a
//! second: the best split of a segment by energy distance (see [`super::energy`]), over windows of several scales so that a change that is undone later
//! is seen too; its significance by block permutation of the segment (fixed seed, so the same history gives the same answer); then
//! both parts again. What had not ended counts as the longest duration there is, what was below the resolution as half of it.
//!
//! Then, as in Hunter (Fleming and others 2023), changes must stand: between their neighbours' segments they must differ by
//! rank (Mann and Whitney, with effective sample sizes) and by at least 10 % in the median, or in a quartile or the p90 of clearly shifted
//! values. A segment shorter than a day, or than one value in fifty, is an episode and not a level: a hang or a spike makes no change.
//!
//! Limits: a segment is not split if it has fewer than twelve blocks of twice its correlation time, for then a storm cannot be told from a
//! change; load that wanders slowly under quick noise hides its correlation time in short records and looks like changes there
//! (docs/statistics.md has the rates); the first and last day, or fiftieth, of a series are too short to be levels of their own.

use iolag_model::WallTime;
use serde::{Deserialize, Serialize};

use super::energy::{Cells, Split, Window, windows_over};
use super::levels::{LevelRatio, Levels, RankComparison};
use super::observed::{Knowledge, TimedValues};
use super::permutation::{BLOCKS_LEAST, block_length, correlation_time, shuffle};
use crate::synthetic::Noise;

const PERMUTATIONS: usize = 999;

/// Blocks in the shortest window.
const WINDOW_BLOCKS_LEAST: usize = 24;

/// Values of a segment whose halves are asked if the whole says nothing.
const HALVED_LEAST: usize = 192;

/// Cells for the statistic.
const CELLS: usize = 32;

/// How changes are judged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangeOptions {
    /// Greatest p of a change.
    pub significance: f64,
    /// Fewest values of a segment, at least 5.
    pub segment_values_min: usize,
    /// Smallest change of a quantile that is reported: 0.1 is 10 %.
    pub magnitude_min: f64,
    /// Seed of the permutations.
    pub seed: u64,
}

impl Default for ChangeOptions {
    fn default() -> Self {
        Self { significance: 0.01, segment_values_min: 5, magnitude_min: 0.1, seed: 2008 }
    }
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// The last value before it was taken then.
    pub last_before: WallTime,
    /// The first value after it was taken then: it happened between the two.
    pub first_after: WallTime,
    /// Place of that value.
    pub place: usize,
    /// Values in the segment before.
    pub count_before: u64,
    /// Values in the segment after.
    pub count_after: u64,
    /// Median before.
    pub median_before: f64,
    /// How much is known of it.
    pub median_before_is: Knowledge,
    /// Median after.
    pub median_after: f64,
    /// How much is known of it.
    pub median_after_is: Knowledge,
    /// Median after by median before.
    pub ratio: LevelRatio,
    /// Probability that a value after is greater than one before, ties counting half.
    pub greater_after: f64,
    /// Probability of such a split if there was no change.
    pub p: f64,
}

/// A segment between changes: places from `first` up to, not including, `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// First place.
    pub first: usize,
    /// Place after the last.
    pub end: usize,
}

/// Changes in the order of time; none where values have no logarithm.
pub fn find_changes(values: &TimedValues, options: &ChangeOptions) -> Vec<ChangePoint> {
    let Some(search) = Search::of(values, options) else { return Vec::new() };
    let mut found = search.split_all();
    search.place_again(&mut found);
    search.keep_what_stands(&mut found);
    let bounds = search.bounds(&found);
    found
        .iter()
        .enumerate()
        .map(|(index, change)| search.describe(change, &bounds[index..index + 3]))
        .collect()
}

/// The segments that these changes make of `count` values.
pub fn segments_of(changes: &[ChangePoint], count: usize) -> Vec<Segment> {
    let starts = std::iter::once(0).chain(changes.iter().map(|change| change.place));
    let ends = changes.iter().map(|change| change.place).chain(std::iter::once(count));
    starts.zip(ends).map(|(first, end)| Segment { first, end }).collect()
}

#[derive(Debug, Clone, Copy)]
struct Found {
    place: usize,
    p: f64,
}

struct Search<'a> {
    values: &'a TimedValues,
    options: &'a ChangeOptions,
    ordered: Vec<f64>,
    logarithms: Vec<f64>,
    cells: Cells,
    least: usize,
    per_day: f64,
}

impl<'a> Search<'a> {
    fn of(values: &'a TimedValues, options: &'a ChangeOptions) -> Option<Self> {
        let mut logarithms = values.logarithms()?;
        let greatest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (logarithm, knowledge) in logarithms.iter_mut().zip(values.knowledge()) {
            if *knowledge == Knowledge::AtLeast {
                *logarithm = greatest;
            }
        }
        let days = values.covered().as_seconds() / 86_400.0;
        let per_day = if days > 0.0 { values.len() as f64 / days } else { 0.0 };
        let cells = Cells::of(&logarithms, CELLS);
        let least = options.segment_values_min.max(5);
        Some(Self { values, options, ordered: values.ordered(), logarithms, cells, least, per_day })
    }

    /// A segment that is not longer than this is an episode.
    fn episode_values_max(&self) -> usize {
        let fiftieth = self.values.len() / 50;
        let day = if self.per_day >= 1.0 { self.per_day.ceil() as usize } else { fiftieth };
        fiftieth.min(day).max(self.least - 1)
    }

    fn split_all(&self) -> Vec<Found> {
        let mut found = Vec::new();
        let mut waiting = vec![(0, self.values.len())];
        while let Some((first, end)) = waiting.pop() {
            if let Some(change) = self.split_of(first, end) {
                waiting.push((first, change.place));
                waiting.push((change.place, end));
                found.push(change);
            }
        }
        found.sort_unstable_by_key(|change| change.place);
        found
    }

    /// A significant split of a segment, or else of one of its three overlapping halves: several changes in one
    /// segment hide each other, since its blocks differ in whichever order they stand. Halves are asked at a tenth of the significance: there
    /// are three of them, and a short stretch shows less of its correlation time than it has.
    fn split_of(&self, first: usize, end: usize) -> Option<Found> {
        let whole = self.significant_split(first, end, self.options.significance);
        let n = end - first;
        if whole.is_some() || n < HALVED_LEAST {
            return whole;
        }
        let halves = (0..3).map(|quarter| (first + quarter * n / 4, first + (quarter + 2) * n / 4));
        let found = halves
            .filter_map(|(first, end)| self.significant_split(first, end, self.options.significance / 10.0));
        found.min_by(|one, other| one.p.total_cmp(&other.p)).map(|found| Found { p: 3.0 * found.p, ..found })
    }

    fn significant_split(&self, first: usize, end: usize, significance: f64) -> Option<Found> {
        let n = end - first;
        if n < (2 * self.least).max(BLOCKS_LEAST) {
            return None;
        }
        let (window, split) = self.best_split(first, end, block_length(n, 1.0, self.per_day))?;
        let time = self.correlation_time_around([first, window.0, split.at, window.1, end]);
        if 2.0 * time * BLOCKS_LEAST as f64 > n as f64 && time > 1.0 {
            return None;
        }
        let block = block_length(n, time, self.per_day);
        let (_, split) = self.best_split(first, end, block)?;
        let p = self.significance(first, end, block, significance)?;
        Some(Found { place: split.at, p })
    }

    /// The best split of values within any window over blocks of this length.
    fn best_split(&self, first: usize, end: usize, block: usize) -> Option<(Window, Split)> {
        let blocks = ((end - first) / block).max(1);
        let windows = windows_over(blocks, WINDOW_BLOCKS_LEAST)
            .into_iter()
            .map(|(from, to)| (first + from * block, if to == blocks { end } else { first + to * block }));
        let splits = windows
            .filter_map(|window| Some((window, self.cells.best_split(window.0, window.1, self.least)?)));
        splits.max_by(|one, other| one.1.statistic.total_cmp(&other.1.statistic))
    }

    /// Correlation time of what is left of a segment when its levels are taken away: before and after the split, and outside the
    /// window that holds it. The whole segment is looked at, since short windows show too little correlation, and the best of many least.
    fn correlation_time_around(&self, bounds: [usize; 5]) -> f64 {
        let mut residuals = Vec::with_capacity(bounds[4] - bounds[0]);
        for pair in bounds.windows(2).filter(|pair| pair[0] < pair[1]) {
            let part = &self.logarithms[pair[0]..pair[1]];
            let mut sorted = part.to_vec();
            let middle = sorted.len() / 2;
            let level = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
            residuals.extend(part.iter().map(|logarithm| logarithm - level));
        }
        correlation_time(&residuals)
    }

    /// p of the best split between blocks; `None` as soon as it is certain to be too great.
    fn significance(&self, first: usize, end: usize, block: usize, most: f64) -> Option<f64> {
        let blocks = self.cells.blocks(first, end, block);
        let windows = windows_over(blocks.len(), WINDOW_BLOCKS_LEAST);
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        let observed = blocks.greatest(&order, &windows, self.least as f64) * (1.0 - 1e-12);
        let mut noise = Noise::new(self.options.seed ^ (first as u64) << 32 ^ end as u64);
        let mut exceeding = 0;
        for _ in 0..PERMUTATIONS {
            shuffle(&mut order, &mut noise);
            exceeding += usize::from(blocks.greatest(&order, &windows, self.least as f64) >= observed);
            if p_of(exceeding) > most {
                return None;
            }
        }
        Some(p_of(exceeding))
    }

    /// Each change once more, now that its neighbours are known.
    fn place_again(&self, found: &mut [Found]) {
        for index in 0..found.len() {
            let bounds = self.bounds(found);
            if let Some(split) = self.cells.best_split(bounds[index], bounds[index + 2], self.least) {
                found[index].place = split.at;
            }
        }
    }

    /// Starts of the segments, and the end.
    fn bounds(&self, found: &[Found]) -> Vec<usize> {
        let places = found.iter().map(|change| change.place);
        std::iter::once(0).chain(places).chain(std::iter::once(self.values.len())).collect()
    }

    fn keep_what_stands(&self, found: &mut Vec<Found>) {
        while let Some(index) = self.first_episode(found).or_else(|| self.weakest(found)) {
            found.remove(index);
            self.place_again(found);
        }
    }

    /// A side of the shortest segment that is too short for a level: the one where the difference is smaller.
    fn first_episode(&self, found: &[Found]) -> Option<usize> {
        let bounds = self.bounds(found);
        let lengths = bounds.windows(2).enumerate().map(|(segment, pair)| (pair[1] - pair[0], segment));
        let (length, segment) = lengths.min()?;
        if found.is_empty() || length > self.episode_values_max() {
            return None;
        }
        let apart = |index: usize| self.compare(&bounds[index..index + 3]).apart();
        Some(match segment {
            0 => 0,
            last if last == found.len() => last - 1,
            middle if apart(middle - 1) < apart(middle) => middle - 1,
            middle => middle,
        })
    }

    /// The change with the smallest difference among those that do not stand.
    fn weakest(&self, found: &[Found]) -> Option<usize> {
        let bounds = self.bounds(found);
        let fallen = (0..found.len()).filter_map(|index| {
            let around = &bounds[index..index + 3];
            let comparison = self.compare(around);
            let stands =
                comparison.p <= self.options.significance && self.is_great_enough(around, &comparison);
            (!stands).then(|| (index, comparison.apart()))
        });
        fallen.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(index, _)| index)
    }

    fn compare(&self, around: &[usize]) -> RankComparison {
        RankComparison::of(&self.ordered[around[0]..around[1]], &self.ordered[around[1]..around[2]])
    }

    fn is_great_enough(&self, around: &[usize], comparison: &RankComparison) -> bool {
        let limit = (1.0 + self.options.magnitude_min).ln();
        let (before, after) = self.levels(around);
        let changed = |share: f64| {
            let (before, after) = (before.quantile_logarithm(share), after.quantile_logarithm(share));
            (after - before).abs() >= limit
        };
        changed(0.5) || comparison.apart() >= 0.1 && [0.25, 0.75, 0.9].into_iter().any(changed)
    }

    fn levels(&self, around: &[usize]) -> (Levels, Levels) {
        let of = |first: usize, end: usize| Levels::of(&self.values.part(first, end));
        (of(around[0], around[1]), of(around[1], around[2]))
    }

    fn describe(&self, change: &Found, around: &[usize]) -> ChangePoint {
        let (before, after) = self.levels(around);
        let moments = self.values.moments();
        ChangePoint {
            last_before: moments[change.place - 1],
            first_after: moments[change.place],
            place: change.place,
            count_before: (around[1] - around[0]) as u64,
            count_after: (around[2] - around[1]) as u64,
            median_before: before.median().0,
            median_before_is: before.median().1,
            median_after: after.median().0,
            median_after_is: after.median().1,
            ratio: LevelRatio::between(&before, &after),
            greater_after: self.compare(around).greater_after,
            p: change.p,
        }
    }
}

fn p_of(exceeding: usize) -> f64 {
    (exceeding + 1) as f64 / (PERMUTATIONS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(logarithms: &[f64]) -> TimedValues {
        let moments: Vec<WallTime> =
            (0..logarithms.len()).map(|slot| WallTime::from_seconds(slot as i64 * 900)).collect();
        let values: Vec<f64> = logarithms.iter().map(|value| value.exp()).collect();
        TimedValues::known(&moments, &values)
    }

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut noise = Noise::new(seed);
        (0..n).map(|_| 0.5 * noise.normal()).collect()
    }

    fn found(logarithms: &[f64]) -> Vec<ChangePoint> {
        find_changes(&series(logarithms), &ChangeOptions::default())
    }

    #[test]
    fn a_doubling_with_two_days_on_each_side_is_found() {
        let mut values = noise(96, 1);
        values[48..].iter_mut().for_each(|value| *value += 2.0_f64.ln());
        let changes = found(&values);
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!(changes[0].place.abs_diff(48) <= 4 && changes[0].first_after > changes[0].last_before);
        let ratio = changes[0].ratio;
        assert!(
            ratio.low.unwrap() < 2.0 && ratio.high.unwrap() > 2.0 && changes[0].greater_after > 0.7,
            "{ratio:?}"
        );
    }

    #[test]
    fn a_spike_a_hang_and_nothing_at_all_are_no_changes() {
        assert!(found(&noise(2000, 2)).is_empty());
        let mut spike = noise(2000, 3);
        spike[900] += 9.0;
        assert!(found(&spike).is_empty());
        let mut hang = noise(2000, 4);
        hang[900..908].iter_mut().for_each(|value| *value += 9.0);
        assert!(found(&hang).is_empty());
        assert!(found(&[]).is_empty() && found(&[0.0; 300]).is_empty());
    }

    #[test]
    fn a_slow_fortnight_in_a_year_is_two_changes() {
        let mut values = noise(96 * 365, 5);
        values[10_000..10_000 + 96 * 14].iter_mut().for_each(|value| *value += 2.0_f64.ln());
        let changes = found(&values);
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert!(changes[0].place.abs_diff(10_000) < 10 && changes[1].place.abs_diff(11_344) < 10);
        assert!(changes[0].greater_after > 0.5 && changes[1].greater_after < 0.5);
    }

    #[test]
    fn a_small_change_is_not_worth_reporting() {
        let mut values = noise(4000, 6);
        values.iter_mut().for_each(|value| *value *= 0.1);
        values[2000..].iter_mut().for_each(|value| *value += 0.05);
        assert!(found(&values).is_empty());
        values[2000..].iter_mut().for_each(|value| *value += 0.10);
        assert_eq!(found(&values).len(), 1);
    }

    #[test]
    fn segments_cover_everything() {
        let mut values = noise(600, 7);
        values[300..].iter_mut().for_each(|value| *value += 2.0);
        let changes = found(&values);
        let segments = segments_of(&changes, 600);
        assert_eq!((segments[0].first, segments[segments.len() - 1].end), (0, 600));
        assert!(segments.windows(2).all(|pair| pair[0].end == pair[1].first));
    }
}
