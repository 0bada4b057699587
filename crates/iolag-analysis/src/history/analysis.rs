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

use iolag_model::{
    Configuration, ConfigurationKey, Event, Evidence, HistoryColumns, Nanoseconds, Outage, ProbeId, Series,
    SeriesKey, SeriesKind, WallSpan, WallTime, WatchSession,
};
use serde::Serialize;

use super::changes::change_points::ChangeOptions;
use super::changes::event_effect::EventWindows;
use super::comparison::{Comparison, ComparisonOptions, Stratify, compare};
use super::correlation::matrix::{CorrelationMatrix, MatrixOptions, correlation_matrix};
use super::episodes::association::{Association, associate, default_association_tolerance};
use super::episodes::bad_overlap::{BadOverlap, bad_overlaps};
use super::episodes::gaps::{Gap, find_gaps};
use super::episodes::search::{Episode, EpisodeOptions, merge_episodes};
use super::findings::finding::{HistoryFinding, findings_of};
use super::multiple_testing::settle;
use super::series::analysis::{SeriesAnalysis, read_all};
use super::series::kept_amounts::Amounts;
use super::series::summary::SummaryOptions;
use super::source::{InMemory, SampleSource};
use crate::parallel;

/// Version of the form of [`HistoryAnalysis`] in files.
pub const HISTORY_SCHEMA: u32 = 1;

/// What a history holds of the time that is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a kind of HistoryRecord")]
pub struct HistoryInput {
    pub series: Vec<(Series, HistoryColumns)>,
    pub events: Vec<Event>,
    pub outages: Vec<Outage>,
    pub configurations: Vec<Configuration>,
    pub sessions: Vec<WatchSession>,
    /// What is known of the [`last_failed`](super::last_failed) probe of each series.
    pub failures: Vec<Evidence>,
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
    /// How far apart a change and its event may be; absent: see [`default_match_tolerance`](super::default_match_tolerance).
    pub match_tolerance_ns: Option<Nanoseconds>,
    /// How far from an episode an event may be; absent: see [`default_association_tolerance`].
    pub association_tolerance_ns: Option<Nanoseconds>,
    /// How much time before and after an event is compared.
    pub event_windows: EventWindows,
    /// Which attempts are compared with which.
    pub stratify: Stratify,
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

/// What a history tells beside samples, in the order of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a kind of HistoryRecord")]
pub struct Told<'a> {
    pub events: &'a [Event],
    pub outages: &'a [Outage],
    pub configurations: &'a [Configuration],
    pub sessions: &'a [WatchSession],
}

/// Analyses a history that is in memory.
pub fn analyse_history(input: &HistoryInput, options: &HistoryOptions) -> HistoryAnalysis {
    let input = &*in_order(input);
    let series: Vec<Series> = input.series.iter().map(|(series, _)| series.clone()).collect();
    match analyse_source(&series, InMemory::new(input), &input.told(), options) {
        Ok(analysis) => analysis,
        Err(never) => match never {},
    }
}

/// Analyses these series of a history, whose samples are read one series after the other. What is kept of each is a quarter of what was read.
///
/// # Errors
/// The first of the source.
pub fn analyse_source<'a, S: SampleSource<'a>>(
    series: &[Series],
    source: S,
    told: &Told<'_>,
    options: &HistoryOptions,
) -> Result<HistoryAnalysis, S::Error> {
    let read = read_all(series, source, told, options)?;
    let covered = read.iter().filter_map(|one| one.covered);
    let (begin, end) = (covered.clone().map(|span| span.begin).min(), covered.map(|span| span.end).max());
    let covered = begin.zip(end).map(|(begin, end)| WallSpan { begin, end });
    let shortest_period = read.iter().filter_map(|one| one.spacing).min().unwrap_or(Nanoseconds::ZERO);
    let (mut analysed, mut found, mut of_host, mut whole) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for one in read {
        analysed.push(one.analysis);
        found.extend(one.episodes);
        of_host.extend(one.of_host);
        whole.extend(one.amounts);
    }
    // Tasks of one round run one after the other: half a period joins them and not the next round.
    let episodes = merge_episodes(found, Nanoseconds(shortest_period.0 / 2));
    let mut analysis = HistoryAnalysis {
        schema: HISTORY_SCHEMA,
        begin,
        end,
        gaps: find_gaps(&whole, told.sessions),
        comparisons: comparisons(&whole, options),
        correlations: correlation_matrix(whole, of_host, &options.matrix, &options.summary.local_time),
        bad_overlaps: covered
            .map(|covered| {
                bad_overlaps(series, told.outages, &episodes, covered, &options.summary.local_time)
            })
            .unwrap_or_default(),
        associations: covered
            .map(|covered| associations(series, told, &episodes, covered, (shortest_period, options)))
            .unwrap_or_default(),
        episodes,
        outages: told.outages.to_vec(),
        events: told.events.to_vec(),
        configurations: told.configurations.to_vec(),
        series: analysed,
        findings: Vec::new(),
    };
    settle(&mut analysis);
    analysis.findings = findings_of(&analysis);
    Ok(analysis)
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

    /// From the first slot to the last; nothing without samples.
    pub fn covered(&self) -> Option<WallSpan> {
        let moments = || self.series.iter().flat_map(|(_, columns)| columns.intended.iter().copied());
        Some(WallSpan { begin: moments().min()?, end: moments().max()? })
    }

    /// What it tells beside samples.
    pub fn told(&self) -> Told<'_> {
        Told {
            events: &self.events,
            outages: &self.outages,
            configurations: &self.configurations,
            sessions: &self.sessions,
        }
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

pub(crate) fn comparison_options(options: &HistoryOptions) -> ComparisonOptions {
    ComparisonOptions {
        thresholds: options.summary.thresholds.clone(),
        local_time: options.summary.local_time.clone(),
        stratify: options.stratify,
        ..ComparisonOptions::default()
    }
}

fn associations(
    series: &[Series],
    told: &Told<'_>,
    episodes: &[Episode],
    covered: WallSpan,
    (shortest_period, options): (Nanoseconds, &HistoryOptions),
) -> Vec<Association> {
    let default = || default_association_tolerance(shortest_period, covered.end.since(covered.begin));
    let tolerance = options.association_tolerance_ns.unwrap_or_else(default);
    let events: Vec<&Event> = told.events.iter().collect();
    let watched = series.iter().map(|series| series.key.host.as_str()).collect();
    let (local_time, seed) = (&options.summary.local_time, options.matrix.seed);
    associate(episodes, &events, &watched, (covered, local_time), tolerance, seed)
}

/// The same whole task on every two targets of a host, and from every two hosts on the same target. The control is compared with
/// nothing: it is memory.
fn comparisons(whole: &[Amounts], options: &HistoryOptions) -> Vec<SeriesComparison> {
    let compared = comparison_options(options);
    let is_compared =
        |one: &&Amounts| one.series.kind.is_duration() && one.series.kind != SeriesKind::Control;
    let whole: Vec<&Amounts> = whole.iter().filter(is_compared).collect();
    let mut comparisons = Vec::new();
    for (index, first) in whole.iter().enumerate() {
        let may_be = |second: &&Amounts| {
            let (one, other) = (&first.series.key, &second.series.key);
            one.task == other.task && (one.host == other.host || one.target == other.target)
        };
        let others: Vec<&Amounts> = whole[index + 1..].iter().copied().filter(may_be).collect();
        if others.is_empty() {
            continue;
        }
        let observed = first.observations();
        // Both samples are there several times, in several orders.
        let values = |second: &&Amounts| 2 * (observed.list().len() + second.intended().len());
        let found = parallel::map_large(&others, values, |second| {
            let comparison = compare(&observed, &second.observations(), &compared)?;
            let (first, second) = (first.series.key.clone(), second.series.key.clone());
            Some(SeriesComparison { first, second, comparison })
        });
        comparisons.extend(found.into_iter().flatten());
    }
    comparisons
}
