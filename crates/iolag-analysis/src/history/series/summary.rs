//! Everything about one series by itself, in one value that reports and JSON print.
//!
//! Names in JSON are stable; amounts are seconds for durations and the unit of the series otherwise.

use iolag_model::{ConfigurationKey, HistoryColumns, Nanoseconds, Series, WallTime};
use serde::Serialize;

use super::distribution::{CurvePoint, Distribution, KnowledgeCounts};
use super::estimate::{Estimate, HistoryQuantile};
use super::modes::{Modes, separated_modes};
use super::observations::{
    Blockers, ByAttempt, ByTime, LeftOut, Observation, Observations, Origin, Weight, Weighting,
};
use super::shares::{ThresholdShare, shares_over};
use super::timed_values::Quantity;
use crate::history::calendar::local_time::LocalTime;
use crate::history::calendar::outcome_shares::{HourByDay, RatesInTime, hour_by_day, rates_in_time};
use crate::history::changes::change_point::ChangePoint;
use crate::statistics::dependence::worth::EffectiveSampleSize;
use crate::statistics::interval::share_over::DEFAULT_THRESHOLDS;
use crate::statistics::knowledge::Knowledge;
use crate::statistics::quantile::censored::QUANTILES;

/// How to summarise.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryOptions {
    /// Thresholds whose shares are told, for durations, ascending.
    pub thresholds: Vec<Nanoseconds>,
    /// Where days and hours begin.
    pub local_time: LocalTime,
    /// Most points of each curve.
    pub curve_points: usize,
}

impl Default for SummaryOptions {
    /// The thresholds of [`DEFAULT_THRESHOLDS`], UTC, 200 points.
    fn default() -> Self {
        Self { thresholds: DEFAULT_THRESHOLDS.to_vec(), local_time: LocalTime::UTC, curve_points: 200 }
    }
}

/// Everything about one series by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesSummary {
    /// Which series.
    pub series: Series,
    /// What its amounts are.
    pub quantity: Quantity,
    /// When the first slot was due; absent without any.
    pub first: Option<WallTime>,
    /// When the last slot was due.
    pub last: Option<WallTime>,
    /// Each attempt counts once.
    pub by_attempt: WeightedSummary,
    /// Each scheduled slot counts once; absent if no slot was skipped, since then it is the same.
    pub by_time: Option<WeightedSummary>,
    /// How slots ended, in total and by day, weekday, hour and configuration.
    pub rates: RatesInTime,
    /// Hours by days.
    pub hour_by_day: HourByDay,
    /// Separated modes, if there are.
    pub modes: Option<Modes>,
    /// The same between the changes of level, in the order of time, by attempt; none if the level never changed.
    pub regimes: Vec<Regime>,
    /// Durations or values under each configuration, if there was more than one; by attempt.
    pub by_configuration: Vec<ConfigurationSummary>,
    /// What else was measured with each attempt.
    pub beside: Vec<BesideSummary>,
}

/// The observations of a series under one weighting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeightedSummary {
    /// Which weighting.
    pub weighting: Weighting,
    /// Observations, by how much is known of them.
    pub counts: KnowledgeCounts,
    /// Of these, imputed from the probe that was in the way.
    pub imputed: u64,
    /// What has no amount.
    pub left_out: LeftOut,
    /// What the observations are worth under autocorrelation.
    pub sample_size: EffectiveSampleSize,
    /// The smallest.
    pub least: Estimate,
    /// The greatest; a bound if that had not ended.
    pub greatest: Estimate,
    /// 25, 50, 75, 90, 95 and 99 % with intervals.
    pub quantiles: Vec<HistoryQuantile>,
    /// Shares over thresholds; none for values.
    pub shares: Vec<ThresholdShare>,
    /// The distribution with its bands.
    pub curve: Vec<CurvePoint>,
}

/// A series between two changes of its level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regime {
    /// When the change before it was over; absent for the first.
    pub since: Option<WallTime>,
    /// When the next change was over; absent for the last.
    pub until: Option<WallTime>,
    /// What was observed.
    #[serde(flatten)]
    pub summary: WeightedSummary,
}

/// A series under one configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationSummary {
    /// Which one; 0 where it is not known.
    pub configuration: ConfigurationKey,
    /// When it was first used.
    pub first: WallTime,
    /// When it was last used.
    pub last: WallTime,
    /// What was observed.
    #[serde(flatten)]
    pub summary: WeightedSummary,
}

/// Something measured with each attempt: processor time, waiting, load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BesideSummary {
    /// What it is.
    pub quantity: Quantity,
    /// Attempts that have it.
    pub count: u64,
    /// Its median with interval.
    pub median: HistoryQuantile,
    /// Its 95 % quantile with interval.
    pub p95: HistoryQuantile,
    /// The greatest.
    pub greatest: Estimate,
}

/// Summarises a series that is told between `changes` and whose level changed at each of `levels`, these among them. `blockers` know when the probes ended because of which slots were skipped.
pub fn summarise_series(
    series: &Series,
    columns: &HistoryColumns,
    blockers: &Blockers,
    [changes, levels]: [&[ChangePoint]; 2],
    options: &SummaryOptions,
) -> SeriesSummary {
    let by_attempt = Observations::<ByAttempt>::by_attempt(series, columns).with_changes(levels);
    let rates = rates_in_time(columns, &options.local_time);
    let by_time = (rates.total.skipped.count > 0)
        .then(|| Observations::<ByTime>::by_time(series, columns, blockers).with_changes(levels));
    SeriesSummary {
        series: series.clone(),
        quantity: by_attempt.quantity(),
        first: columns.intended.iter().min().copied(),
        last: columns.intended.iter().max().copied(),
        by_time: by_time.as_ref().map(|by_time| WeightedSummary::of(by_time, options)),
        hour_by_day: match &by_time {
            Some(by_time) => hour_by_day(columns, by_time, &options.local_time),
            None => hour_by_day(columns, &by_attempt, &options.local_time),
        },
        modes: separated_modes(&by_attempt, series.resolution_ns.as_seconds()),
        regimes: regimes(&by_attempt, changes, options),
        by_configuration: by_configuration((series, columns), levels, options),
        beside: beside(series, columns),
        by_attempt: WeightedSummary::of(&by_attempt, options),
        rates,
    }
}

impl SeriesSummary {
    /// What holds since the last change of level; all of it if there was none.
    pub fn latest(&self) -> &WeightedSummary {
        self.regimes.last().map_or(&self.by_attempt, |regime| &regime.summary)
    }
}

impl WeightedSummary {
    /// Of these observations.
    pub fn of<W: Weight>(observations: &Observations<W>, options: &SummaryOptions) -> Self {
        let distribution = Distribution::of(observations);
        let (least, greatest) = distribution.extremes();
        let imputed = |one: &&Observation| one.origin == Origin::Imputed;
        let thresholds: &[Nanoseconds] =
            if observations.quantity() == Quantity::Duration { &options.thresholds } else { &[] };
        Self {
            weighting: W::WEIGHTING,
            counts: distribution.counts(),
            imputed: observations.list().iter().filter(imputed).count() as u64,
            left_out: observations.left_out(),
            sample_size: distribution.sample_size(),
            least,
            greatest,
            quantiles: distribution.quantiles_with_intervals(QUANTILES).to_vec(),
            shares: shares_over(observations, &distribution, thresholds),
            curve: distribution.curve(options.curve_points),
        }
    }

    /// The median.
    pub fn median(&self) -> Option<&HistoryQuantile> {
        self.quantiles.iter().find(|quantile| quantile.q == 0.5)
    }
}

fn regimes(
    observations: &Observations<ByAttempt>,
    changes: &[ChangePoint],
    options: &SummaryOptions,
) -> Vec<Regime> {
    if changes.is_empty() {
        return Vec::new();
    }
    let since = std::iter::once(None).chain(changes.iter().map(|change| Some(change.first_after)));
    let until = changes.iter().map(|change| Some(change.began.unwrap_or(change.first_after))).chain([None]);
    let parts = observations.between(changes);
    since
        .zip(until)
        .zip(parts)
        .map(|((since, until), part)| Regime { since, until, summary: WeightedSummary::of(&part, options) })
        .collect()
}

fn by_configuration(
    (series, columns): (&Series, &HistoryColumns),
    changes: &[ChangePoint],
    options: &SummaryOptions,
) -> Vec<ConfigurationSummary> {
    let mut keys = columns.configuration.clone();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() < 2 {
        return Vec::new();
    }
    let summary = |configuration: ConfigurationKey| {
        let rows: Vec<usize> =
            (0..columns.len()).filter(|row| columns.configuration[*row] == configuration).collect();
        let moments = || rows.iter().map(|row| columns.intended[*row]);
        let observations =
            Observations::<ByAttempt>::of_rows(series, columns, rows.iter().copied()).with_changes(changes);
        Some(ConfigurationSummary {
            configuration,
            first: moments().min()?,
            last: moments().max()?,
            summary: WeightedSummary::of(&observations, options),
        })
    };
    let mut summaries: Vec<ConfigurationSummary> = keys.into_iter().filter_map(summary).collect();
    summaries.sort_by_key(|summary| (summary.first, summary.configuration));
    summaries
}

/// Summaries of what was measured with the attempts; none of what was never measured.
fn beside(series: &Series, columns: &HistoryColumns) -> Vec<BesideSummary> {
    let waiting: Vec<f64> = (0..columns.len())
        // A duration that is only a lower bound has no waiting time; it would be too small.
        .map(|row| match (columns.processor_seconds[row], columns.outcome[row].is_censored()) {
            (processor, false) if processor.is_finite() => {
                (columns.duration_ns[row].as_seconds() - processor).max(0.0)
            }
            _ => f64::NAN,
        })
        .collect();
    let mut kinds: Vec<(Quantity, &[f64])> = vec![
        (Quantity::Load5min, &columns.load_5min),
        (Quantity::Runnable, &columns.runnable),
        (Quantity::Blocked, &columns.blocked),
        (Quantity::StalledIo, &columns.stalled_io),
    ];
    if series.kind.is_duration() {
        kinds.insert(0, (Quantity::ProcessorTime, &columns.processor_seconds));
        kinds.insert(1, (Quantity::Waiting, &waiting));
    }
    kinds.into_iter().filter_map(|(quantity, values)| beside_of(quantity, columns, values)).collect()
}

fn beside_of(quantity: Quantity, columns: &HistoryColumns, values: &[f64]) -> Option<BesideSummary> {
    let known = columns.intended.iter().zip(values).filter(|(_, value)| value.is_finite());
    let exactly = |(at, value): (&WallTime, &f64)| Observation {
        at: *at,
        amount: *value,
        knowledge: Knowledge::Exactly,
        origin: Origin::Measured,
    };
    let observations = Observations::<ByAttempt>::new(quantity, known.map(exactly));
    if observations.is_empty() {
        return None;
    }
    let distribution = Distribution::of(&observations);
    let [median, p95] = distribution.quantiles_with_intervals([0.5, 0.95]);
    Some(BesideSummary {
        quantity,
        count: distribution.counts().exact,
        median,
        p95,
        greatest: distribution.extremes().1,
    })
}
