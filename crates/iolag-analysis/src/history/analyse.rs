//! Everything that a report on a history needs, in one value.
//!
//! ```text
//! series, events, outages, … -> summaries by series -> changes, periods, episodes -> correlations, associations -> ledger -> findings
//! ```
//!
//! Invariants: the same input gives the same analysis, in whichever order series and records come; names in JSON are stable.
//! Limits: changes are matched with, and compared before and after, what people noted, lists and configurations, not with lines of the
//! journal, of which there is always one nearby; these are asked whether they come with episodes.

use iolag_model::{Event, Nanoseconds, Series, SeriesKind, WallSpan};

use super::analysis::{HISTORY_SCHEMA, HistoryAnalysis, SeriesComparison};
use super::comparison::compare;
use super::configurations::by_day::by_day;
use super::configurations::ranking::rankings;
use super::correlation::matrix::correlation_matrix;
use super::episodes::association::{Association, associate, default_association_tolerance};
use super::episodes::bad_overlap::bad_overlaps;
use super::episodes::gaps::find_gaps;
use super::episodes::search::{Episode, merge_episodes};
use super::findings::all::findings_of;
use super::input::{BesideSamples, HistoryInput, in_order};
use super::multiple_testing::settle;
use super::options::{HistoryOptions, comparison_options};
use super::series::analysis::read_all;
use super::series::kept_amounts::Amounts;
use super::source::{InMemory, SampleSource};
use crate::parallel;

/// Analyses a history that is in memory.
pub fn analyse_history(input: &HistoryInput, options: &HistoryOptions) -> HistoryAnalysis {
    let input = &*in_order(input);
    let series: Vec<Series> = input.series.iter().map(|(series, _)| series.clone()).collect();
    match analyse_source(&series, InMemory::new(input), &input.beside_samples(), options) {
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
    told: &BesideSamples<'_>,
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
        by_day: by_day(&whole, told.configurations, &options.summary.local_time),
        host_rankings: rankings(&whole, told.configurations, options.matrix.seed),
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

fn associations(
    series: &[Series],
    told: &BesideSamples<'_>,
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
