//! Two samples compared: before and after an event, two targets, two hosts.
//!
//! Effect first, p second:
//! - the *shift* of Hodges and Lehmann (1963): the median over all pairs of second less first; of durations
//!   on the logarithmic scale, so that it is a ratio. Its interval are the differences of the pairs at the
//!   shares 1/2 ± t · s, s being the standard error of the share after the samples were aligned by the shift,
//!   which does not ask both to have the same shape;
//! - the *probability* that the second is greater (ties half), by Gehan's generalised ranks (1965) where
//!   something is censored, with its p;
//! - both errors are those of the sums of placements in time order (see `statistics/interval/mean_error.rs`), so that
//!   neighbours count as what they are worth, and what two places share at the same time falls out;
//! - medians, shares over thresholds and their differences, and the greatest distance of the curves.
//!
//! The step of a coarse clock, beside the medians, is added to the shift's interval: it is the same in all pairs.
//!
//! What is not known because of censoring widens the shift's interval: its lower end takes each pair at its
//! least, its upper end at its most. If more than half of the pairs have no such end, the shift itself is a
//! bound.
//!
//! *Strata*: if both samples cover the week, pairs may be taken within each hour of the week only, so that a
//! quiet month is not compared with busy hours. Strata weigh n m / (n + m) (van Elteren 1960). Medians,
//! shares and curves stay those of all. Of two times with more weekend in one, working days are compared with working days and weekends with weekends: a
//! week's end is no consequence of what happened in its middle.
//!
//! *Hours of the day*: what they explain ([`DailyLevels`]) may be taken out of both samples before pairs are
//! made.

use std::collections::BTreeMap;

use iolag_model::{Nanoseconds, WallTime};
use serde::{Deserialize, Serialize};

use super::calendar::daily_levels::DailyLevels;
use super::calendar::local_time::LocalTime;
use super::series::clock_steps::steps_in_ratio;
use super::series::distribution::{CurveDistance, Distribution, KnowledgeCounts};
use super::series::estimate::{Estimate, HistoryQuantile, is_time};
use super::series::observations::{Observation, Observations, Weight, Weighting};
use super::series::shares::{ShareDifference, ThresholdShare, share_difference, shares_over};
use super::series::timed_values::Quantity;
use crate::statistics::comparison::relative_effect::weeks_of;
pub(crate) use crate::statistics::comparison::shift::ShiftEstimate;
use crate::statistics::comparison::shift::{Greater, Judged, Shift, ShiftScale};
use crate::statistics::comparison::strata::{Range, Repeats, Stratum};
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::interval::share_over::DEFAULT_THRESHOLDS;
use crate::statistics::multiple_testing::SIGNIFICANCE;
use crate::statistics::quantile::censored::QUANTILES;
use crate::statistics::rhythm::profile::is_weekend;

/// Independent attempts that each side needs before anything is judged: with fewer, dependence cannot be told from a difference.
pub(crate) const COMPARISON_ATTEMPTS: u64 = 15;

/// Strata must hold at least this share of either sample, otherwise all is compared with all.
const COVERED_LEAST: f64 = 0.9;
/// Weekends whose shares of two times differ by no more make no difference that matters between these.
const WEEKEND_SHARE_APART: f64 = 0.05;
/// Logarithms of nothing are those of a nanosecond.
const SHORTEST_SECONDS: f64 = 1e-9;

/// How to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparisonOptions {
    /// Thresholds whose shares are compared, for durations.
    pub thresholds: Vec<Nanoseconds>,
    /// Which pairs are made.
    pub stratify: Stratify,
    /// Where hours of the week begin.
    pub local_time: LocalTime,
    /// A smaller change of durations, as a factor, is not called a difference.
    pub ratio_least: f64,
    /// Independent attempts that each side needs.
    pub attempts_least: u64,
    /// Whether a weekend may stand against working days where strata are not made.
    pub kinds_of_day: KindsOfDay,
    /// What the hours of the day explain of both samples, and is not compared; on the logarithmic scale for durations.
    pub daily: Option<DailyLevels>,
}

impl Default for ComparisonOptions {
    /// The thresholds of [`DEFAULT_THRESHOLDS`], all pairs, UTC, 5 %, any day with any, and nothing explained.
    fn default() -> Self {
        Self {
            thresholds: DEFAULT_THRESHOLDS.to_vec(),
            stratify: Stratify::No,
            local_time: LocalTime::UTC,
            ratio_least: 1.05,
            attempts_least: COMPARISON_ATTEMPTS,
            kinds_of_day: KindsOfDay::Mixed,
            daily: None,
        }
    }
}

/// Which pairs are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stratify {
    /// All with all.
    #[default]
    No,
    /// Within the same hour of the week, if both samples cover it.
    HourOfWeek,
    /// Working days with working days and weekends with weekends: of two times with more weekend in one.
    KindOfDay,
}

/// Whether a weekend may stand against working days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KindsOfDay {
    /// Of one time, or of bad times against all others.
    Mixed,
    /// Of two times, which may have more weekend in one.
    Apart,
}

/// How two samples differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub quantity: Quantity,
    /// Under which weighting.
    pub weighting: Weighting,
    /// Independent attempts that each side needed.
    pub attempts_least: u64,
    /// The word for it.
    pub verdict: ComparisonVerdict,
    /// What the first sample is.
    pub first: ComparedSide,
    /// What the second sample is.
    pub second: ComparedSide,
    /// How much longer (a ratio) or greater (a difference) the second is; absent if a side is empty.
    pub shift: Option<Shift>,
    /// How often the second is greater; absent if a side is empty.
    pub greater: Option<Greater>,
    /// Shares over thresholds.
    pub shares: Vec<ShareChange>,
    /// Greatest distance of the two curves.
    pub curves: Option<CurveDistance>,
    /// Which pairs were made.
    pub strata: Strata,
}

/// The word for a difference, seen from the second sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// Durations became shorter.
    Faster,
    /// Durations became longer.
    Slower,
    /// Values became smaller.
    Lower,
    /// Values became greater.
    Higher,
    /// The difference is not larger than chance, or too small to matter.
    NoDifferenceShown,
    /// Too few independent attempts on either side.
    TooFew,
}

impl std::fmt::Display for ComparisonVerdict {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Lower => "lower",
            Self::Higher => "higher",
            Self::NoDifferenceShown => "no difference shown",
            Self::TooFew => "too few",
        })
    }
}

/// One of two samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSide {
    /// How much is known of its observations.
    pub counts: KnowledgeCounts,
    /// What they are worth.
    pub sample_size: EffectiveSampleSize,
    /// How many independent ones they are worth in this comparison, which decides what is too few: what both sides share at the same time, and
    /// what is compared within strata only, counts otherwise than in a median.
    pub compared_effective: f64,
    /// Median.
    pub median: HistoryQuantile,
    /// 95 %.
    pub p95: HistoryQuantile,
}

/// Shares over a threshold on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareChange {
    /// In the first sample.
    pub first: ThresholdShare,
    /// In the second.
    pub second: ThresholdShare,
    /// Second less first, of what is known to be over, with an interval that knows of the undecided and of
    /// the effective sample sizes.
    pub difference: ShareDifference,
}

/// Which pairs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strata {
    /// What was asked for.
    pub asked: Stratify,
    /// By what; `no` also if strata were asked for and the samples do not cover them.
    pub by: Stratify,
    /// How many.
    pub count: u64,
    /// Observations of the first and second sample that had no counterpart.
    pub left_out: [u64; 2],
}

/// Compares two samples under the same weighting; `None` if their quantities differ.
pub fn compare<W: Weight>(
    first: &Observations<W>,
    second: &Observations<W>,
    options: &ComparisonOptions,
) -> Option<Comparison> {
    (first.quantity() == second.quantity()).then(|| compare_alike(first, second, options))
}

/// Compares two samples that are known to be of one quantity.
pub(crate) fn compare_alike<W: Weight>(
    first: &Observations<W>,
    second: &Observations<W>,
    options: &ComparisonOptions,
) -> Comparison {
    let quantity = first.quantity();
    let scale = if is_time(quantity) { ShiftScale::Ratio } else { ShiftScale::Difference };
    let (mut sides, shares, curves) = described([first, second], options);
    let sizes = sides.each_ref().map(|side| side.sample_size);
    let (strata, made) = strata_of(first, second, scale, options);
    let judged = Judged::of(&strata);
    if let Some(share) = judged.as_ref().and_then(Judged::share_effective) {
        for (side, left_out) in sides.iter_mut().zip(made.left_out) {
            side.compared_effective = share * side.sample_size.attempts.saturating_sub(left_out) as f64;
        }
    }
    let enough = sides.iter().all(|side| side.compared_effective >= options.attempts_least as f64);
    let mut shift = judged.as_ref().map(|judged| judged.shift(scale));
    if let (Some(shift), ShiftScale::Ratio) = (&mut shift, scale)
        && let [Estimate::Exactly(one), Estimate::Exactly(other)] =
            sides.each_ref().map(|side| side.median.value)
    {
        shift.widen(steps_in_ratio([one, other], [first.step_seconds(), second.step_seconds()]));
    }
    let greater = judged.as_ref().map(|judged| judged.greater(sizes));
    let [first, second] = sides;
    Comparison {
        quantity,
        weighting: W::WEIGHTING,
        attempts_least: options.attempts_least,
        verdict: verdict_of(shift.as_ref(), greater.as_ref(), enough, options.ratio_least),
        first,
        second,
        shift,
        greater,
        shares,
        curves,
        strata: made,
    }
}

/// What the two samples are, and how their curves differ. Distributions are forgotten before pairs are made.
fn described<W: Weight>(
    observations: [&Observations<W>; 2],
    options: &ComparisonOptions,
) -> ([ComparedSide; 2], Vec<ShareChange>, Option<CurveDistance>) {
    let distributions = observations.map(Distribution::of);
    (
        distributions.each_ref().map(ComparedSide::of),
        share_changes(observations, &distributions, &options.thresholds),
        distributions[0].greatest_distance(&distributions[1]),
    )
}

impl ComparedSide {
    fn of<W: Weight>(distribution: &Distribution<W>) -> Self {
        let [_, median, _, _, p95, _] = distribution.quantiles_with_intervals(QUANTILES);
        Self {
            counts: distribution.counts(),
            sample_size: distribution.sample_size(),
            compared_effective: distribution.sample_size().effective,
            median,
            p95,
        }
    }
}

fn share_changes<W: Weight>(
    observations: [&Observations<W>; 2],
    distributions: &[Distribution<W>; 2],
    thresholds: &[Nanoseconds],
) -> Vec<ShareChange> {
    if !is_time(observations[0].quantity()) {
        return Vec::new();
    }
    let [first, second] =
        [0, 1].map(|side| shares_over(observations[side], &distributions[side], thresholds));
    let known =
        |share: &ThresholdShare| (share.counted.over as f64 / share.of.max(1) as f64, share.counted.interval);
    let change = |(first, second): (ThresholdShare, ThresholdShare)| ShareChange {
        difference: share_difference(known(&first), known(&second)),
        first,
        second,
    };
    first.into_iter().zip(second).map(change).collect()
}

/// The strata that both samples cover, or all as one.
fn strata_of<W: Weight>(
    first: &Observations<W>,
    second: &Observations<W>,
    scale: ShiftScale,
    options: &ComparisonOptions,
) -> (Vec<Stratum>, Strata) {
    let range = |one: &Observation| {
        let explained = options.daily.as_ref().map_or(0.0, |daily| daily.level(one.at));
        let amount = match scale {
            ShiftScale::Ratio => one.amount.max(SHORTEST_SECONDS).ln(),
            ShiftScale::Difference => one.amount,
        };
        Range::of(one.at.0, amount - explained, one.knowledge)
    };
    if options.stratify == Stratify::HourOfWeek
        && let Some(strata) = by_hour_of_week(first, second, &options.local_time, &range)
    {
        return strata;
    }
    let all = |side: &Observations<W>| side.list().iter().map(range).collect::<Vec<Range>>();
    let sides = [all(first), all(second)];
    let is_weekend = |range: &Range| is_weekend(options.local_time.local_seconds(WallTime(range.at)));
    let [one, other] = sides
        .each_ref()
        .map(|side| side.iter().filter(|range| is_weekend(range)).count() as f64 / side.len().max(1) as f64);
    let has_more_weekend =
        options.kinds_of_day == KindsOfDay::Apart && (one - other).abs() > WEEKEND_SHARE_APART;
    let by = if has_more_weekend { Stratify::KindOfDay } else { Stratify::No };
    let (strata, left_out) = if has_more_weekend {
        by_kind_of_day(&sides, is_weekend)
    } else {
        let [first, second] = sides;
        (Stratum::new(first, second).into_iter().collect(), [0, 0])
    };
    let count = strata.len() as u64;
    (strata, Strata { asked: options.stratify, by, count, left_out })
}

/// Strata of working days and of weekends, and how many of either side have no counterpart.
fn by_kind_of_day(sides: &[Vec<Range>; 2], is_weekend: impl Fn(&Range) -> bool) -> (Vec<Stratum>, [u64; 2]) {
    let of_kind = |side: &[Range], is_wanted: bool| -> Vec<Range> {
        side.iter().filter(|range| is_weekend(range) == is_wanted).copied().collect()
    };
    let of_kinds = [false, true].map(|kind| [of_kind(&sides[0], kind), of_kind(&sides[1], kind)]);
    let lone = |side: usize| {
        let others = of_kinds.iter().filter(|kinds| kinds[1 - side].is_empty());
        others.map(|kinds| kinds[side].len() as u64).sum()
    };
    let left_out = [lone(0), lone(1)];
    let mut strata: Vec<Stratum> =
        of_kinds.into_iter().filter_map(|[first, second]| Stratum::new(first, second)).collect();
    if strata.len() > 1 {
        // Two days of a weekend have much in common, which their own mean takes away.
        strata = strata.into_iter().map(|one| one.repeated_by(Repeats::Days)).collect();
    }
    (strata, left_out)
}

fn by_hour_of_week<W: Weight>(
    first: &Observations<W>,
    second: &Observations<W>,
    local_time: &LocalTime,
    range: &dyn Fn(&Observation) -> Range,
) -> Option<(Vec<Stratum>, Strata)> {
    let mut hours: BTreeMap<u8, [Vec<Range>; 2]> = BTreeMap::new();
    for (side, observations) in [first, second].into_iter().enumerate() {
        for one in observations.list() {
            let hour = local_time.at(one.at).hour_of_week();
            hours.entry(hour).or_default()[side].push(range(one));
        }
    }
    let mut strata = Vec::new();
    let mut covered = [0_u64; 2];
    for [first, second] in hours.into_values() {
        if weeks_of(&first) >= 2.0 && weeks_of(&second) >= 2.0 {
            covered[0] += first.len() as u64;
            covered[1] += second.len() as u64;
            strata.extend(Stratum::new(first, second).map(|one| one.repeated_by(Repeats::Weeks)));
        }
    }
    let all = [first.list().len() as u64, second.list().len() as u64];
    let covers = |side: usize| covered[side] as f64 >= COVERED_LEAST * all[side] as f64;
    let made = Strata {
        asked: Stratify::HourOfWeek,
        by: Stratify::HourOfWeek,
        count: strata.len() as u64,
        left_out: [all[0] - covered[0], all[1] - covered[1]],
    };
    (!strata.is_empty() && covers(0) && covers(1)).then_some((strata, made))
}

impl Comparison {
    /// Takes back a word that does not stand beside all other verdicts of the result.
    pub(crate) fn judge(&mut self, p_adjusted: f64) {
        let Some(greater) = &mut self.greater else { return };
        greater.p_adjusted = p_adjusted;
        if p_adjusted >= SIGNIFICANCE && self.verdict != ComparisonVerdict::TooFew {
            self.verdict = ComparisonVerdict::NoDifferenceShown;
        }
    }
}

/// The interval, not the estimate, has to exclude what does not matter.
fn verdict_of(
    shift: Option<&Shift>,
    greater: Option<&Greater>,
    enough: bool,
    ratio_least: f64,
) -> ComparisonVerdict {
    let (Some(shift), Some(greater), true) = (shift, greater, enough) else {
        return ComparisonVerdict::TooFew;
    };
    if greater.p >= SIGNIFICANCE {
        return ComparisonVerdict::NoDifferenceShown;
    }
    let (above, below) = match shift.scale {
        ShiftScale::Ratio => (ratio_least, 1.0 / ratio_least),
        ShiftScale::Difference => (0.0, 0.0),
    };
    let is_up = shift.interval.low.is_some_and(|low| low > above);
    let is_down = shift.interval.high.is_some_and(|high| high < below);
    match (shift.scale, is_up, is_down) {
        (ShiftScale::Ratio, true, _) => ComparisonVerdict::Slower,
        (ShiftScale::Ratio, _, true) => ComparisonVerdict::Faster,
        (ShiftScale::Difference, true, _) => ComparisonVerdict::Higher,
        (ShiftScale::Difference, _, true) => ComparisonVerdict::Lower,
        _ => ComparisonVerdict::NoDifferenceShown,
    }
}
