//! The columns of the table.

use std::borrow::Cow;

use iolag_model::{
    FailureCode, HistorySample, Nanoseconds, Outcome, Series, SeriesKind, Surroundings, WallTime,
};

/// A sample and what is known of its series.
pub(super) struct Row<'a> {
    pub series: Option<&'a Series>,
    pub sample: &'a HistorySample,
}

/// A column, described in docs/history.md.
pub(super) struct Column {
    pub name: &'static str,
    pub cells: Cells,
}

/// How the cells of a column are read; numbers are absent where there is nothing to tell.
#[derive(Clone, Copy)]
pub(super) enum Cells {
    Texts(for<'a> fn(&Row<'a>) -> Cow<'a, str>),
    Integers(fn(&Row<'_>) -> Option<i64>),
    Numbers(fn(&Row<'_>) -> Option<f64>),
}

const fn text(name: &'static str, cell: for<'a> fn(&Row<'a>) -> Cow<'a, str>) -> Column {
    Column { name, cells: Cells::Texts(cell) }
}

const fn integer(name: &'static str, cell: fn(&Row<'_>) -> Option<i64>) -> Column {
    Column { name, cells: Cells::Integers(cell) }
}

const fn number(name: &'static str, cell: fn(&Row<'_>) -> Option<f64>) -> Column {
    Column { name, cells: Cells::Numbers(cell) }
}

pub(super) const COLUMNS: [Column; 36] = [
    text("host", |row| row.sample.series.host.as_str().into()),
    text("target", |row| row.sample.series.target.as_str().into()),
    text("task", |row| row.sample.series.task.as_str().into()),
    text("part", |row| row.sample.series.part.as_str().into()),
    text("kind", |row| row.series.map_or(SeriesKind::Task, |series| series.kind).name().into()),
    text("intended_utc", |row| utc(row.sample.intended).into()),
    integer("intended_ns", |row| Some(row.sample.intended.0)),
    text("start_utc", |row| utc(row.sample.start).into()),
    integer("start_ns", |row| Some(row.sample.start.0)),
    integer("duration_ns", |row| duration_is(row).map(|_| signed(row.sample.duration_ns.0))),
    text("duration_is", |row| duration_is(row).unwrap_or_default().into()),
    text("outcome", |row| row.sample.outcome.name().into()),
    text("failure", |row| match row.sample.failure {
        FailureCode::NONE => "".into(),
        code => code.class().to_string().into(),
    }),
    integer("failure_code", |row| Some(i64::from(row.sample.failure.0))),
    integer("exit_status", |row| row.sample.exit_status.map(i64::from)),
    number("value", |row| row.sample.value),
    text("value_unit", |row| row.series.map_or("", |series| &series.unit).into()),
    integer("resolution_ns", |row| of_series(row, |series| series.resolution_ns)),
    integer("deadline_ns", |row| of_series(row, |series| series.deadline_ns)),
    integer("period_ns", |row| of_series(row, |series| series.period_ns)),
    integer("probe", |row| Some(row.sample.probe.0.cast_signed())),
    integer("blocker", |row| row.sample.blocker.map(|probe| probe.0.cast_signed())),
    integer("configuration", |row| row.sample.configuration.map(|key| key.0.cast_signed())),
    integer("processor_user_ns", |row| row.sample.processor_ns.map(|[user, _]| signed(user))),
    integer("processor_system_ns", |row| row.sample.processor_ns.map(|[_, system]| signed(system))),
    integer("resident_bytes_max", |row| row.sample.resident_bytes_max.map(signed)),
    integer("load_1min_milli", |row| around(row, |all| Some(u64::from(all.load_milli[0])))),
    integer("load_5min_milli", |row| around(row, |all| Some(u64::from(all.load_milli[1])))),
    integer("load_15min_milli", |row| around(row, |all| Some(u64::from(all.load_milli[2])))),
    integer("runnable_tasks", |row| around(row, |all| Some(u64::from(all.runnable)))),
    integer("blocked_tasks", |row| around(row, |all| Some(u64::from(all.blocked)))),
    integer("stalled_cpu_us", |row| around(row, |all| all.stalled_cpu_us)),
    integer("stalled_io_some_us", |row| around(row, |all| all.stalled_io_us.map(|[some, _]| some))),
    integer("stalled_io_full_us", |row| around(row, |all| all.stalled_io_us.map(|[_, full]| full))),
    integer("stalled_memory_some_us", |row| around(row, |all| all.stalled_memory_us.map(|[some, _]| some))),
    integer("stalled_memory_full_us", |row| around(row, |all| all.stalled_memory_us.map(|[_, full]| full))),
];

/// What a duration is of the true one; none where nothing took time: a skipped slot, a value that was imported.
fn duration_is(row: &Row<'_>) -> Option<&'static str> {
    let Row { sample, series } = row;
    let resolution = series.map_or(Nanoseconds::ZERO, |series| series.resolution_ns);
    match sample.outcome {
        Outcome::Skipped => None,
        _ if series.is_some_and(|series| series.kind == SeriesKind::ImportedValue) => None,
        outcome if outcome.is_censored() => Some("at-least"),
        _ if sample.duration_ns < resolution => Some("at-most"),
        _ => Some("exactly"),
    }
}

fn of_series(row: &Row<'_>, of: fn(&Series) -> Nanoseconds) -> Option<i64> {
    row.series.map(of).filter(|time| *time > Nanoseconds::ZERO).map(|time| signed(time.0))
}

fn around(row: &Row<'_>, of: fn(&Surroundings) -> Option<u64>) -> Option<i64> {
    row.sample.surroundings.as_ref().and_then(of).map(signed)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// With all nine digits, so that texts sort as times do.
fn utc(time: WallTime) -> String {
    let text = time.to_string();
    let seconds = text.split('.').next().unwrap_or_default();
    format!("{seconds}.{:09}Z", time.0.rem_euclid(1_000_000_000))
}
