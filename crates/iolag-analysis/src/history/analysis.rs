//! Everything that a report on a history needs, in one value.
//!
//! ```text
//! series, events, outages, … -> summaries by series -> changes, periods, episodes -> correlations, associations -> ledger -> findings
//! ```
//!
//! Invariants: the same input gives the same analysis, in whichever order series and records come; names in JSON are stable.
//! Limits: changes are matched with, and compared before and after, what people noted, lists and configurations, not with lines of the
//! journal, of which there is always one nearby; these are asked whether they come with episodes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use iolag_model::{
    Configuration, ConfigurationKey, Event, EventSource, HistoryColumns, Nanoseconds, Outage, ProbeId,
    Series, SeriesKey, SeriesKind, WallSpan, WallTime, WatchSession,
};
use serde::Serialize;

use super::association::{Association, associate, default_association_tolerance};
use super::bad_overlap::{BadOverlap, bad_overlaps};
use super::change_points::{ChangeOptions, ChangePoint, Drift, NotTold, find_changes, segments_of};
use super::comparison::{Comparison, ComparisonOptions, Stratify, compare};
use super::daily::DailyLevels;
use super::episodes::{Episode, EpisodeOptions, SeriesEpisode, find_episodes, merge_episodes};
use super::event_effect::{ChangesNearEvent, EventEffect, EventWindows, event_effect};
use super::event_matching::{EventMatching, concerns, default_match_tolerance, match_events};
use super::findings::{HistoryFinding, findings_of};
use super::gaps::{Gap, find_gaps};
use super::ledger::settle;
use super::matrix::{CorrelationMatrix, MatrixOptions, correlation_matrix};
use super::observed::{Quantity, TimedValues};
use super::periodicity::{Periodicity, find_periodicity};
use super::series_summary::{SeriesSummary, SummaryOptions, summarise_series};
use super::strata::{Covariate, CovariateStrata, by_covariates};
use super::weighting::{Blockers, ByAttempt, Observations};
use crate::parallel;

/// Version of the form of [`HistoryAnalysis`] in files.
pub const HISTORY_SCHEMA: u32 = 1;

/// Events of one series whose effect is computed: the latest.
const EVENT_EFFECTS_MOST: usize = 50;

/// What a history holds of the time that is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a kind of HistoryRecord")]
pub struct HistoryInput {
    pub series: Vec<(Series, HistoryColumns)>,
    pub events: Vec<Event>,
    pub outages: Vec<Outage>,
    pub configurations: Vec<Configuration>,
    pub sessions: Vec<WatchSession>,
}

/// How a history is analysed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryOptions {
    /// Thresholds, time zone and curves.
    pub summary: SummaryOptions,
    /// How changes are judged.
    pub changes: ChangeOptions,
    /// What counts as bad.
    pub episodes: EpisodeOptions,
    /// How correlations are computed.
    pub matrix: MatrixOptions,
    /// How far apart a change and its event may be; absent: see [`default_match_tolerance`].
    pub match_tolerance_ns: Option<Nanoseconds>,
    /// How far from an episode an event may be; absent: see [`default_association_tolerance`].
    pub association_tolerance_ns: Option<Nanoseconds>,
    /// How much time before and after an event is compared.
    pub event_windows: EventWindows,
    /// Which attempts are compared with which.
    pub stratify: Stratify,
}

/// One series by itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesAnalysis {
    /// Distributions, shares, rates, modes.
    pub summary: SeriesSummary,
    /// Changes of level in the order of time.
    pub changes: Vec<ChangePoint>,
    /// A slow change over the whole record.
    pub drift: Option<Drift>,
    /// What looked like a change and is none.
    pub not_told: Vec<NotTold>,
    /// Which events may explain them.
    pub events: EventMatching,
    /// What changed with each event, in the order of time.
    pub event_effects: Vec<EventEffect>,
    /// The most significant period, if there is one.
    pub periodicity: Option<Periodicity>,
    /// The same by levels of each covariate, for whole tasks.
    pub by_covariate: Vec<CovariateStrata>,
}

/// The same task in two places.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesComparison {
    /// One series.
    pub first: SeriesKey,
    /// The other: another target of the same host, or the same target seen from another host.
    pub second: SeriesKey,
    /// First against second.
    pub comparison: Comparison,
}

/// Everything that a report needs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryAnalysis {
    /// [`HISTORY_SCHEMA`].
    pub schema: u32,
    /// When the first sample was due; absent without samples.
    pub begin: Option<WallTime>,
    /// When the last sample was due.
    pub end: Option<WallTime>,
    /// Each series, in the order of their keys.
    pub series: Vec<SeriesAnalysis>,
    /// The same task on two targets or from two hosts.
    pub comparisons: Vec<SeriesComparison>,
    /// Everything against everything.
    pub correlations: CorrelationMatrix,
    /// Bad times in the order of time.
    pub episodes: Vec<Episode>,
    /// Places of a host that were bad, and how long they were so together.
    pub bad_overlaps: Vec<BadOverlap>,
    /// What kinds of events bad times come with.
    pub associations: Vec<Association>,
    /// Mounts that did not answer, in the order of time.
    pub outages: Vec<Outage>,
    /// Times in which nobody watched.
    pub gaps: Vec<Gap>,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// Configurations in the order in which they were first seen.
    pub configurations: Vec<Configuration>,
    /// What all this means, most important first.
    pub findings: Vec<HistoryFinding>,
}

/// Analyses a history.
pub fn analyse_history(input: &HistoryInput, options: &HistoryOptions) -> HistoryAnalysis {
    let input = &*in_order(input);
    let moments = || input.series.iter().flat_map(|(_, columns)| columns.intended.iter().copied());
    let (begin, end) = (moments().min(), moments().max());
    let blockers = blockers_by_host(input);
    let none = Blockers::default();
    let covariates = Covariate::all(&input.series);
    let series: Vec<SeriesAnalysis> = parallel::map(&input.series, |(series, columns)| {
        let blockers = blockers.get(series.key.host.as_str()).unwrap_or(&none);
        analyse_series(series, columns, (blockers, &covariates), &input.events, options)
    });
    let episodes = all_episodes(input, &series, options);
    let mut analysis = HistoryAnalysis {
        schema: HISTORY_SCHEMA,
        begin,
        end,
        comparisons: comparisons(input, options),
        correlations: correlation_matrix(&input.series, &options.matrix, &options.summary.local_time),
        bad_overlaps: bad_overlaps(input, &episodes),
        associations: associations(input, &episodes, begin, end, options),
        episodes,
        outages: input.outages.clone(),
        gaps: find_gaps(&input.series, &input.sessions),
        events: input.events.clone(),
        configurations: input.configurations.clone(),
        series,
        findings: Vec::new(),
    };
    settle(&mut analysis);
    analysis.findings = findings_of(&analysis);
    analysis
}

impl HistoryInput {
    /// Puts series in the order of their keys and everything else in that of time. [`analyse_history`] does so with a copy, which takes as
    /// much memory again.
    pub fn put_in_order(&mut self) {
        self.series.sort_by(|one, other| one.0.key.cmp(&other.0.key));
        self.events.sort_by(|one, other| order_of_event(one).cmp(&order_of_event(other)));
        self.outages.sort_by(|one, other| order_of_outage(one).cmp(&order_of_outage(other)));
        self.configurations
            .sort_by(|one, other| order_of_configuration(one).cmp(&order_of_configuration(other)));
    }

    fn is_in_order(&self) -> bool {
        self.series.is_sorted_by(|one, other| one.0.key <= other.0.key)
            && self.events.is_sorted_by(|one, other| order_of_event(one) <= order_of_event(other))
            && self.outages.is_sorted_by(|one, other| order_of_outage(one) <= order_of_outage(other))
            && self
                .configurations
                .is_sorted_by(|one, other| order_of_configuration(one) <= order_of_configuration(other))
    }
}

fn order_of_event(event: &Event) -> (WallTime, &str) {
    (event.begin, &event.id)
}

fn order_of_outage(outage: &Outage) -> (WallTime, ProbeId, &str) {
    (outage.begin, outage.probe, &outage.host)
}

fn order_of_configuration(one: &Configuration) -> (WallTime, ConfigurationKey, &str, &str) {
    (one.first_seen, one.key, &one.host, &one.target)
}

fn in_order(input: &HistoryInput) -> Cow<'_, HistoryInput> {
    if input.is_in_order() {
        return Cow::Borrowed(input);
    }
    let mut ordered = input.clone();
    ordered.put_in_order();
    Cow::Owned(ordered)
}

pub(super) fn blockers_by_host(input: &HistoryInput) -> BTreeMap<&str, Blockers> {
    let mut columns_by_host: BTreeMap<&str, Vec<&HistoryColumns>> = BTreeMap::new();
    for (series, columns) in &input.series {
        columns_by_host.entry(&series.key.host).or_default().push(columns);
    }
    let mut by_host: BTreeMap<&str, Blockers> = columns_by_host
        .into_iter()
        .map(|(host, columns)| (host, Blockers::of_slots(host, columns)))
        .collect();
    for (series, columns) in &input.series {
        if let Some(blockers) = by_host.get_mut(series.key.host.as_str()) {
            blockers.add_series(series, columns);
        }
    }
    for outage in &input.outages {
        if let Some(blockers) = by_host.get_mut(outage.host.as_str()) {
            blockers.add_outage(outage);
        }
    }
    by_host
}

fn analyse_series(
    series: &Series,
    columns: &HistoryColumns,
    (blockers, covariates): (&Blockers, &[Covariate<'_>]),
    events: &[Event],
    options: &HistoryOptions,
) -> SeriesAnalysis {
    let quantity = if series.kind.is_duration() { Quantity::Duration } else { Quantity::Value };
    let values = TimedValues::read(series, columns, quantity);
    let found = find_changes(&values, &options.summary.local_time, &options.changes);
    let changes = found.steps;
    let concerned: Vec<&Event> = events
        .iter()
        .filter(|event| event.source != EventSource::Journal && concerns(event, &series.key))
        .collect();
    let tolerance = options.match_tolerance_ns.unwrap_or_else(|| default_match_tolerance(values.covered()));
    let covered = span_of(&values);
    let within = concerned.iter().filter(|event| covered.contains(event.begin));
    let latest = within.clone().count().saturating_sub(EVENT_EFFECTS_MOST);
    let observations = Observations::<ByAttempt>::by_attempt(series, columns);
    let comparison = ComparisonOptions {
        daily: DailyLevels::of(&values, quantity, &changes, &options.summary.local_time),
        ..comparison_options(options)
    };
    let matching = match_events(&changes, &concerned, covered, tolerance);
    let near = |event: &Event| -> ChangesNearEvent {
        let mut near = ChangesNearEvent::default();
        for (index, change) in changes.iter().enumerate() {
            let is_own = matching.matched.iter().any(|one| one.change == index && one.event == event.id);
            if is_own { &mut near.own } else { &mut near.others }.push(change.first_after);
        }
        near
    };
    SeriesAnalysis {
        summary: summarise_series(series, columns, blockers, &changes, &options.summary),
        event_effects: within
            .skip(latest)
            .map(|event| {
                event_effect(&observations, event, &options.event_windows, &near(event), &comparison)
            })
            .collect(),
        events: matching,
        periodicity: find_periodicity(
            &values,
            &within_levels(&values, &changes),
            &options.summary.local_time,
        ),
        by_covariate: by_covariates((series, columns), covariates, &changes, &options.summary),
        changes,
        drift: found.drift,
        not_told: found.not_told,
    }
}

pub(super) fn comparison_options(options: &HistoryOptions) -> ComparisonOptions {
    ComparisonOptions {
        thresholds: options.summary.thresholds.clone(),
        local_time: options.summary.local_time.clone(),
        stratify: options.stratify,
        ..ComparisonOptions::default()
    }
}

fn span_of(values: &TimedValues) -> WallSpan {
    match (values.moments().first(), values.moments().last()) {
        (Some(first), Some(last)) => WallSpan { begin: *first, end: *last },
        _ => WallSpan { begin: WallTime(0), end: WallTime(0) },
    }
}

/// What ranks are made of, by the median of each level, so that a change of level is no period.
fn within_levels(values: &TimedValues, changes: &[ChangePoint]) -> Vec<f64> {
    let mut relative = values.ordered();
    if changes.is_empty() {
        return relative;
    }
    for segment in segments_of(changes, values.len()) {
        let median = values.part(segment.first, segment.end).median().map_or(1.0, |median| median.0);
        relative[segment.first..segment.end].iter_mut().for_each(|value| *value /= median.max(1e-9));
    }
    relative
}

fn all_episodes(input: &HistoryInput, series: &[SeriesAnalysis], options: &HistoryOptions) -> Vec<Episode> {
    let of_series = input
        .series
        .iter()
        .zip(series)
        .filter(|((series, _), _)| series.kind.is_duration() && series.key.part.is_empty());
    let mut found: Vec<SeriesEpisode> = Vec::new();
    for ((series, columns), analysed) in of_series {
        found.extend(find_episodes(series, columns, &analysed.changes, &options.episodes));
    }
    // Tasks of one round run one after the other: half a period joins them and not the next round.
    merge_episodes(found, Nanoseconds(shortest_period(input).0 / 2))
}

fn shortest_period(input: &HistoryInput) -> Nanoseconds {
    let durations = input.series.iter().filter(|(series, _)| series.kind.is_duration());
    let spacing = |(_, columns): &(Series, HistoryColumns)| {
        TimedValues::known(&columns.intended, &vec![0.0; columns.len()]).usual_spacing()
    };
    durations.filter_map(spacing).min().unwrap_or(Nanoseconds::ZERO)
}

fn associations(
    input: &HistoryInput,
    episodes: &[Episode],
    begin: Option<WallTime>,
    end: Option<WallTime>,
    options: &HistoryOptions,
) -> Vec<Association> {
    let (Some(begin), Some(end)) = (begin, end) else { return Vec::new() };
    let default = || default_association_tolerance(shortest_period(input), end.since(begin));
    let tolerance = options.association_tolerance_ns.unwrap_or_else(default);
    let events: Vec<&Event> = input.events.iter().collect();
    let watched = input.series.iter().map(|(series, _)| series.key.host.as_str()).collect();
    associate(episodes, &events, &watched, WallSpan { begin, end }, tolerance, options.matrix.seed)
}

/// The same whole task on every two targets of a host, and from every two hosts on the same target. The control is compared with
/// nothing: it is memory.
fn comparisons(input: &HistoryInput, options: &HistoryOptions) -> Vec<SeriesComparison> {
    let whole: Vec<(&Series, Observations<ByAttempt>)> = input
        .series
        .iter()
        .filter(|(series, _)| {
            series.kind.is_duration() && series.kind != SeriesKind::Control && series.key.part.is_empty()
        })
        .map(|(series, columns)| (series, Observations::by_attempt(series, columns)))
        .collect();
    let mut wanted = Vec::new();
    for (index, first) in whole.iter().enumerate() {
        for second in &whole[index + 1..] {
            let (one, other) = (&first.0.key, &second.0.key);
            if one.task == other.task && (one.host == other.host || one.target == other.target) {
                wanted.push((first, second));
            }
        }
    }
    let compared = comparison_options(options);
    let found = parallel::map(&wanted, |((first, first_observed), (second, second_observed))| {
        let comparison = compare(first_observed, second_observed, &compared)?;
        Some(SeriesComparison { first: first.key.clone(), second: second.key.clone(), comparison })
    });
    found.into_iter().flatten().collect()
}
