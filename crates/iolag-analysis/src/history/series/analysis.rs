//! One series after the other: each is read, analysed by itself and forgotten but for its [`Amounts`].
//!
//! Values that others are told by (covariates) come first. Several threads work, each on a series of its own.

use std::sync::{Arc, Mutex, PoisonError};

use iolag_model::{
    Event, EventSource, HistoryColumns, Nanoseconds, Series, SeriesKey, SeriesKind, WallSpan, WallTime,
};
use serde::{Deserialize, Serialize};

use super::covariates::{Covariate, CovariateStrata, by_covariates, is_covariate};
use super::kept_amounts::Amounts;
use super::modes::Modes;
use super::observations::{Blockers, ByAttempt, Observations};
use super::summary::{SeriesSummary, summarise_series};
use super::timed_values::quantity_of;
use super::timed_values::{TimedValues, usual_spacing};
use crate::history::calendar::daily_levels::DailyLevels;
use crate::history::calendar::periodicity::{Periodicity, find_periodicity};
use crate::history::changes::change_point::{ChangePoint, ChangeStrength, NotTold, segments_of};
use crate::history::changes::drift::Drift;
use crate::history::changes::event_effect::{ChangesNearEvent, EventEffect, event_effect};
use crate::history::changes::event_matching::{
    EventMatching, concerns, default_match_tolerance, match_events,
};
use crate::history::changes::nights::find_changes_of_nights;
use crate::history::changes::runs::Runs;
use crate::history::changes::search::{Changes, find_changes};
use crate::history::comparison::{ComparisonOptions, KindsOfDay};
use crate::history::correlation::matrix::{CorrelatedPair, pairs_of_host};
use crate::history::episodes::search::{SeriesEpisode, find_episodes};
use crate::history::input::BesideSamples;
use crate::history::options::{HistoryOptions, comparison_options};
use crate::history::source::{SampleSource, blockers_asked, last_failed};
use crate::parallel;

/// Events of one series whose effect is computed: the latest.
const EVENT_EFFECTS_MOST: usize = 50;

/// Samples of a series beside which no other is in memory.
const LONG: usize = 250_000;

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
    /// How the last attempt that failed did so, if its command said it.
    pub last_failure: Option<LastFailure>,
}

/// How an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    /// When it began.
    pub begin: WallTime,
    /// As in `exit status 2: no such project`.
    pub said: String,
}

impl SeriesAnalysis {
    /// Its modes, unless a change explains them: what was fast until some day and slow from then on has a change and no modes.
    pub fn modes(&self) -> Option<&Modes> {
        let modes = self.summary.modes.as_ref()?;
        let distance = modes.ratios.iter().copied().fold(1.0_f64, f64::max);
        let steps = self.changes.iter().filter_map(|change| change.ratio.value);
        let is_explained = steps.map(|ratio| ratio.ln().abs()).any(|step| step >= distance.ln() / 2.0);
        (!is_explained).then_some(modes)
    }

    /// Whether this event is told to lie next to a change of its level.
    pub fn changed_near(&self, event: &Event) -> bool {
        self.events.matched.iter().any(|matched| matched.event == event.id)
    }
}

/// What is left of a series once it was read.
pub(crate) struct ReadSeries {
    pub(crate) analysis: SeriesAnalysis,
    pub(crate) episodes: Vec<SeriesEpisode>,
    /// From the first slot to the last.
    pub(crate) covered: Option<WallSpan>,
    /// The usual time between two slots; absent for values.
    pub(crate) spacing: Option<Nanoseconds>,
    /// How it goes together with what was read of the host.
    pub(crate) of_host: Vec<CorrelatedPair>,
    /// Absent for parts of tasks, and of benchmarks.
    pub(crate) amounts: Option<Amounts>,
    /// Of benchmarks.
    runs: Option<Runs>,
}

/// All of these series, in the order of their keys.
///
/// # Errors
/// The first of the source.
pub(crate) fn read_all<'a, S: SampleSource<'a>>(
    series: &[Series],
    source: S,
    told: &BesideSamples<'_>,
    options: &HistoryOptions,
) -> Result<Vec<ReadSeries>, S::Error> {
    let source = Mutex::new(source);
    let is_first = |kind: SeriesKind| is_covariate(kind) || kind == SeriesKind::BenchmarkControl;
    let (first, then): (Vec<&Series>, Vec<&Series>) = series.iter().partition(|series| is_first(series.kind));
    let read = |which: &[&Series], covariates: &[Covariate<'_>], controls: &[(SeriesKey, Runs)]| {
        let beside = Beside { all: series, told, options, covariates, controls };
        let all = parallel::map(which, |series| read_one(series, &source, &beside));
        all.into_iter().collect::<Result<Vec<ReadSeries>, S::Error>>()
    };
    let mut all = read(&first, &[], &[])?;
    let runs = |one: &mut ReadSeries| Some((one.analysis.summary.series.key.clone(), one.runs.take()?));
    let controls: Vec<(SeriesKey, Runs)> = all.iter_mut().filter_map(runs).collect();
    let covariates: Vec<Covariate<'_>> =
        all.iter().filter_map(|one| Covariate::of(one.amounts.as_ref()?)).collect();
    let others = read(&then, &covariates, &controls)?;
    drop(covariates);
    all.extend(others);
    source.into_inner().unwrap_or_else(PoisonError::into_inner).all_read();
    all.sort_by(|one, other| one.analysis.summary.series.key.cmp(&other.analysis.summary.series.key));
    Ok(all)
}

/// What else is known when a series is read.
struct Beside<'a> {
    all: &'a [Series],
    told: &'a BesideSamples<'a>,
    options: &'a HistoryOptions,
    covariates: &'a [Covariate<'a>],
    controls: &'a [(SeriesKey, Runs)],
}

impl Beside<'_> {
    /// When the level of a series changed.
    fn changes_of(&self, series: &Series, runs: Option<&Runs>, values: &TimedValues) -> Changes {
        let Some(runs) = runs else {
            return find_changes(values, &self.options.summary.local_time, &self.options.changes);
        };
        let key = &series.key;
        let is_control = |other: &SeriesKey| (&other.host, &other.task) == (&key.host, &key.task);
        let controls = self.controls.iter().filter(|(other, _)| is_control(other)).map(|(_, runs)| runs);
        let controls: Vec<&Runs> = controls.collect();
        let is_of_table = |other: &&Series| {
            other.kind == series.kind && (&other.key.host, &other.key.target) == (&key.host, &key.target)
        };
        let family = self.all.iter().filter(is_of_table).count();
        find_changes_of_nights(runs, &controls, values.moments(), family)
    }
}

fn read_one<'a, S: SampleSource<'a>>(
    series: &Series,
    source: &Mutex<S>,
    beside: &Beside<'_>,
) -> Result<ReadSeries, S::Error> {
    let options = beside.options;
    let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
    let columns = source.samples(series)?;
    let asked = blockers_asked(&columns);
    let blockers = if asked.is_empty() { Arc::default() } else { source.blockers(series, &asked)? };
    let last_failure = match last_failed(&columns) {
        Some((probe, begin)) => source.failure(series, probe)?.map(|said| LastFailure { begin, said }),
        None => None,
    };
    // Nobody else reads while a long one is in memory.
    let alone = (columns.len() > LONG).then_some(source);
    let values = TimedValues::read(series, &columns, quantity_of(series));
    let is_of_runs = series.kind.is_of_runs();
    let runs = is_of_runs.then(|| Runs::of(&columns, beside.told.configurations, quantity_of(series)));
    let found = beside.changes_of(series, runs.as_ref(), &values);
    let mut analysis = analyse_series(series, &columns, &values, (&blockers, found), beside);
    analysis.last_failure = last_failure;
    // What goes together with something must be measured more often than once a night.
    let is_whole = series.key.part.is_empty() && !is_of_runs;
    let is_duration = series.kind.is_duration();
    let episodes = if is_duration && is_whole {
        find_episodes(series, &columns, &analysis.changes, &options.episodes)
    } else {
        Vec::new()
    };
    let of_host = if is_whole {
        pairs_of_host(series, &columns, &values, &options.matrix, &options.summary.local_time)
    } else {
        Vec::new()
    };
    let ends = analysis.summary.first.zip(analysis.summary.last);
    let read = ReadSeries {
        analysis,
        episodes,
        covered: ends.map(|(begin, end)| WallSpan { begin, end }),
        spacing: if is_duration { usual_spacing(&columns.intended) } else { None },
        of_host,
        amounts: is_whole.then(|| Amounts::of(series, columns, &blockers)),
        runs,
    };
    drop(alone);
    Ok(read)
}

fn analyse_series(
    series: &Series,
    columns: &HistoryColumns,
    values: &TimedValues,
    (blockers, found): (&Blockers, Changes),
    beside: &Beside<'_>,
) -> SeriesAnalysis {
    let (quantity, options) = (quantity_of(series), beside.options);
    let levels = found.levels();
    let changes = found.steps;
    let concerned: Vec<&Event> = beside
        .told
        .events
        .iter()
        .filter(|event| event.source != EventSource::Journal && concerns(event, &series.key))
        .collect();
    let tolerance = options.match_tolerance_ns.unwrap_or_else(|| default_match_tolerance(values.covered()));
    let covered = span_of(values);
    let within = concerned.iter().filter(|event| covered.contains(event.begin));
    let latest = within.clone().count().saturating_sub(EVENT_EFFECTS_MOST);
    let matching = match_events(&changes, &concerned, covered, tolerance);
    let near = |event: &Event| -> ChangesNearEvent {
        let mut near = ChangesNearEvent::default();
        for (index, change) in changes.iter().enumerate() {
            let is_own = matching.matched.iter().any(|one| one.change == index && one.event == event.id);
            let moments = change.began.into_iter().chain([change.first_after]);
            if is_own { &mut near.own } else { &mut near.others }.extend(moments);
        }
        near
    };
    let is_of_runs = series.kind.is_of_runs();
    // What compares attempts before and after an event knows nothing of nights.
    let told: Vec<&&Event> = within.skip(latest).filter(|_| !is_of_runs).collect();
    let event_effects = if told.is_empty() {
        Vec::new()
    } else {
        let observations = Observations::<ByAttempt>::by_attempt(series, columns);
        let daily = DailyLevels::of(values, quantity, &levels, &options.summary.local_time);
        let kinds_of_day = KindsOfDay::Apart;
        let comparison = ComparisonOptions { daily, kinds_of_day, ..comparison_options(options) };
        let effect = |event: &&&Event| {
            event_effect(&observations, event, &options.event_windows, &near(event), &comparison)
        };
        told.iter().map(effect).collect()
    };
    let summary = summarise_series(series, columns, blockers, [&changes, &levels], &options.summary);
    SeriesAnalysis {
        event_effects,
        events: matching,
        periodicity: (!is_of_runs)
            .then(|| find_periodicity(values, &within_levels(values, &levels), &options.summary.local_time))
            .flatten(),
        by_covariate: by_covariates(
            (series, columns),
            (beside.covariates, beside.all),
            &levels,
            &options.summary,
        ),
        changes: as_strong_as_levels(changes, &summary),
        summary,
        drift: found.drift,
        not_told: found.not_told,
        last_failure: None,
    }
}

/// A change is no stronger evidence than what the levels beside it, as they are printed, are worth.
fn as_strong_as_levels(mut changes: Vec<ChangePoint>, summary: &SeriesSummary) -> Vec<ChangePoint> {
    for (change, levels) in changes.iter_mut().zip(summary.regimes.windows(2)) {
        let worth = levels.iter().map(|level| level.summary.sample_size.effective);
        change.strength = change.strength.min(ChangeStrength::of(worth.fold(f64::INFINITY, f64::min)));
    }
    changes
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

#[cfg(test)]
mod tests {
    use iolag_model::Outcome;

    use super::*;
    use crate::history::analyse::analyse_history;
    use crate::history::comparison::ComparisonVerdict;
    use crate::history::input::HistoryInput;
    use crate::statistics::knowledge::Knowledge;
    use iolag_fixtures::made_up_series::{columns_of, series_of};
    use iolag_model::Random;

    #[test]
    fn two_levels_one_after_the_other_are_no_modes() {
        let modes = |is_slow: fn(i64) -> bool| {
            let mut noise = Random::new(3);
            let columns = columns_of((0..2000).map(|slot| {
                let level = if is_slow(slot) { 600.0 } else { 25.0 };
                (slot * 900, (level * f64::exp(0.1 * noise.normal())) as u64, Outcome::Ok)
            }));
            let input = HistoryInput {
                series: vec![(series_of("list", "/home"), columns)],
                ..HistoryInput::default()
            };
            let series = analyse_history(&input, &HistoryOptions::default()).series.remove(0);
            (series.summary.modes.is_some(), series.modes().is_some())
        };
        assert_eq!(modes(|slot| slot >= 1000), (true, false));
        assert_eq!(modes(|slot| slot % 3 == 1), (true, true));
    }

    #[test]
    fn what_lies_between_two_levels_is_in_neither() {
        let mut noise = Random::new(11);
        let columns = columns_of((0..2016).map(|slot| {
            let share = ((slot as f64 - 700.0) / 400.0).clamp(0.0, 1.0);
            (slot * 900, (300.0 * (0.5 * noise.normal() + share * 4.0_f64.ln()).exp()) as u64, Outcome::Ok)
        }));
        let input =
            HistoryInput { series: vec![(series_of("list", "/home"), columns)], ..HistoryInput::default() };
        let analysis = analyse_history(&input, &Default::default());
        let (of, regimes) = (&analysis.series[0], &analysis.series[0].summary.regimes);
        assert_eq!((of.changes.len(), regimes.len()), (1, 2), "{:?}", of.changes);
        assert_eq!(
            (regimes[0].until, regimes[1].since),
            (of.changes[0].began, Some(of.changes[0].first_after))
        );
        assert!(regimes.iter().map(|one| one.summary.counts.exact).sum::<u64>() < 1800, "{regimes:?}");
        assert!(of.changes[0].strength > ChangeStrength::Weak, "{:?}", of.changes);
    }

    #[test]
    fn a_change_that_is_told_is_no_reason_to_call_the_event_at_it_too_little_known() {
        let of_seed = |seed: u64| {
            let (mut noise, mut state) = (Random::new(seed), 0.0);
            let columns = columns_of((0..1344).map(|slot| {
                state = 0.8 * state + 0.36 * noise.normal();
                let level = if slot < 672 { 250.0 } else { 1000.0 };
                (slot * 900, (level * f64::exp(state)) as u64, Outcome::Ok)
            }));
            let event = Event::of_all(EventSource::Note, WallTime::from_seconds(672 * 900));
            let series = vec![(series_of("list", "/home"), columns)];
            let input = HistoryInput { series, events: vec![event], ..HistoryInput::default() };
            analyse_history(&input, &HistoryOptions::default()).series.remove(0)
        };
        let told: Vec<SeriesAnalysis> =
            (0..20).map(of_seed).filter(|one| !one.events.matched.is_empty()).collect();
        let verdicts = told.iter().map(|one| one.event_effects[0].comparison.verdict);
        let slower = verdicts.filter(|verdict| *verdict == ComparisonVerdict::Slower).count();
        assert!(told.len() >= 15 && slower * 4 >= told.len() * 3, "{slower} of {}", told.len());
    }

    #[test]
    fn a_benchmark_of_which_nothing_is_known_any_more_has_changed() {
        let outcome = |night| if night < 5 { Outcome::Ok } else { Outcome::Error };
        let mut columns = columns_of((0..10).map(|night| (night * 86_400, 0, outcome(night))));
        columns.value[..5].copy_from_slice(&[500.0, 507.0, 496.0, 502.0, 499.0]);
        let series = Series {
            kind: SeriesKind::Benchmark,
            unit: "/s".to_owned(),
            ..series_of("/scratch", "metadata read")
        };
        let input = HistoryInput { series: vec![(series, columns)], ..HistoryInput::default() };
        let series = analyse_history(&input, &HistoryOptions::default()).series.remove(0);
        let [change] = series.changes[..] else { panic!("{:?}", series.changes) };
        assert_eq!(change.first_after, WallTime::from_seconds(5 * 86_400));
        assert_eq!((change.median_after.round(), change.median_after_is), (496.0, Knowledge::AtMost));
    }

    #[test]
    fn a_change_is_no_stronger_than_its_levels_are_worth() {
        let mut noise = Random::new(15);
        let columns = columns_of((0..2000).map(|slot| {
            let level = if slot < 1000 { 200.0 } else { 900.0 };
            (slot * 900, (level * (0.2 * noise.normal()).exp()) as u64, Outcome::Ok)
        }));
        let input =
            HistoryInput { series: vec![(series_of("/home", "list"), columns)], ..HistoryInput::default() };
        let series = analyse_history(&input, &HistoryOptions::default()).series.remove(0);
        assert_eq!(series.changes[0].strength, ChangeStrength::Strong);
        let mut summary = series.summary;
        summary.regimes[1].summary.sample_size.effective = 1.5;
        let changes = as_strong_as_levels(series.changes, &summary);
        assert_eq!(changes[0].strength, ChangeStrength::Weak);
    }
}
