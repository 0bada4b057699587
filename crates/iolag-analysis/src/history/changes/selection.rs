//! Which of the places at which a level may begin are told, and as what.
//!
//! What comes back within a day, or lasts no longer than a fiftieth of the record, is an episode; a level at an end of the record must have lasted for a while; a
//! change must be great enough and known in its direction. Levels are what lies between changes, without what changed little by little.

use super::change_point::{ChangePoint, ChangeShape, ChangeStrength, NotTold, Segment};
use super::levels::{LevelRatio, Levels, apart_by_chance, share_greater};
use super::options::ChangeOptions;
use super::record::{Bound, Found, Record, SmoothKind};
use crate::history::series::clock_steps::coarse_step;
use crate::history::series::timed_values::TimedValues;

/// Values that a level at an end of the record must have, unless it is short: there a sixth.
const END_VALUES_LEAST: usize = 27;
/// Days below which a level at an end must last a day.
const END_DAYS_SHORT: f64 = 10.0;

/// How great changes are that stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Magnitude {
    Any,
    Told,
}

/// A record whose changes are told.
pub(crate) struct Telling<'a> {
    values: &'a TimedValues,
    record: Record,
    options: &'a ChangeOptions,
    /// Places of what came back.
    episodes: Vec<Segment>,
}

impl<'a> Telling<'a> {
    pub(crate) const fn of(values: &'a TimedValues, record: Record, options: &'a ChangeOptions) -> Self {
        Self { values, record, options, episodes: Vec::new() }
    }

    /// A segment that is not longer than this is an episode.
    fn episode_values_max(&self) -> usize {
        let fiftieth = self.values.len() / 50;
        let per_day = self.record.per_day();
        let day = if per_day >= 1.0 { per_day.ceil() as usize } else { fiftieth };
        fiftieth.min(day).max(self.options.segment_values_min.max(5) - 1)
    }

    /// Values that a level at an end of the record must have.
    fn end_values_least(&self) -> usize {
        // In a short record, a bad day at its end is more likely than a new level.
        let day = self.record.per_day();
        let is_short_record = (self.values.len() as f64) < END_DAYS_SHORT * day;
        let least = if is_short_record { END_VALUES_LEAST.max(day as usize) } else { END_VALUES_LEAST };
        least.min(self.values.len() / 6).max(self.episode_values_max() + 1)
    }

    /// A ramp that the record begins or ends with is all that is known of the level before, or after.
    pub(crate) fn with_ends(&self, mut bounds: Vec<Bound>) -> Vec<Bound> {
        let least = self.end_values_least();
        if let Some(first) =
            bounds.first_mut().filter(|first| first.begin < least && first.begin < first.place)
        {
            first.begin = 0;
        }
        if let Some(last) = bounds.last_mut().filter(|last| self.values.len() - last.place < least) {
            last.place = last.begin;
        }
        bounds
    }

    /// The bounds without those of episodes and of changes that are too small.
    pub(crate) fn what_stands(&mut self, mut bounds: Vec<Bound>, magnitude: Magnitude) -> Vec<Bound> {
        let too_small = |telling: &Self, levels: &[Segment]| match magnitude {
            Magnitude::Any => None,
            Magnitude::Told => telling.first_too_small(levels),
        };
        loop {
            let levels = self.levels(&bounds);
            if let Some(index) = self.first_that_comes_back(&levels) {
                self.episodes.push(levels[index]);
                bounds.drain(index - 1..=index);
            } else if let Some(index) = self.first_too_short(&levels).or_else(|| too_small(self, &levels)) {
                bounds.remove(index);
            } else {
                return bounds;
            }
        }
    }

    /// The levels, without what lies between two of them unless that is all there is of the one before.
    fn levels(&self, bounds: &[Bound]) -> Vec<Segment> {
        let firsts = std::iter::once(0).chain(bounds.iter().map(|bound| bound.place));
        let ends = bounds.iter().map(|bound| (bound.begin, bound.place));
        let level =
            |(first, (begin, place))| Segment { first, end: if begin > first { begin } else { place } };
        firsts.zip(ends.chain([(self.values.len(), self.values.len())])).map(level).collect()
    }

    fn score(&self, level: Segment) -> f64 {
        self.record.level(level.first, level.end)
    }

    /// The shortest inner level that lasts at most a day and after which the level is the one before, or nearly so.
    fn first_that_comes_back(&self, levels: &[Segment]) -> Option<usize> {
        let day = (self.record.per_day().ceil() as usize).max(self.episode_values_max());
        let comes_back = |index: &usize| {
            let [before, here, after] = [index - 1, *index, index + 1].map(|index| self.score(levels[index]));
            let least = (here - before).abs().min((here - after).abs());
            levels[*index].length() <= day && (after - before).abs() <= least / 2.0
        };
        let inner = 1..levels.len().saturating_sub(1);
        inner.filter(comes_back).min_by_key(|index| levels[*index].length())
    }

    /// A side of the shortest level that is too short for one: where the difference is smaller.
    fn first_too_short(&mut self, levels: &[Segment]) -> Option<usize> {
        let last = levels.len() - 1;
        let at_an_end = self.end_values_least();
        let is_short = |index: &usize| {
            let length = levels[*index].length();
            let is_at_an_end = *index == 0 || *index == last;
            length <= self.episode_values_max() || is_at_an_end && length < at_an_end
        };
        let short = (0..=last).filter(|_| last > 0).filter(is_short);
        let index = short.min_by_key(|index| levels[*index].length())?;
        let apart = |index: usize| (self.score(levels[index]) - self.score(levels[index + 1])).abs();
        let side = match index {
            0 => 0,
            inner if inner == last => last - 1,
            inner if apart(inner - 1) < apart(inner) => inner - 1,
            inner => inner,
        };
        self.episodes.push(levels[index]);
        Some(side)
    }

    pub(crate) fn first_too_small(&self, levels: &[Segment]) -> Option<usize> {
        levels.windows(2).position(|around| !self.is_great_enough(around))
    }

    fn is_great_enough(&self, around: &[Segment]) -> bool {
        let limit = (1.0 + self.options.magnitude_min).ln();
        let (before, after) = self.amounts(around);
        let apart = (self.greater_after(around) - 0.5).abs();
        // By a coarse clock, two levels may be apart that are one and the same.
        let least = before.median().0.min(after.median().0);
        let is_apart = coarse_step(self.values.step_seconds(), least) == 0.0
            && apart >= apart_by_chance([before.effective(), after.effective()]);
        // Where nothing is known of the median's factor, the search has told all the same that it changed; what else changed must be known.
        let changed = |share: f64, unless_known: bool| {
            let (old, new) = (before.quantile_logarithm(share), after.quantile_logarithm(share));
            let interval = || LevelRatio::at(share, &before, &after).excludes_none();
            (new - old).abs() >= limit && (is_apart || interval().unwrap_or(unless_known))
        };
        changed(0.5, true) || apart >= 0.1 && [0.25, 0.75, 0.9].into_iter().any(|share| changed(share, false))
    }

    fn greater_after(&self, around: &[Segment]) -> f64 {
        let [before, after] = [0, 1].map(|side| self.values.part(around[side].first, around[side].end));
        share_greater(&before.ordered(), &after.ordered())
    }

    fn amounts(&self, around: &[Segment]) -> (Levels, Levels) {
        let of = |level: Segment| Levels::of(&self.values.part(level.first, level.end));
        (of(around[0]), of(around[1]))
    }

    pub(crate) fn describe(&self, bounds: &[Bound], index: usize) -> ChangePoint {
        let (bound, levels) = (&bounds[index], self.levels(bounds));
        let around = &levels[index..index + 2];
        let (before, after) = self.amounts(around);
        let moments = self.values.moments();
        ChangePoint {
            last_before: moments[bound.place - 1],
            first_after: moments[bound.place],
            began: (bound.shape == ChangeShape::Ramp).then(|| moments[bound.begin]),
            place: bound.place,
            count_before: around[0].length() as u64,
            count_after: around[1].length() as u64,
            median_before: before.median().0,
            median_before_is: before.median().1,
            median_after: after.median().0,
            median_after_is: after.median().1,
            p95_after: after.quantile_logarithm(0.95).exp(),
            ratio: LevelRatio::between(&before, &after),
            greater_after: self.greater_after(around),
            p: bound.p,
            shape: bound.shape,
            strength: ChangeStrength::of(before.effective().min(after.effective())),
        }
    }

    pub(crate) fn not_told(&self, found: &Found) -> Vec<NotTold> {
        let without_time = |shape: ChangeShape| NotTold { shape, begin: None, end: None };
        let refused = found.refused_for.iter().filter_map(|kind| match kind {
            SmoothKind::Line => None,
            SmoothKind::TimeOfDay => Some(without_time(ChangeShape::TimeOfDay)),
            SmoothKind::TimeOfWeek => Some(without_time(ChangeShape::TimeOfWeek)),
        });
        let wandering = found.wanders.then(|| without_time(ChangeShape::Wandering));
        let moments = self.values.moments();
        let episodes = self.episodes.iter().map(|episode| NotTold {
            shape: ChangeShape::Episode,
            begin: moments.get(episode.first).copied(),
            end: moments.get(episode.end.saturating_sub(1)).copied(),
        });
        refused.chain(wandering).chain(episodes).collect()
    }
}
