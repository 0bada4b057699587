//! Series of a history and their samples, made by hand.

use iolag_model::{
    ConfigurationKey, HistoryColumns, Nanoseconds, Outcome, ProbeId, Random, Series, SeriesKey, SeriesKind,
    WallTime,
};

/// Quarter hours of a day.
pub const DAY: i64 = 96;

/// Quarter hours of `list` on /home with this level in seconds at each slot, and some noise.
pub fn levels(slots: i64, level: impl Fn(i64) -> f64) -> (Series, HistoryColumns) {
    let mut noise = Random::new(8);
    let columns = columns_of((0..slots).map(|slot| {
        let milliseconds = 1000.0 * level(slot) * (0.2 * noise.normal()).exp();
        (slot * 900, milliseconds as u64, Outcome::Ok)
    }));
    (series_of("/home", "list"), columns)
}

/// A task on a target of one host.
pub fn series_of(target: &str, task: &str) -> Series {
    Series {
        key: SeriesKey {
            host: "login1".to_owned(),
            target: target.to_owned(),
            task: task.to_owned(),
            part: String::new(),
        },
        kind: SeriesKind::Task,
        resolution_ns: Nanoseconds::ZERO,
        period_ns: Nanoseconds::from_seconds(900),
        deadline_ns: Nanoseconds::from_seconds(60),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

/// Samples: start in seconds, duration in ms, outcome.
pub fn columns_of(rows: impl IntoIterator<Item = (i64, u64, Outcome)>) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    for (index, (second, milliseconds, outcome)) in rows.into_iter().enumerate() {
        columns.probe.push(ProbeId(index as u64 + 1));
        columns.intended.push(WallTime::from_seconds(second));
        columns.start.push(WallTime::from_seconds(second));
        columns.duration_ns.push(Nanoseconds::from_milliseconds(milliseconds));
        columns.outcome.push(outcome);
        columns.configuration.push(ConfigurationKey(0));
        columns.blocker.push(ProbeId(0));
        for column in
            [&mut columns.value, &mut columns.load_5min, &mut columns.runnable, &mut columns.stalled_io]
        {
            column.push(f64::NAN);
        }
        columns.processor_seconds.push(0.002);
        columns.blocked.push(1.0);
    }
    columns
}

/// Two weeks of quarter hours of an imported `list`, which takes 30 s and more at these slots.
pub fn imported(target: &str, seed: u64, slow: &[i64]) -> (Series, HistoryColumns) {
    let mut noise = Random::new(seed);
    let columns = columns_of((0..1344).map(|slot| {
        let usual = 200.0 * (0.3 * noise.normal()).exp();
        let milliseconds = if slow.contains(&slot) { 150.0 * usual } else { usual };
        (slot * 900, milliseconds as u64, Outcome::Ok)
    }));
    (Series { kind: SeriesKind::ImportedDuration, ..series_of(target, "list") }, columns)
}
