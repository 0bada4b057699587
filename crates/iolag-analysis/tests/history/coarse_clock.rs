//! A clock that counts in steps: nobody knows a duration to the digit that it shows.

use iolag_analysis::history::{
    ByAttempt, ChangeOptions, ComparisonOptions, ComparisonVerdict, Distribution, Estimate, EstimateInterval,
    LocalTime, Observations, Quantity, TimedValues, compare, find_changes,
};
use iolag_model::{
    HistoryColumns, HistorySample, Nanoseconds, Outcome, ProbeId, Series, SeriesKey, SeriesKind, WallTime,
};

const TENTHS: Nanoseconds = Nanoseconds::from_milliseconds(100);
const NANOSECONDS: Nanoseconds = Nanoseconds(1);

/// Attempts that took so many milliseconds, one every quarter of an hour, by a clock of this resolution.
fn observed(resolution_ns: Nanoseconds, milliseconds: impl Iterator<Item = u64>) -> (Series, HistoryColumns) {
    let series = Series {
        key: SeriesKey::default(),
        kind: SeriesKind::Task,
        resolution_ns,
        period_ns: Nanoseconds::from_seconds(900),
        deadline_ns: Nanoseconds::from_seconds(60),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    };
    let mut columns = HistoryColumns::default();
    for (slot, milliseconds) in milliseconds.enumerate() {
        columns.push(&HistorySample::new(
            SeriesKey::default(),
            ProbeId(slot as u64 + 1),
            WallTime::from_seconds(slot as i64 * 900),
            Nanoseconds::from_milliseconds(milliseconds),
            Outcome::Ok,
        ));
    }
    (series, columns)
}

fn by_attempt(of: &(Series, HistoryColumns)) -> Observations<ByAttempt> {
    Observations::by_attempt(&of.0, &of.1)
}

fn between(low: f64, high: f64) -> EstimateInterval {
    EstimateInterval::Between { low: Estimate::Exactly(low), high: Estimate::Exactly(high) }
}

#[test]
fn its_step_is_in_the_interval_where_it_is_coarse() {
    let interval = |resolution_ns: Nanoseconds| {
        let attempts = by_attempt(&observed(resolution_ns, std::iter::repeat_n(500, 40)));
        Distribution::of(&attempts).quantile_with_interval(0.5).interval
    };
    assert_eq!(interval(TENTHS), between(0.45, 0.6));
    assert_eq!(interval(NANOSECONDS), between(0.5, 0.5));
}

/// What a clock of tenths that cuts shows of 499 and of 501 ms, mostly.
fn shown(usual: u64) -> impl Iterator<Item = u64> {
    (0..700).map(move |slot: u64| if slot * slot % 97 < 24 { 900 - usual } else { usual })
}

#[test]
fn its_step_is_in_the_factor_between_two_places() {
    let verdict = |resolution_ns: Nanoseconds| {
        let sides = [shown(400), shown(500)].map(|shown| by_attempt(&observed(resolution_ns, shown)));
        let comparison = compare(&sides[0], &sides[1], &ComparisonOptions::default()).unwrap();
        (comparison.verdict, comparison.shift.unwrap().interval)
    };
    assert_eq!(verdict(NANOSECONDS).0, ComparisonVerdict::Slower, "400 and 500 ms differ");
    let (verdict, interval) = verdict(TENTHS);
    assert_eq!(verdict, ComparisonVerdict::NoDifferenceShown);
    assert!(interval.low.unwrap() < 1.0 && interval.high.unwrap() > 1.5, "{interval:?}");
}

#[test]
fn a_change_by_one_of_its_steps_is_not_told() {
    let changes = |resolution_ns: Nanoseconds, after: u64| {
        let (series, columns) = observed(resolution_ns, shown(400).chain(shown(500).map(|_| after)));
        let values = TimedValues::read(&series, &columns, Quantity::Duration);
        find_changes(&values, &LocalTime::UTC, &ChangeOptions::default()).steps
    };
    assert_eq!(changes(NANOSECONDS, 500).len(), 1);
    assert!(changes(TENTHS, 500).is_empty());
    let far = changes(TENTHS, 1200);
    assert_eq!(far.len(), 1);
    // From 350 to 500 ms, to 1150 to 1300 ms.
    let (low, high) = (far[0].ratio.low.unwrap(), far[0].ratio.high.unwrap());
    assert!((low - 1150.0 / 500.0).abs() < 0.01 && (high - 1300.0 / 350.0).abs() < 0.01, "{low} to {high}");
}
