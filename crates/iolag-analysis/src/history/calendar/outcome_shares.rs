//! Samples by day, weekday, hour and configuration: rates, and a matrix of hours by days.
//!
//! Days and hours are those of a place: [`LocalTime`] is an argument, with its changes between summer and
//! winter, so that this crate reads no time zone. An hour that a change repeats counts twice as long; one
//! that it leaves out is empty.

use super::local_time::{Day, LocalMoment, LocalTime, Weekday};
use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{ConfigurationKey, HistoryColumns, Outcome, WallTime};
use serde::Serialize;

use crate::history::series::observations::{Observation, Observations, Weight};
use crate::history::series::shares::{Clustering, OutcomeCounts, OutcomeRates, PAST_DEADLINE};
use crate::statistics::knowledge::Knowledge;

/// Rates of one group of slots.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupRates<K> {
    /// Which group.
    pub group: K,
    /// Its rates.
    #[serde(flatten)]
    pub rates: OutcomeRates,
}

/// How slots ended, in total and in groups; groups without slots are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatesInTime {
    /// All slots.
    pub total: OutcomeRates,
    /// By local day: the calendar of time-outs.
    pub by_day: Vec<GroupRates<Day>>,
    /// By day of the week.
    pub by_weekday: Vec<GroupRates<Weekday>>,
    /// By hour of the day.
    pub by_hour: Vec<GroupRates<u8>>,
    /// By configuration; key 0 where it is not known.
    pub by_configuration: Vec<GroupRates<ConfigurationKey>>,
}

/// How the slots of a series ended.
pub fn rates_in_time(columns: &HistoryColumns, local_time: &LocalTime) -> RatesInTime {
    let clustering = Clustering::of(&columns.outcome);
    let moments: Vec<LocalMoment> = columns.intended.iter().map(|moment| local_time.at(*moment)).collect();
    let outcomes = &columns.outcome;
    RatesInTime {
        total: OutcomeCounts::of(outcomes).rates(&clustering),
        by_day: grouped(moments.iter().map(|moment| moment.day), outcomes, &clustering),
        by_weekday: grouped(moments.iter().map(|moment| moment.day.weekday()), outcomes, &clustering),
        by_hour: grouped(moments.iter().map(|moment| moment.hour), outcomes, &clustering),
        by_configuration: grouped(columns.configuration.iter().copied(), outcomes, &clustering),
    }
}

fn grouped<K: Ord>(
    keys: impl Iterator<Item = K>,
    outcomes: &[Outcome],
    clustering: &Clustering,
) -> Vec<GroupRates<K>> {
    let mut counts: BTreeMap<K, OutcomeCounts> = BTreeMap::new();
    for (key, outcome) in keys.zip(outcomes) {
        counts.entry(key).or_default().add(*outcome);
    }
    let group = |(group, counts): (K, OutcomeCounts)| GroupRates { group, rates: counts.rates(clustering) };
    counts.into_iter().map(group).collect()
}

/// Hours by days: what somebody met who came then. Rows are days, columns the 24 hours.
///
/// Amounts are time-weighted, so that an hour in which every slot was skipped shows the rest of the hang. A
/// cell that holds a lower bound has its entry in `past_deadline` or `skipped`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HourByDay {
    /// The days of the rows, ascending; days without a slot are absent.
    pub days: Vec<Day>,
    /// Slots with an amount.
    pub observations: Vec<[u32; 24]>,
    /// Median amount, in seconds or the unit of the series; absent without any.
    pub median: Vec<[Option<f64>; 24]>,
    /// Greatest amount.
    pub worst: Vec<[Option<f64>; 24]>,
    /// Attempts that passed their deadline.
    pub past_deadline: Vec<[u32; 24]>,
    /// Attempts that failed.
    pub failed: Vec<[u32; 24]>,
    /// Slots that were skipped.
    pub skipped: Vec<[u32; 24]>,
}

/// The matrix of a series.
pub fn hour_by_day<W: Weight>(
    columns: &HistoryColumns,
    observations: &Observations<W>,
    local_time: &LocalTime,
) -> HourByDay {
    let mut matrix = HourByDay::default();
    let day = |moment: &WallTime| local_time.at(*moment).day;
    let days: BTreeSet<Day> =
        columns.intended.chunk_by(|one, next| day(one) == day(next)).map(|same| day(&same[0])).collect();
    matrix.resize(days.into_iter().collect());
    for (moment, outcome) in columns.intended.iter().zip(&columns.outcome) {
        let LocalMoment { day, hour } = local_time.at(*moment);
        let Ok(row) = matrix.days.binary_search(&day) else { continue };
        let hour = usize::from(hour);
        matrix.past_deadline[row][hour] += u32::from(PAST_DEADLINE.contains(outcome));
        matrix.failed[row][hour] += u32::from(*outcome == Outcome::Error);
        matrix.skipped[row][hour] += u32::from(*outcome == Outcome::Skipped);
    }
    let interrupted = interrupted_moments(columns);
    let mut cells: BTreeMap<LocalMoment, Vec<(f64, bool)>> = BTreeMap::new();
    let hour = |one: &Observation| local_time.at(one.at);
    for same in observations.list().chunk_by(|one, next| hour(one) == hour(next)) {
        // The age at which the watch broke an attempt off is nothing that somebody met.
        let met = same
            .iter()
            .filter(|one| one.knowledge != Knowledge::AtLeast || interrupted.binary_search(&one.at).is_err());
        let amounts = met.map(|one| (one.amount, one.knowledge == Knowledge::AtLeast));
        cells.entry(hour(&same[0])).or_default().extend(amounts);
    }
    for (moment, amounts) in cells {
        if let Ok(row) = matrix.days.binary_search(&moment.day) {
            matrix.fill(row, usize::from(moment.hour), amounts);
        }
    }
    matrix
}

/// When attempts that the watch interrupted were due, ascending.
fn interrupted_moments(columns: &HistoryColumns) -> Vec<WallTime> {
    let slots = columns.intended.iter().zip(&columns.outcome);
    let interrupted = slots.filter(|(_, outcome)| **outcome == Outcome::Interrupted);
    let mut moments: Vec<WallTime> = interrupted.map(|(moment, _)| *moment).collect();
    moments.sort_unstable();
    moments
}

impl HourByDay {
    fn resize(&mut self, days: Vec<Day>) {
        self.observations = vec![[0; 24]; days.len()];
        self.median = vec![[None; 24]; days.len()];
        self.worst = vec![[None; 24]; days.len()];
        self.past_deadline = vec![[0; 24]; days.len()];
        self.failed = vec![[0; 24]; days.len()];
        self.skipped = vec![[0; 24]; days.len()];
        self.days = days;
    }

    /// A cell has a handful of slots: its median is the middle one, lower bounds standing above what is
    /// known.
    fn fill(&mut self, row: usize, hour: usize, mut amounts: Vec<(f64, bool)>) {
        amounts.sort_unstable_by(|left, right| left.1.cmp(&right.1).then(left.0.total_cmp(&right.0)));
        self.observations[row][hour] = amounts.len() as u32;
        self.median[row][hour] = amounts.get(amounts.len().saturating_sub(1) / 2).map(|amount| amount.0);
        self.worst[row][hour] = amounts.iter().map(|amount| amount.0).max_by(f64::total_cmp);
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::{WallSpan, WallTime};

    use super::*;

    #[test]
    fn local_days_and_hours_follow_the_clock_of_the_place() {
        // 2008-05-08 06:30 UTC is the evening of the 7th, a Wednesday, in Berkeley.
        let moment = WallTime::from_seconds(1_210_228_200);
        let there = LocalTime::fixed(-7 * 3600).at(moment);
        assert_eq!((there.day.to_string().as_str(), there.hour), ("2008-05-07", 23));
        assert_eq!((there.day.weekday(), there.hour_of_week()), (Weekday::Wednesday, 71));
        assert_eq!(LocalTime::UTC.at(moment).day.weekday(), Weekday::Thursday);
        assert_eq!(LocalTime::UTC.at(WallTime(-1)).hour, 23);
    }

    #[test]
    fn summer_time_begins_when_it_is_told_to() {
        let change = WallTime::from_seconds(1_000_000);
        let place =
            LocalTime::fixed(3600).changing(WallTime::from_seconds(9_000_000), 3600).changing(change, 7200);
        let hour = |seconds: i64| place.at(WallTime::from_seconds(seconds)).hour;
        assert_eq!([hour(999_999), hour(1_000_000), hour(9_000_000)], [14, 15, 5]);
    }

    #[test]
    fn a_span_across_a_change_is_as_long_as_clocks_show() {
        let place = LocalTime::fixed(3600).changing(WallTime::from_seconds(5000), 7200);
        let back = LocalTime::fixed(7200).changing(WallTime::from_seconds(5000), 3600);
        let span = WallSpan { begin: WallTime::from_seconds(4000), end: WallTime::from_seconds(6000) };
        let shown = place.shown_during(span);
        assert_eq!(
            (shown.begin, shown.end),
            (WallTime::from_seconds(7600), WallTime::from_seconds(6000 + 7200))
        );
        assert_eq!(
            back.shown_during(span).end,
            WallTime::from_seconds(4000 + 7200),
            "it never ends before it began"
        );
    }

    #[test]
    fn a_day_is_a_date_in_files() {
        assert_eq!(serde_json::to_string(&Day(14_007)).unwrap(), r#""2008-05-08""#);
    }
}
