//! Day by day and configuration by configuration: how long a task takes, and how often too long.
//!
//! Attempts of all hosts of a configuration stand together. Limits: intervals allow for clusters in time, not for hosts that are unlike
//! each other though configured alike; for that there is [`super::ranking`], of which a host is the unit.

use std::collections::BTreeMap;

use iolag_model::{Configuration, Nanoseconds, Outcome, SeriesKind};
use serde::{Deserialize, Serialize};

use super::names::Names;
use super::restricted_mean::{RestrictedMean, restricted_mean};
use crate::history::calendar::local_time::{Day, LocalTime};
use crate::history::series::distribution::Distribution;
use crate::history::series::estimate::HistoryQuantile;
use crate::history::series::kept_amounts::Amounts;
use crate::history::series::observations::{ByAttempt, Observations};
use crate::history::series::shares::{Clustering, OutcomeCounts, Rate};
use crate::history::series::timed_values::Quantity;
use crate::parallel;

/// What means go up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeanLimit {
    /// The shortest deadline of the task.
    Deadline,
    /// No deadline is known: the longest that was seen of any attempt.
    Longest,
}

/// A task on a target, of all hosts, by configuration and day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskByDay {
    /// The task.
    pub task: String,
    /// The target.
    pub target: String,
    /// What means go up to.
    pub limit_is: MeanLimit,
    /// How long that is, in seconds.
    pub limit_seconds: f64,
    /// Each configuration, by name.
    pub configurations: Vec<ConfigurationByDay>,
}

/// A configuration by day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigurationByDay {
    /// As in `slots 28, tuning none`; of a host about which nobody said anything its name, or since when nothing has changed.
    pub name: String,
    /// Hosts that had it.
    pub hosts: Vec<String>,
    /// All days together.
    pub all: AttemptsTold,
    /// The local days with an attempt, ascending.
    pub days: Vec<DayTold>,
}

/// A day.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DayTold {
    /// Which.
    pub day: Day,
    /// Its attempts.
    #[serde(flatten)]
    pub told: AttemptsTold,
}

/// What is told of some attempts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttemptsTold {
    /// The mean up to the limit; absent if it is not known.
    pub mean: Option<RestrictedMean>,
    /// The median with its interval.
    pub median: HistoryQuantile,
    /// Attempts that passed their deadline, of all that were left to themselves.
    pub past_deadline: Rate,
}

/// Each task on each target, in the order of their names.
pub(crate) fn by_day(
    whole: &[Amounts],
    configurations: &[Configuration],
    local_time: &LocalTime,
) -> Vec<TaskByDay> {
    let tasks: Vec<Vec<&Amounts>> = tasks_of(whole).into_values().collect();
    parallel::map(&tasks, |series| task_by_day(series, configurations, local_time))
}

/// The series of each target and task: one of each host.
pub(super) fn tasks_of(whole: &[Amounts]) -> BTreeMap<(&str, &str), Vec<&Amounts>> {
    let mut tasks: BTreeMap<_, Vec<&Amounts>> = BTreeMap::new();
    let is_told = |one: &&Amounts| one.series.kind.is_duration() && one.series.kind != SeriesKind::Control;
    for one in whole.iter().filter(is_told) {
        let key = &one.series.key;
        tasks.entry((key.target.as_str(), key.task.as_str())).or_default().push(one);
    }
    tasks
}

/// Rows of a series.
type Rows<'a> = (&'a Amounts, Vec<usize>);

fn task_by_day(series: &[&Amounts], configurations: &[Configuration], local_time: &LocalTime) -> TaskByDay {
    let names = Names::of(series, configurations);
    let mut groups: BTreeMap<String, Vec<Rows<'_>>> = BTreeMap::new();
    for one in series {
        let mut rows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (part, key) in one.configuration_runs() {
            rows.entry(names.name(&one.series.key.host, key)).or_default().extend(part);
        }
        for (name, rows) in rows {
            groups.entry(name).or_default().push((one, rows));
        }
    }
    let deadline =
        series.iter().map(|one| one.series.deadline_ns).filter(|one| *one > Nanoseconds::ZERO).min();
    let longest = || series.iter().map(|one| one.longest().as_seconds()).fold(0.0, f64::max);
    let (limit_is, limit_seconds) = match deadline {
        Some(deadline) => (MeanLimit::Deadline, deadline.as_seconds()),
        None => (MeanLimit::Longest, longest()),
    };
    let key = &series[0].series.key;
    let group =
        |(name, rows): (String, Vec<Rows<'_>>)| configuration_by_day(name, &rows, limit_seconds, local_time);
    TaskByDay {
        task: key.task.clone(),
        target: key.target.clone(),
        limit_is,
        limit_seconds,
        configurations: groups.into_iter().map(group).collect(),
    }
}

fn configuration_by_day(
    name: String,
    all: &[Rows<'_>],
    limit_seconds: f64,
    local_time: &LocalTime,
) -> ConfigurationByDay {
    let mut days: BTreeMap<Day, Vec<Rows<'_>>> = BTreeMap::new();
    for (one, rows) in all {
        for same in rows.chunk_by(|row, next| day_of(one, *row, local_time) == day_of(one, *next, local_time))
        {
            days.entry(day_of(one, same[0], local_time)).or_default().push((one, same.to_vec()));
        }
    }
    let clustering = Clustering::of(&outcomes(all));
    let told = |rows: &[Rows<'_>]| attempts_told(rows, &clustering, limit_seconds);
    let day = |(day, rows): (Day, Vec<Rows<'_>>)| DayTold { day, told: told(&rows) };
    ConfigurationByDay {
        name,
        hosts: all.iter().map(|(one, _)| one.series.key.host.clone()).collect(),
        all: told(all),
        days: days.into_iter().map(day).filter(|day| day.told.past_deadline.of > 0).collect(),
    }
}

fn day_of(one: &Amounts, row: usize, local_time: &LocalTime) -> Day {
    local_time.at(one.intended()[row]).day
}

/// In the order of time.
fn outcomes(rows: &[Rows<'_>]) -> Vec<Outcome> {
    let of_one = |(one, rows): &Rows<'_>| {
        let at = |row: &usize| (one.intended()[*row], one.outcomes()[*row]);
        rows.iter().map(at).collect::<Vec<_>>()
    };
    let mut all: Vec<_> = rows.iter().flat_map(of_one).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn attempts_told(rows: &[Rows<'_>], clustering: &Clustering, limit_seconds: f64) -> AttemptsTold {
    let observed = rows.iter().map(|(one, rows)| Some(one.attempts(rows.iter().copied())));
    let merged = observed.reduce(|all, more| all?.merged(more?)).flatten();
    let nothing = || Observations::<ByAttempt>::new(Quantity::Duration, []);
    let distribution = Distribution::of(&merged.unwrap_or_else(nothing));
    AttemptsTold {
        mean: restricted_mean(&distribution, limit_seconds),
        median: distribution.quantile_with_interval(0.5),
        past_deadline: OutcomeCounts::of(&outcomes(rows)).rates(clustering).past_deadline,
    }
}

#[cfg(test)]
mod tests {
    use iolag_fixtures::made_up_series::{columns_of, series_of};
    use iolag_model::{ConfigurationKey, HistoryColumns, Series, WallTime};

    use super::*;
    use crate::history::analyse::analyse_history;
    use crate::history::input::HistoryInput;
    use crate::history::options::HistoryOptions;

    const QUARTERS: i64 = 96;

    fn configuration(host: &str, key: u64, facts: &[(&str, &str)]) -> Configuration {
        Configuration {
            key: ConfigurationKey(key),
            host: host.to_owned(),
            target: "/afs".to_owned(),
            first_seen: WallTime::from_seconds(key as i64),
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    /// Two days, of which the second has configuration 2: every fourth attempt is ended at 60 s then, the others take 10 s.
    fn node(host: &str) -> (Series, HistoryColumns) {
        let mut series = series_of("/afs", "set-up");
        series.key.host = host.to_owned();
        let mut columns = columns_of((0..2 * QUARTERS).map(|slot| {
            let is_slow = slot >= QUARTERS && slot % 4 == 0;
            let outcome = if is_slow { Outcome::Timeout } else { Outcome::Ok };
            (slot * 900, if is_slow { 60_000 } else { 10_000 }, outcome)
        }));
        let key = |slot: i64| ConfigurationKey(if slot < QUARTERS { 1 } else { 2 });
        columns.configuration = (0..2 * QUARTERS).map(key).collect();
        (series, columns)
    }

    fn analysed(hosts: &[&str], configurations: Vec<Configuration>) -> TaskByDay {
        let series = hosts.iter().map(|host| node(host)).collect();
        let input = HistoryInput { series, configurations, ..HistoryInput::default() };
        let mut by_day = analyse_history(&input, &HistoryOptions::default()).by_day;
        assert_eq!(by_day.len(), 1);
        by_day.remove(0)
    }

    #[test]
    fn what_users_say_of_hosts_tells_configurations_apart() {
        let facts = |slots| [("kernel", "6.1"), ("slots", slots), ("site", "cc")];
        let known = ["wn1", "wn2"]
            .map(|host| [configuration(host, 1, &facts("21")), configuration(host, 2, &facts("28"))]);
        let told = analysed(&["wn1", "wn2"], known.concat());
        assert_eq!((told.limit_is, told.limit_seconds), (MeanLimit::Deadline, 60.0));
        let [few, many] = &told.configurations[..] else { panic!("{told:#?}") };
        assert_eq!((few.name.as_str(), many.name.as_str()), ("slots 21", "slots 28"));
        assert_eq!(many.hosts, ["wn1", "wn2"]);
        assert_eq!((few.all.mean.unwrap().seconds, few.all.past_deadline.count), (10.0, 0));
        assert!((many.all.mean.unwrap().seconds - 22.5).abs() < 1e-9);
        assert_eq!((many.all.past_deadline.count, many.all.past_deadline.of), (48, 192));
        let [day] = &many.days[..] else { panic!("{many:#?}") };
        assert_eq!((day.day.to_string().as_str(), day.told.past_deadline.of), ("1970-01-02", 192));
        let [low, high] = [day.told.past_deadline.interval.low, day.told.past_deadline.interval.high];
        assert!(low < 0.25 && 0.25 < high && high < 0.5, "{low} {high}");
    }

    #[test]
    fn without_a_word_of_users_each_host_and_time_is_one() {
        let kernel = |host, key, version| configuration(host, key, &[("kernel", version)]);
        let told = analysed(&["wn1", "wn2"], vec![kernel("wn1", 1, "6.1"), kernel("wn1", 2, "6.2")]);
        let names: Vec<&str> = told.configurations.iter().map(|one| one.name.as_str()).collect();
        let expected = [
            "wn1 since 1970-01-01 00:00:01 UTC",
            "wn1 since 1970-01-01 00:00:02 UTC",
            "wn2 configuration not known",
        ];
        assert_eq!(names, expected);
        let alone = analysed(&["wn1"], vec![kernel("wn1", 1, "6.1"), kernel("wn1", 2, "6.2")]);
        assert_eq!(alone.configurations[1].name, "since 1970-01-01 00:00:02 UTC");
    }
}
