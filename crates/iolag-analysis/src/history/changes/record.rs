//! A series as the search for changes sees it: robust scores without the daily rhythm, in blocks, beside what else may explain it.
//!
//! Scores are normal deviates of ranks (Blom 1958) and logarithms by their robust deviation, cut off at three: neither one stall nor the unknown length of what
//! had not ended decides. A change must show in both: ranks make jumps of load that wanders, sizes make steps of storms and modes; sizes alone are enough where
//! one place parts nearly all values. From four days on the rhythm of
//! the hours is removed ([`Rhythm`]); before, the hours are an explanation that a change is held against, and so are the week, up to eight weeks, and a
//! straight line. Amplitudes that differ from day to day are left out as frequencies near one and two cycles a day.

use std::f64::consts::TAU;

use statrs::function::erf::erfc_inv;

use super::change_point::ChangeShape;
use crate::history::calendar::local_time::LocalTime;
use crate::history::series::timed_values::TimedValues;
use crate::statistics::change::jumps::{Level, least_apart};
use crate::statistics::change::likelihood_ratio::{Explained, Explanation, Judging, Smooth, explain};
use crate::statistics::change::matched_filter::Term;
use crate::statistics::knowledge::Knowledge;
use crate::statistics::ranking::{ascending, scores_in};
use crate::statistics::rhythm::profile::{DAY_SECONDS, DAYS_LEAST, Rhythm, is_weekend};

/// Greatest number of blocks.
const BLOCKS_MOST: usize = 2000;

/// Share of the record within which both kinds of scores must have a change.
const NEAR_SHARE: usize = 25;

/// Of what part of the record either side must be where sizes alone tell a change.
const PARTED_SHARE: usize = 10;
/// What part of either may lie nearer to the level of the other.
const STRAYS_SHARE: usize = 20;
/// By how much less chance their bound must have.
const PARTING_DOUBT: f64 = 1000.0;

/// How far from the median a value counts, in deviations.
const SCORE_MOST: f64 = 3.0;

/// Least deviation of logarithms that is one.
const SCALE_LEAST: f64 = 1e-6;

/// Days from which on the rhythm has the days of the week in it.
const WEEKS_KNOWN_FROM_DAYS: f64 = 56.0;

/// By how much more certain a change must be where no day can be held against another.
const SHORT_FACTOR: f64 = 30.0;

/// The same of chance in all the noise, change and all.
const SHORT_FACTOR_IN_ALL: f64 = 5.0;
/// Days below which load that lasts for half a day may be all that a level is, so that chance is judged in all the noise as well, and a straight line a part
/// of the week.
const SLOW_LOAD_DAYS: f64 = 8.0;

/// Days below which three draws, of 99, have to be as great to say more than the tail of all of them (three have a probability of 4.6 % where chance is 0.8 %);
/// in longer records, in which less is lost, two do.
const FEW_VALUES_DAYS: f64 = 14.0;

/// By how much more a change must explain than what is smooth, in twice the logarithm of the likelihood: the best of all places does so by 5 on average
/// where all is smooth, with a standard deviation of 4.
const MARGIN: f64 = 11.0;
/// The same for the week: a weekend's begin or end may be some hours away, and its columns cost.
const WEEK_MARGIN: f64 = MARGIN + 4.0;
/// The same for a line or a part of the week in less than four days, of which nothing else would be told.
const SHORT_MARGIN: f64 = 3.0;

/// Days below which the time of the day has no frequencies of its own.
const DAYS_LEAST_TO_LEAVE_OUT: f64 = 1.5;

/// What may explain a series without any change of level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SmoothKind {
    Line,
    TimeOfDay,
    TimeOfWeek,
}

/// A place at which a level may begin, with the probability of so great a change by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bound {
    /// The first value of the level.
    pub(crate) place: usize,
    /// The first that is no longer of the level before: the same place, unless the change took its time.
    pub(crate) begin: usize,
    pub(crate) shape: ChangeShape,
    pub(crate) p: f64,
}

impl Bound {
    const fn step(place: usize, p: f64) -> Self {
        Self { place, begin: place, shape: ChangeShape::Step, p }
    }

    const fn middle(&self) -> usize {
        self.begin.midpoint(self.place)
    }
}

/// What was found in a record.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Ends of levels, in order.
    pub(crate) bounds: Vec<Bound>,
    /// What explained as much as a change.
    pub(crate) refused_for: Vec<SmoothKind>,
    /// Whether a change was left that load which wanders, or jumps to and fro, explains as well.
    pub(crate) wanders: bool,
    /// Probability of so straight a drift by chance.
    pub(crate) p_of_line: f64,
}

/// A series in robust scores.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// Robust deviations.
    scores: Vec<f64>,
    /// Normal deviates of the ranks.
    rank_scores: Vec<f64>,
    local_seconds: Vec<f64>,
    days: f64,
    block: usize,
}

impl Record {
    /// `None` if a value has no logarithm, or there are none.
    pub(crate) fn of(values: &TimedValues, local_time: &LocalTime) -> Option<Self> {
        let mut logarithms = values.logarithms()?;
        let greatest = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (logarithm, knowledge) in logarithms.iter_mut().zip(values.knowledge()) {
            if *knowledge == Knowledge::AtLeast {
                *logarithm = greatest;
            }
        }
        let local_seconds: Vec<f64> =
            values.moments().iter().map(|moment| local_time.local_seconds(*moment)).collect();
        let days = (local_seconds.last()? - local_seconds.first()?) / DAY_SECONDS;
        let without_rhythm =
            |scores: Vec<f64>| Rhythm::of(&local_seconds, &scores).map_or(scores, Rhythm::into_rest);
        let order = ascending(&logarithms);
        let scores = without_rhythm(scores_of(&order, &logarithms));
        let rank_scores = without_rhythm(normal_scores(&order, &logarithms));
        let block = scores.len().div_ceil(BLOCKS_MOST).max(1);
        Some(Self { scores, rank_scores, local_seconds, days, block })
    }

    /// Values of a day; 0 if not known.
    pub(crate) fn per_day(&self) -> f64 {
        if self.days > 0.0 { (self.scores.len() as f64 - 1.0) / self.days } else { 0.0 }
    }

    /// Mean score from place `first` up to, not including, `end`.
    pub(crate) fn level(&self, first: usize, end: usize) -> f64 {
        self.scores[first..end].iter().sum::<f64>() / (end - first).max(1) as f64
    }

    /// Ends of levels, of which chance makes each with this probability at most, and what was no change.
    pub(crate) fn find(&self, significance: f64, seed: u64) -> Option<Found> {
        let (blocks, rank_blocks) = (self.blocks(&self.scores), self.blocks(&self.rank_scores));
        let (kinds, smooth) = self.smooth(blocks.len());
        let is_short = self.days < DAYS_LEAST;
        let factor = if is_short { SHORT_FACTOR } else { 1.0 };
        let significance_in_all = match self.days {
            days if days < DAYS_LEAST => significance / SHORT_FACTOR_IN_ALL,
            days if days < SLOW_LOAD_DAYS => significance,
            _ => 1.0,
        };
        let as_great_most = if self.days < FEW_VALUES_DAYS { 2 } else { 1 };
        let significance = significance / factor;
        let judging = Judging { significance, significance_in_all, as_great_most, seed };
        let left_out = self.left_out(blocks.len());
        let by_ranks = explain(&rank_blocks, &smooth, &left_out, &judging)?;
        let mut bounds = self.bounds(&by_ranks);
        let mut by_size = None;
        let (mut jumps, mut is_parted) = (false, false);
        if !bounds.is_empty() || by_ranks.is_left_to_noise {
            // What parts nearly all values is no slow part of the noise.
            let by_itself = Judging { significance_in_all: 1.0, ..judging };
            by_size = explain(&blocks, &smooth, &left_out, &by_itself);
            let confirmed = by_size.as_ref().map_or_else(Vec::new, |explanation| self.bounds(explanation));
            let reach = (self.scores.len() / NEAR_SHARE).max(5);
            let is_near = |one: &Bound, other: &Bound| {
                one.middle().abs_diff(other.middle()) <= reach.max((one.place - one.begin) / 2)
            };
            bounds.retain(|bound| confirmed.iter().any(|other| is_near(bound, other)));
            if by_ranks.is_left_to_noise && bounds.is_empty() {
                bounds.extend(self.parting(&confirmed, judging.significance));
                is_parted = !bounds.is_empty();
            }
            while let Some(index) = self.lost_among_jumps(&bounds, &confirmed, judging.significance) {
                bounds.remove(index);
                jumps = true;
            }
        }
        let wanders = |one: &Explanation| one.is_left_to_noise;
        // The week is among them with office hours and without.
        let mut refused_for: Vec<SmoothKind> =
            by_ranks.refused_for.iter().map(|index| kinds[*index]).collect();
        refused_for.sort_unstable();
        refused_for.dedup();
        Some(Found {
            bounds,
            refused_for,
            // What the ranks left to the noise may be what the sizes found.
            wanders: jumps || wanders(&by_ranks) && !is_parted || by_size.as_ref().is_some_and(wanders),
            p_of_line: if self.days < SLOW_LOAD_DAYS { 1.0 } else { by_ranks.p_of_first_smooth },
        })
    }

    /// The bound that parts nearly all values before it from those after it. Ranks make no more of such a step than of one half as great, and where
    /// neighbours resemble each other, that may be too little; chance by sizes must be far less then. Load that jumps to and fro is on both sides.
    fn parting(&self, by_size: &[Bound], significance: f64) -> Option<Bound> {
        let strays = |place: usize| {
            let (before, after) = self.scores.split_at(place);
            let (old, new) = (self.level(0, place), self.level(place, self.scores.len()));
            let is_beyond = |score: &&f64| (**score - (old + new) / 2.0) * (new - old) > 0.0;
            let beyond = |side: &[f64]| side.iter().filter(is_beyond).count();
            let strays = [beyond(before), after.len() - beyond(after)];
            let is_parted = before.len().min(after.len()) >= self.scores.len() / PARTED_SHARE
                && strays[0] <= before.len() / STRAYS_SHARE
                && strays[1] <= after.len() / STRAYS_SHARE;
            is_parted.then_some(strays[0] + strays[1])
        };
        let certain = by_size.iter().filter(|bound| bound.p <= significance / PARTING_DOUBT);
        let parting = certain.filter_map(|bound| Some((strays(bound.place)?, *bound)));
        parting.min_by_key(|(strays, _)| *strays).map(|(_, bound)| bound)
    }

    /// The bound that tells least, if the levels that the sizes have jump to and fro so much that it may be one of these jumps.
    fn lost_among_jumps(&self, bounds: &[Bound], by_size: &[Bound], significance: f64) -> Option<usize> {
        let places = by_size.iter().map(Bound::middle);
        let ends: Vec<usize> =
            std::iter::once(0).chain(places).chain(std::iter::once(self.scores.len())).collect();
        let level =
            |ends: &[usize]| Level { length: (ends[1] - ends[0]) as f64, mean: self.level(ends[0], ends[1]) };
        let levels: Vec<Level> = ends.windows(2).map(level).collect();
        let nearest =
            |bound: &Bound| (1..levels.len()).min_by_key(|index| ends[*index].abs_diff(bound.middle()));
        least_apart(&levels, &bounds.iter().filter_map(nearest).collect::<Vec<usize>>(), significance)
    }

    fn blocks(&self, scores: &[f64]) -> Vec<f64> {
        let count = scores.len() / self.block;
        let end = |index: usize| if index + 1 == count { scores.len() } else { (index + 1) * self.block };
        let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len() as f64;
        (0..count).map(|index| mean(&scores[index * self.block..end(index)])).collect()
    }

    fn smooth(&self, count: usize) -> (Vec<SmoothKind>, Vec<Smooth>) {
        let middles: Vec<f64> =
            (0..count).map(|index| self.local_seconds[index * self.block + self.block / 2]).collect();
        let wave = |period: f64, phase: f64| -> Vec<f64> {
            middles.iter().map(|at| (TAU * (at / period + phase)).sin()).collect()
        };
        let waves = |period: f64| [wave(period, 0.0), wave(period, 0.25)];
        let first = middles.first().copied().unwrap_or(0.0);
        let line = middles.iter().map(|at| (at - first) / DAY_SECONDS).collect();
        let is_short = self.days < DAYS_LEAST;
        let margin = if is_short { SHORT_MARGIN } else { MARGIN };
        let mut found = vec![(SmoothKind::Line, Smooth { columns: vec![line], margin })];
        if is_short {
            let columns = [waves(DAY_SECONDS), waves(DAY_SECONDS / 2.0)].concat();
            found.push((SmoothKind::TimeOfDay, Smooth { columns, margin: MARGIN }));
        }
        if self.days < WEEKS_KNOWN_FROM_DAYS {
            let weekend: Vec<f64> =
                middles.iter().map(|at| if is_weekend(*at) { 1.0 } else { 0.0 }).collect();
            let of_weekends = |column: Vec<f64>| -> Vec<f64> {
                column.iter().zip(&weekend).map(|(column, weekend)| column * weekend).collect()
            };
            let hours = [waves(DAY_SECONDS), waves(DAY_SECONDS / 2.0)]
                .concat()
                .into_iter()
                .map(of_weekends)
                .collect();
            let columns = [waves(7.0 * DAY_SECONDS).to_vec(), vec![weekend.clone()]].concat();
            let margin = if is_short { SHORT_MARGIN } else { WEEK_MARGIN };
            // Office hours, of which weekends have none.
            let with_hours = [columns.clone(), hours].concat();
            found.extend(
                [columns, with_hours].map(|columns| (SmoothKind::TimeOfWeek, Smooth { columns, margin })),
            );
        }
        found.into_iter().unzip()
    }

    /// Whether a cosine coefficient is at the frequency of one or two cycles a day, or beside it.
    fn left_out(&self, count: usize) -> impl Fn(usize) -> bool {
        let days = self.days;
        let wide = if days < DAYS_LEAST { 1.0 } else { 2.0 };
        move |j| {
            let near = |cycles: f64, wide: f64| (j as f64 - 2.0 * cycles * days).abs() <= wide + 0.5;
            days >= DAYS_LEAST_TO_LEAVE_OUT && j < count && (near(1.0, wide) || near(2.0, wide - 1.0))
        }
    }

    fn bounds(&self, explanation: &Explanation) -> Vec<Bound> {
        let step = |at: usize, p: f64| Bound::step(at * self.block, p);
        let of = |one: &Explained| match one.term {
            Term::Step(at) => vec![step(at, one.p)],
            Term::Stretch(first, end) => vec![step(first, one.p), step(end, one.p)],
            Term::Ramp(first, end) => {
                let place = if (end + 1) * self.block > self.scores.len() {
                    self.scores.len()
                } else {
                    end * self.block
                };
                vec![Bound { place, begin: first * self.block, shape: ChangeShape::Ramp, p: one.p }]
            }
            Term::Smooth(_) => Vec::new(),
        };
        let mut bounds: Vec<Bound> = explanation.terms.iter().flat_map(of).collect();
        bounds.sort_unstable_by_key(|bound| bound.place);
        bounds.dedup_by_key(|bound| bound.place);
        for index in 0..bounds.len() {
            let before = index.checked_sub(1).map_or(0, |index| bounds[index].place);
            let after = bounds.get(index + 1).map_or(self.scores.len(), |bound| bound.begin);
            let bound = &mut bounds[index];
            bound.begin = bound.begin.max(before);
            if bound.shape == ChangeShape::Step {
                bound.place = self.exact_place(before, bound.place, after);
                bound.begin = bound.place;
            }
        }
        bounds
    }

    /// The place within some blocks of this one at which two levels fit best.
    fn exact_place(&self, before: usize, place: usize, after: usize) -> usize {
        if self.block == 1 || place <= before || after <= place {
            return place;
        }
        let reach = 3 * self.block;
        let (first, end) = ((before + 1).max(place.saturating_sub(reach)), (after - 1).min(place + reach));
        let (old, new) = (self.level(before, place), self.level(place, after));
        let (mut sum, mut best) = (0.0, (0.0, first));
        for at in first..end {
            // Moving the place beyond this value makes it one of the old level.
            sum += (self.scores[at] - new).powi(2) - (self.scores[at] - old).powi(2);
            if sum > best.0 {
                best = (sum, at + 1);
            }
        }
        best.1
    }
}

/// Logarithms in robust deviations from the median, up to [`SCORE_MOST`] either way; normal deviates of their ranks where nearly all are equal. Ranks would
/// make jumps of load that wanders: wherever it stays for long, they are far apart. `order` is that of the logarithms.
fn scores_of(order: &[usize], logarithms: &[f64]) -> Vec<f64> {
    let at = |share: f64| logarithms[order[(share * (order.len() - 1) as f64).round() as usize]];
    let middle = at(0.5);
    // Of a normal distribution both are its standard deviation.
    let scale = ((at(0.75) - at(0.25)) / 1.349).max((at(0.95) - at(0.05)) / 3.29);
    if scale < SCALE_LEAST {
        return normal_scores(order, logarithms);
    }
    logarithms.iter().map(|value| ((value - middle) / scale).clamp(-SCORE_MOST, SCORE_MOST)).collect()
}

/// Normal deviates of the ranks.
fn normal_scores(order: &[usize], values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let deviate = |rank: f64| -std::f64::consts::SQRT_2 * erfc_inv(2.0 * (rank - 0.375) / (n + 0.25));
    scores_in(order, values, deviate)
}

#[cfg(test)]
mod tests {
    use iolag_model::WallTime;

    use super::*;
    use iolag_model::Random;

    /// Two minutes of a listing, each a fifth off the usual and like the one before, twelve times as long where it is great.
    fn record(seed: u64, is_great: impl Fn(usize) -> bool) -> Record {
        let (mut source, mut state) = (Random::new(seed), 0.0);
        let moments: Vec<WallTime> = (0..263).map(|slot| WallTime(slot * 500_000_000)).collect();
        let next = |slot: usize| {
            state = 0.8 * state + 0.6 * source.normal();
            (0.2 * state).exp() * if is_great(slot) { 12.0 } else { 1.0 }
        };
        let values: Vec<f64> = (0..263).map(next).collect();
        Record::of(&TimedValues::known(&moments, &values), &LocalTime::UTC).unwrap()
    }

    #[test]
    fn sizes_alone_tell_what_parts_the_whole_record_and_no_jump_to_and_fro() {
        let anywhere: Vec<Bound> = (0..=263).map(|place| Bound::step(place, 0.0)).collect();
        for seed in 0..20 {
            let one = record(seed, |slot| slot >= 120).parting(&anywhere, 0.05).unwrap();
            assert!(one.place.abs_diff(120) <= 3, "{seed}: {one:?}");
            // Each of its levels parts well from the one beside it.
            let is_great = |slot: usize| (104..150).contains(&slot) || slot >= 210;
            assert_eq!(record(seed, is_great).parting(&anywhere, 0.05), None, "{seed}");
            assert_eq!(record(seed, |slot| slot / 24 % 2 == 1).parting(&anywhere, 0.05), None, "{seed}");
            // So few are an end that has no date yet.
            assert_eq!(record(seed, |slot| slot >= 245).parting(&anywhere, 0.05), None, "{seed}");
        }
    }
}
