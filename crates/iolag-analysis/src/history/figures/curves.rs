//! "Integrated percent": distributions as curves, and before and after the change that an event explains best.

use iolag_model::{SeriesKind, WallSpan, WallTime};
use serde::{Deserialize, Serialize};

use crate::figure_column::{ColumnFloat, detach};
use crate::history::analysis::HistoryAnalysis;
use crate::history::changes::change_point::ChangePoint;
use crate::history::changes::event_matching::EventMatch;
use crate::history::input::HistoryInput;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::distribution::{CurvePoint, Distribution};
use crate::history::series::observations::{Blockers, ByAttempt, ByTime, Observations, Weight};
use crate::history::series::summary::WeightedSummary;
use crate::history::source::blockers_by_host;

/// Most steps of a curve.
pub const CURVE_POINTS: usize = 300;

/// A distribution as a step function: from `amount[i]` on the share is `share[i]`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Curve {
    /// Observations.
    pub count: u64,
    /// What they are worth under autocorrelation.
    pub effective: f64,
    /// Of these, not ended: at least so long.
    pub at_least_count: u64,
    /// Of these, below the clock's resolution, which is the first amount then.
    pub below_count: u64,
    /// Of these, concluded from the probe that was in the way.
    pub imputed_count: u64,
    /// Where each step is: ns for durations, otherwise the unit of the series.
    pub amount: ColumnFloat,
    /// Share that does not exceed it, 0 to 1.
    pub share: ColumnFloat,
    /// Lower end of the band that holds the whole curve with 95 % confidence.
    pub low: ColumnFloat,
    /// Upper end.
    pub high: ColumnFloat,
    /// The share that did not end, and from where on; absent if all ended.
    pub end: Option<CurveEnd>,
}

detach!(Curve { amount, share, low, high });

/// What had not ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CurveEnd {
    /// Its share.
    pub share: f64,
    /// It took at least so much: ns for durations.
    pub from: f64,
}

impl Curve {
    pub(crate) fn of_summary(summary: &WeightedSummary, kind: SeriesKind) -> Self {
        let curve = Self::of_points(&summary.curve, summary.greatest.bound(), scale_of(kind));
        Self {
            count: summary.counts.total(),
            effective: summary.sample_size.effective,
            at_least_count: summary.counts.at_least,
            below_count: summary.counts.below,
            imputed_count: summary.imputed,
            ..curve
        }
    }

    fn of_observations<W: Weight>(observations: &Observations<W>, kind: SeriesKind) -> Self {
        let distribution = Distribution::of(observations);
        let greatest = distribution.extremes().1.bound();
        let curve = Self::of_points(&distribution.curve(CURVE_POINTS), greatest, scale_of(kind));
        Self {
            count: distribution.counts().total(),
            effective: distribution.sample_size().effective,
            at_least_count: distribution.counts().at_least,
            below_count: distribution.counts().below,
            ..curve
        }
    }

    fn of_points(points: &[CurvePoint], greatest: Option<f64>, scale: f64) -> Self {
        let column = |of: fn(&CurvePoint) -> f64| -> ColumnFloat {
            points.iter().map(|point| of(point) as f32).collect()
        };
        let open = 1.0 - points.last().map_or(0.0, |point| point.share);
        Self {
            amount: points.iter().map(|point| (point.amount * scale) as f32).collect(),
            share: column(|point| point.share),
            low: column(|point| point.simultaneous.low),
            high: column(|point| point.simultaneous.high),
            end: greatest.filter(|_| open > 1e-9).map(|from| CurveEnd { share: open, from: from * scale }),
            ..Self::default()
        }
    }
}

/// Amounts are seconds in the analysis and ns in figures.
const fn scale_of(kind: SeriesKind) -> f64 {
    if kind.is_duration() { 1e9 } else { 1.0 }
}

/// A series before and after a change, cut at the event next to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BeforeAfter {
    /// Index of the series.
    pub series: usize,
    /// Index of its change.
    pub change: usize,
    /// Id of the event.
    pub event: String,
    /// What the event says.
    pub event_text: String,
    /// The moment that parts before from after: the event if it lies between two samples, else the change.
    pub border_ns: i64,
    /// Each attempt counting once.
    pub before: Curve,
    /// The same, after.
    pub after: Curve,
    /// Each scheduled slot counting once; absent if that is the same.
    pub before_by_time: Option<Curve>,
    /// The same, after.
    pub after_by_time: Option<Curve>,
}

detach!(BeforeAfter { before, after, before_by_time, after_by_time });

/// For each series of durations the change next to an event whose level moved furthest.
pub(crate) fn before_after(input: &HistoryInput, analysis: &HistoryAnalysis) -> Vec<BeforeAfter> {
    let blockers = blockers_by_host(input);
    let none = Blockers::default();
    let of_series = |(index, analysed): (usize, &SeriesAnalysis)| {
        let key = &analysed.summary.series.key;
        let blockers = blockers.get(key.host.as_str()).unwrap_or(&none);
        before_after_of(index, analysed, input, analysis, blockers)
    };
    analysis.series.iter().enumerate().filter_map(of_series).collect()
}

fn before_after_of(
    index: usize,
    analysed: &SeriesAnalysis,
    input: &HistoryInput,
    analysis: &HistoryAnalysis,
    blockers: &Blockers,
) -> Option<BeforeAfter> {
    let series = &analysed.summary.series;
    let matched = strongest(analysed)?;
    let change = analysed.changes.get(matched.change)?;
    let event = analysis.events.iter().find(|event| event.id == matched.event)?;
    let (_, columns) = input.series.iter().find(|(one, _)| one.key == series.key)?;
    let is_between = change.last_before <= event.begin && event.begin <= change.first_after;
    let border = if is_between { event.begin } else { change.first_after };
    let (before, after) = (
        WallSpan { begin: WallTime(i64::MIN), end: border },
        WallSpan { begin: border, end: WallTime(i64::MAX) },
    );
    let by_attempt = Observations::<ByAttempt>::by_attempt(series, columns);
    let by_time = analysed
        .summary
        .by_time
        .is_some()
        .then(|| Observations::<ByTime>::by_time(series, columns, blockers));
    let of_slots = |span: WallSpan| {
        by_time.as_ref().map(|observations| Curve::of_observations(&observations.within(span), series.kind))
    };
    Some(BeforeAfter {
        series: index,
        change: matched.change,
        event: event.id.clone(),
        event_text: event.text.clone(),
        border_ns: border.0,
        before: Curve::of_observations(&by_attempt.within(before), series.kind),
        after: Curve::of_observations(&by_attempt.within(after), series.kind),
        before_by_time: of_slots(before),
        after_by_time: of_slots(after),
    })
}

fn strongest(analysed: &SeriesAnalysis) -> Option<&EventMatch> {
    if !analysed.summary.series.kind.is_duration() {
        return None;
    }
    let size = |one: &&EventMatch| analysed.changes.get(one.change).map_or(0.0, strength);
    analysed.events.matched.iter().max_by(|one, other| size(one).total_cmp(&size(other)))
}

/// How far a level moved: as a ratio of medians, or by rank where that is not known.
fn strength(change: &ChangePoint) -> f64 {
    let by_rank = (change.greater_after - 0.5).abs();
    change.ratio.value.filter(|ratio| *ratio > 0.0).map_or(by_rank, |ratio| by_rank + ratio.ln().abs())
}
