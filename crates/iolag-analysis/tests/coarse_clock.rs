//! A clock that counts in steps: nobody knows a duration to the digit that it shows.

use iolag_analysis::history::{ByAttempt, Distribution, Estimate, EstimateInterval, Observations};
use iolag_model::{
    FailureCode, HistoryColumns, HistorySample, Nanoseconds, Outcome, ProbeId, Series, SeriesKey, SeriesKind,
    WallTime,
};

/// Forty attempts of 500 ms each, by a clock of this resolution: the interval of their median.
fn interval(resolution_ns: Nanoseconds) -> EstimateInterval {
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
    for slot in 0..40 {
        columns.push(&HistorySample {
            series: SeriesKey::default(),
            probe: ProbeId(slot + 1),
            intended: WallTime::from_seconds(slot as i64 * 900),
            start: WallTime::from_seconds(slot as i64 * 900),
            duration_ns: Nanoseconds::from_milliseconds(500),
            value: None,
            outcome: Outcome::Ok,
            failure: FailureCode::NONE,
            exit_status: None,
            blocker: None,
            configuration: None,
            processor_ns: None,
            resident_bytes_max: None,
            surroundings: None,
        });
    }
    let observed = Observations::<ByAttempt>::by_attempt(&series, &columns);
    Distribution::of(&observed).quantile_with_interval(0.5).interval
}

fn between(low: f64, high: f64) -> EstimateInterval {
    EstimateInterval::Between { low: Estimate::Exactly(low), high: Estimate::Exactly(high) }
}

#[test]
fn its_step_is_in_the_interval_where_it_is_coarse() {
    assert_eq!(interval(Nanoseconds::from_milliseconds(100)), between(0.45, 0.6));
    assert_eq!(interval(Nanoseconds(1)), between(0.5, 0.5));
}
