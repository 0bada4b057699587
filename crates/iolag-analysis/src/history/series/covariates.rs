//! A series by levels of what was asked beside it: is storage slow when many jobs run on the node?
//!
//! Each attempt belongs to the value of the covariate that is nearest in time, at most half the longer of the two periods away. The
//! values that attempts have are cut at their terciles, so that a level has about a third of the attempts; of up to three different
//! values each is a level. Equal values are never parted, and a covariate that does not change has no levels. Each level is
//! summarised by attempt, with intervals.
//!
//! Limits: levels are those of one series and of the time that is looked at, so those of two series may differ a little. They tell what was
//! there at the same time and not what was the cause: jobs also pile up because storage is slow.

use iolag_model::{HistoryColumns, Nanoseconds, Outcome, Series, SeriesKey, SeriesKind, WallTime};
use serde::Serialize;

use super::kept_amounts::Amounts;
use super::observations::{ByAttempt, Observations};
use super::summary::{SummaryOptions, WeightedSummary};
use super::timed_values::TimedValues;
use crate::history::changes::change_point::ChangePoint;
use crate::history::correlation::join::{default_tolerance, nearest};

/// How many levels there are at most.
const LEVELS_MOST: usize = 3;
/// Attempts that each level needs; a smaller one is joined with its neighbour.
const ATTEMPTS_LEAST: usize = 20;

/// A series by levels of a covariate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CovariateStrata {
    /// By what.
    pub covariate: SeriesKey,
    /// Its unit; may be empty.
    pub unit: String,
    /// From the lowest to the highest; at least two.
    pub levels: Vec<CovariateLevel>,
    /// Attempts without a value of the covariate near them.
    pub left_out: u64,
}

/// The attempts of a series while a covariate was between two values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CovariateLevel {
    /// The smallest value of the covariate.
    pub least_value: f64,
    /// The greatest.
    pub greatest_value: f64,
    /// What the attempts took; each counts once.
    #[serde(flatten)]
    pub summary: WeightedSummary,
}

/// Values that something can be stratified by.
#[derive(Debug)]
pub(crate) struct Covariate<'a> {
    series: &'a Series,
    values: TimedValues,
}

impl<'a> Covariate<'a> {
    /// Of a covariate or an imported value.
    pub(crate) fn of(amounts: &'a Amounts) -> Option<Self> {
        is_covariate(amounts.series.kind).then(|| Self { series: &amounts.series, values: amounts.values() })
    }
}

/// Whether attempts are told by the values of such a series.
pub(crate) const fn is_covariate(kind: SeriesKind) -> bool {
    matches!(kind, SeriesKind::Covariate | SeriesKind::ImportedValue)
}

/// Whether nothing of this host is a duration: it is a server or the like, and what was read of it concerns all hosts.
fn is_of_server(host: &str, all: &[Series]) -> bool {
    !all.iter().any(|series| series.key.host == host && series.kind.is_duration())
}

/// The durations of a whole task by each covariate of the same host, or of a server, that has levels, in the order given; `all` are the series of
/// the history.
pub(crate) fn by_covariates(
    (series, columns): (&Series, &HistoryColumns),
    (covariates, all): (&[Covariate<'_>], &[Series]),
    changes: &[ChangePoint],
    options: &SummaryOptions,
) -> Vec<CovariateStrata> {
    if !series.kind.is_duration() || !series.key.part.is_empty() {
        return Vec::new();
    }
    let concerns = |covariate: &&Covariate<'_>| {
        let host = &covariate.series.key.host;
        *host == series.key.host || is_of_server(host, all)
    };
    covariates
        .iter()
        .filter(concerns)
        .filter_map(|covariate| strata_of((series, columns), covariate, changes, options))
        .collect()
}

fn strata_of(
    (series, columns): (&Series, &HistoryColumns),
    covariate: &Covariate<'_>,
    changes: &[ChangePoint],
    options: &SummaryOptions,
) -> Option<CovariateStrata> {
    let (valued, left_out) = attempts_with_values(columns, &covariate.values);
    let levels = levels_of(valued);
    (levels.len() >= 2).then(|| CovariateStrata {
        covariate: covariate.series.key.clone(),
        unit: covariate.series.unit.clone(),
        levels: levels.iter().map(|level| summarised((series, columns), level, changes, options)).collect(),
        left_out,
    })
}

/// An attempt and the value of the covariate at that time.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Valued {
    row: usize,
    value: f64,
}

/// The attempts that have a value, and how many have none.
fn attempts_with_values(columns: &HistoryColumns, values: &TimedValues) -> (Vec<Valued>, u64) {
    let mut rows: Vec<usize> =
        (0..columns.len()).filter(|row| columns.outcome[*row] != Outcome::Skipped).collect();
    rows.sort_by_key(|row| columns.start[*row]);
    let starts: Vec<WallTime> = rows.iter().map(|row| columns.start[*row]).collect();
    let attempts = TimedValues::known(&starts, &vec![0.0; starts.len()]);
    let tolerance: Nanoseconds = default_tolerance(&attempts, values);
    let nanoseconds = |moments: &[WallTime]| moments.iter().map(|moment| moment.0).collect::<Vec<i64>>();
    let places = nearest(&nanoseconds(&starts), &nanoseconds(values.moments()));
    let value_of = |(index, place): (usize, Option<usize>)| {
        let place = place?;
        let apart = starts[index].0.abs_diff(values.moments()[place].0);
        let value = values.values()[place];
        (apart <= tolerance.0 && value.is_finite()).then_some(Valued { row: rows[index], value })
    };
    let valued: Vec<Valued> = places.into_iter().enumerate().filter_map(value_of).collect();
    let left_out = (rows.len() - valued.len()) as u64;
    (valued, left_out)
}

/// Levels from the lowest to the highest; one, or none, if the values cannot be parted.
fn levels_of(mut valued: Vec<Valued>) -> Vec<Vec<Valued>> {
    valued.sort_by(|one, other| one.value.total_cmp(&other.value));
    let ends = upper_ends(&valued);
    let mut levels: Vec<Vec<Valued>> = Vec::new();
    for part in valued.chunk_by(|one, other| level_of(one.value, &ends) == level_of(other.value, &ends)) {
        match levels.last_mut() {
            Some(last) if last.len() < ATTEMPTS_LEAST || part.len() < ATTEMPTS_LEAST => last.extend(part),
            _ => levels.push(part.to_vec()),
        }
    }
    levels
}

/// The greatest value of each level but the last: each value if there are few, else the terciles. `valued` ascends.
fn upper_ends(valued: &[Valued]) -> Vec<f64> {
    let mut distinct: Vec<f64> = valued.iter().map(|one| one.value).collect();
    distinct.dedup();
    if distinct.len() <= LEVELS_MOST {
        distinct.pop();
        return distinct;
    }
    let end = |cut: usize| Some(valued.get((valued.len() * cut / LEVELS_MOST).checked_sub(1)?)?.value);
    let mut ends: Vec<f64> = (1..LEVELS_MOST).filter_map(end).collect();
    ends.dedup();
    ends
}

fn level_of(value: f64, ends: &[f64]) -> usize {
    ends.partition_point(|end| *end < value)
}

fn summarised(
    (series, columns): (&Series, &HistoryColumns),
    level: &[Valued],
    changes: &[ChangePoint],
    options: &SummaryOptions,
) -> CovariateLevel {
    let values = || level.iter().map(|valued| valued.value);
    let rows = level.iter().map(|valued| valued.row);
    let observations = Observations::<ByAttempt>::of_rows(series, columns, rows).with_changes(changes);
    CovariateLevel {
        least_value: values().fold(f64::INFINITY, f64::min),
        greatest_value: values().fold(f64::NEG_INFINITY, f64::max),
        summary: WeightedSummary::of(&observations, options),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::super::estimate::Estimate;
    use super::super::observations::Blockers;
    use super::*;
    use iolag_fixtures::made_up_series::{columns_of, series_of};

    /// One value every quarter of an hour, some minutes after the attempts.
    fn jobs(values: impl IntoIterator<Item = f64>, offset_seconds: i64) -> (Series, HistoryColumns) {
        let mut series = series_of("", "jobs");
        series.kind = SeriesKind::Covariate;
        series.unit = "jobs".to_owned();
        let values: Vec<f64> = values.into_iter().collect();
        let rows = (0..values.len() as i64).map(|slot| (slot * 900 + offset_seconds, 0, Outcome::Ok));
        let mut columns = columns_of(rows);
        columns.value = values;
        (series, columns)
    }

    fn attempts(count: i64, milliseconds: impl Fn(i64) -> u64) -> HistoryColumns {
        columns_of((0..count).map(|slot| (slot * 900, milliseconds(slot), Outcome::Ok)))
    }

    fn kept((series, columns): &(Series, HistoryColumns)) -> Amounts {
        Amounts::of(series, Cow::Borrowed(columns), &Blockers::default())
    }

    fn strata(columns: &HistoryColumns, covariate: (Series, HistoryColumns)) -> Vec<CovariateStrata> {
        strata_beside(columns, covariate, &[series_of("/home", "list"), of_login2()])
    }

    /// Where these series are all that the history has besides.
    fn strata_beside(
        columns: &HistoryColumns,
        covariate: (Series, HistoryColumns),
        all: &[Series],
    ) -> Vec<CovariateStrata> {
        let covariate = kept(&covariate);
        let covariates: Vec<Covariate<'_>> = Covariate::of(&covariate).into_iter().collect();
        let list = series_of("/home", "list");
        by_covariates((&list, columns), (&covariates, all), &[], &SummaryOptions::default())
    }

    fn of_login2() -> Series {
        let mut list = series_of("/home", "list");
        list.key.host = "login2".to_owned();
        list
    }

    #[test]
    fn a_listing_that_is_slow_when_many_jobs_run_is_told_by_their_number() {
        // 0 to 8 jobs; a listing takes 100 ms and 50 ms more for each.
        let columns = attempts(270, |slot| 100 + 50 * (slot as u64 % 9));
        let found = strata(&columns, jobs((0..270).map(|slot| (slot % 9) as f64), 120));
        let [by_jobs] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (by_jobs.covariate.task.as_str(), by_jobs.unit.as_str(), by_jobs.left_out),
            ("jobs", "jobs", 0)
        );
        let told: Vec<_> = by_jobs
            .levels
            .iter()
            .map(|level| {
                let median = level.summary.median().map(|median| median.value);
                (level.least_value, level.greatest_value, level.summary.counts.total(), median)
            })
            .collect();
        let median = |seconds: f64| Some(Estimate::Exactly(seconds));
        let expected =
            [(0.0, 2.0, 90, median(0.15)), (3.0, 5.0, 90, median(0.3)), (6.0, 8.0, 90, median(0.45))];
        assert_eq!(told, expected);
    }

    #[test]
    fn equal_values_stay_together_and_what_does_not_change_has_no_levels() {
        let columns = attempts(120, |_| 5);
        let levels = |values: &dyn Fn(i64) -> f64| {
            let found = strata(&columns, jobs((0..120).map(values), 0));
            found
                .first()
                .map(|strata| strata.levels.iter().map(|level| level.least_value).collect::<Vec<_>>())
        };
        assert_eq!(levels(&|_| 7.0), None);
        assert_eq!(levels(&|slot| f64::from(slot % 2 == 0)), Some(vec![0.0, 1.0]));
        assert_eq!(levels(&|slot| [3.0, 4.0, 4.0, 5.0][slot as usize % 4]), Some(vec![3.0, 4.0, 5.0]));
        // Ten attempts are too few to tell anything of.
        assert_eq!(levels(&|slot| f64::from(slot < 10)), None);
        assert_eq!(levels(&|_| f64::NAN), None);
    }

    #[test]
    fn other_hosts_parts_and_distant_values_are_not_asked() {
        let columns = attempts(200, |_| 5);
        let changing = |slot: i64| (slot % 10) as f64;
        let (mut elsewhere, values) = jobs((0..200).map(changing), 0);
        elsewhere.key.host = "login2".to_owned();
        assert_eq!(strata(&columns, (elsewhere.clone(), values.clone())), []);
        let list = [series_of("/home", "list")];
        let of_server = strata_beside(&columns, (elsewhere, values), &list);
        assert_eq!(of_server.len(), 1, "who measures nothing is a server, and concerns all hosts");
        let found = strata(&columns, jobs((0..100).map(changing), 0));
        assert_eq!(found[0].left_out, 100, "nobody counted jobs in the second half");
        let mut part = series_of("/home", "list");
        part.key.part = "ls -n".to_owned();
        let jobs = kept(&jobs((0..200).map(changing), 0));
        let covariates: Vec<Covariate<'_>> = Covariate::of(&jobs).into_iter().collect();
        assert_eq!(by_covariates((&part, &columns), (&covariates, &[]), &[], &SummaryOptions::default()), []);
    }

    proptest! {
        #[test]
        fn levels_part_all_attempts_and_do_not_overlap(values in prop::collection::vec(-5_i32..20, 0..300)) {
            let valued: Vec<Valued> =
                values.iter().enumerate().map(|(row, value)| Valued { row, value: f64::from(*value) }).collect();
            let levels = levels_of(valued);
            prop_assert!(levels.len() <= LEVELS_MOST);
            let mut rows: Vec<usize> = levels.iter().flatten().map(|valued| valued.row).collect();
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..values.len()).collect::<Vec<_>>());
            for pair in levels.windows(2) {
                prop_assert!(pair.iter().all(|level| level.len() >= ATTEMPTS_LEAST));
                let greatest = pair[0].iter().map(|valued| valued.value).fold(f64::MIN, f64::max);
                let least = pair[1].iter().map(|valued| valued.value).fold(f64::MAX, f64::min);
                prop_assert!(greatest < least);
            }
        }
    }
}
