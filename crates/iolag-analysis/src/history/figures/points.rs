//! Time lines: every sample as a point, or ribbons of quantiles where there are too many; values and loads.

use iolag_model::{HistoryColumns, Outcome, Series, WallTime, format_count, format_duration};
use serde::{Deserialize, Serialize};

use super::axis::{HistoryAxis, STATE_BELOW};
use crate::figure_column::{Column8, Column16, Column32, ColumnFloat, detach};
use crate::history::input::HistoryInput;
use crate::statistics::quantile::histogram::bucket_of;

/// Stretches of time into which ribbons divide the whole.
pub const RIBBON_COLUMNS: usize = 2000;

/// Stretches of time into which loads divide the whole.
pub const LOAD_COLUMNS: usize = 1200;

/// How many samples are drawn one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryPoints {
    /// Of all series together.
    pub max: usize,
}

impl Default for HistoryPoints {
    /// A million: about 4 MB in the page.
    fn default() -> Self {
        Self { max: 1_000_000 }
    }
}

impl HistoryPoints {
    /// How many samples a series may have: any number as long as all together fit.
    pub(crate) fn share_of(self, samples: usize, series: usize) -> usize {
        if samples <= self.max { usize::MAX } else { self.max / series.max(1) }
    }
}

/// The sentence for the caption.
pub(crate) fn decimation(thinned: usize, axis: &HistoryAxis) -> String {
    let stretch = iolag_model::Nanoseconds(axis.span_ns / RIBBON_COLUMNS as u64);
    let series = if thinned == 1 {
        "1 series has".to_owned()
    } else {
        format!("{} series have", format_count(thinned as u64))
    };
    format!(
        "{series} too many samples to draw each: quantiles of stretches of {}, and the longest of each stretch.",
        format_duration(stretch)
    )
}

/// Every sample of a series of durations, in the order of their starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PointColumns {
    /// Time units since the sample before; of the first since the begin of the axis.
    pub time_steps: Column32,
    /// Histogram bucket of the duration, or of its bound; of what was below the resolution that of the resolution.
    pub bucket: Column16,
    /// Number of the state.
    pub state: Column8,
}

detach!(PointColumns { time_steps, bucket, state });

impl PointColumns {
    pub(crate) fn of(series: &Series, columns: &HistoryColumns, axis: &HistoryAxis) -> Self {
        let rows = by_start(columns);
        let moments = rows.iter().map(|row| axis.unit_of(columns.start[*row]));
        Self {
            time_steps: steps(moments),
            bucket: rows.iter().map(|row| reading(series, columns, *row).0).collect(),
            state: rows.iter().map(|row| reading(series, columns, *row).1).collect(),
        }
    }
}

fn by_start(columns: &HistoryColumns) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..columns.len()).collect();
    rows.sort_by_key(|row| columns.start[*row]);
    rows
}

fn steps(moments: impl Iterator<Item = u32>) -> Column32 {
    let mut before = 0;
    moments.map(|moment| moment - std::mem::replace(&mut before, moment)).collect()
}

/// Bucket and state of a sample.
fn reading(series: &Series, columns: &HistoryColumns, row: usize) -> (u16, u8) {
    let (duration, outcome) = (columns.duration_ns[row], columns.outcome[row]);
    let ended = matches!(outcome, Outcome::Ok | Outcome::Late);
    if ended && duration < series.resolution_ns {
        (bucket_of(series.resolution_ns.0) as u16, STATE_BELOW)
    } else {
        (bucket_of(duration.0) as u16, outcome as u8)
    }
}

/// Values of a series in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ValueColumns {
    /// Time units since the value before; of the first since the begin of the axis.
    pub time_steps: Column32,
    /// The values.
    pub value: ColumnFloat,
}

detach!(ValueColumns { time_steps, value });

impl ValueColumns {
    /// All of them, or, if they are more than `most`, the greatest of each stretch of time.
    pub(crate) fn of(columns: &HistoryColumns, axis: &HistoryAxis, most: usize) -> Self {
        let rows = by_start(columns);
        let known = rows.iter().filter(|row| columns.value[**row].is_finite());
        let mut values: Vec<(WallTime, f64)> =
            known.map(|row| (columns.start[*row], columns.value[*row])).collect();
        if values.len() > most {
            values = greatest_of_stretches(&values, axis);
        }
        Self {
            time_steps: steps(values.iter().map(|(moment, _)| axis.unit_of(*moment))),
            value: values.iter().map(|(_, value)| *value as f32).collect(),
        }
    }
}

fn greatest_of_stretches(values: &[(WallTime, f64)], axis: &HistoryAxis) -> Vec<(WallTime, f64)> {
    let column = |one: &(WallTime, f64)| axis.column_of(one.0, RIBBON_COLUMNS);
    let stretches = values.chunk_by(|one, other| column(one) == column(other));
    stretches.filter_map(|part| part.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))).collect()
}

/// Quantiles of durations in [`RIBBON_COLUMNS`] equal stretches of time, as histogram buckets; what had not ended counts at its bound, and
/// what was below the resolution at that. Skipped slots, failures and what the watch interrupted are marks only.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "each is a quantile")]
pub struct Ribbons {
    /// Durations in each stretch; quantiles of none are 0.
    pub count: Column32,
    pub p5: Column16,
    pub p25: Column16,
    pub median: Column16,
    pub p75: Column16,
    pub p95: Column16,
    pub max: Column16,
    /// Samples that did not simply succeed.
    pub marks: Vec<RibbonMarks>,
}

detach!(Ribbons { count, p5, p25, median, p75, p95, max, marks });

/// Samples in one state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RibbonMarks {
    /// Number of the state.
    pub state: u8,
    /// How many in each stretch.
    pub count: Column32,
}

detach!(RibbonMarks { count });

impl Ribbons {
    pub(crate) fn of(series: &Series, columns: &HistoryColumns, axis: &HistoryAxis) -> Self {
        let mut stretches: Vec<Vec<u16>> = vec![Vec::new(); RIBBON_COLUMNS];
        let mut marks = vec![vec![0_u32; RIBBON_COLUMNS]; usize::from(STATE_BELOW) + 1];
        for row in 0..columns.len() {
            let column = axis.column_of(columns.start[row], RIBBON_COLUMNS);
            let (bucket, state) = reading(series, columns, row);
            if !matches!(
                columns.outcome[row],
                Outcome::Skipped | Outcome::Error | Outcome::Interrupted | Outcome::Retried
            ) {
                stretches[column].push(bucket);
            }
            if state != Outcome::Ok as u8 {
                marks[usize::from(state)][column] += 1;
            }
        }
        stretches.iter_mut().for_each(|buckets| buckets.sort_unstable());
        let quantile = |share: f64| -> Column16 {
            let of_stretch = |buckets: &Vec<u16>| {
                let rank = ((buckets.len() as f64 * share).ceil() as usize).max(1);
                buckets.get(rank - 1).copied().unwrap_or_default()
            };
            stretches.iter().map(of_stretch).collect()
        };
        let of_state = |(state, counts): (usize, Vec<u32>)| {
            let is_seen = counts.iter().any(|count| *count > 0);
            is_seen.then_some(RibbonMarks { state: state as u8, count: Column32(counts) })
        };
        Self {
            count: stretches.iter().map(|buckets| buckets.len() as u32).collect(),
            p5: quantile(0.05),
            p25: quantile(0.25),
            median: quantile(0.5),
            p75: quantile(0.75),
            p95: quantile(0.95),
            max: quantile(1.0),
            marks: marks.into_iter().enumerate().filter_map(of_state).collect(),
        }
    }
}

/// The 5-minute load of a host, as it was read with all its samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HostLoad {
    /// Which host.
    pub host: String,
    /// Median of each of [`LOAD_COLUMNS`] equal stretches of time; -1 where there is none.
    pub median: ColumnFloat,
    /// Greatest of each stretch; -1 where there is none.
    pub max: ColumnFloat,
}

detach!(HostLoad { median, max });

/// Loads of the hosts that have any, in the order of their names.
pub(crate) fn loads(input: &HistoryInput, axis: &HistoryAxis) -> Vec<HostLoad> {
    let mut hosts: Vec<&str> = input.series.iter().map(|(series, _)| series.key.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    hosts.into_iter().filter_map(|host| load_of(host, input, axis)).collect()
}

fn load_of(host: &str, input: &HistoryInput, axis: &HistoryAxis) -> Option<HostLoad> {
    let mut stretches: Vec<Vec<f64>> = vec![Vec::new(); LOAD_COLUMNS];
    for (_, columns) in input.series.iter().filter(|(series, _)| series.key.host == host) {
        for (start, load) in columns.start.iter().zip(&columns.load_5min).filter(|(_, load)| load.is_finite())
        {
            stretches[axis.column_of(*start, LOAD_COLUMNS)].push(*load);
        }
    }
    if stretches.iter().all(Vec::is_empty) {
        return None;
    }
    stretches.iter_mut().for_each(|loads| loads.sort_unstable_by(f64::total_cmp));
    let at = |place: fn(usize) -> usize| -> ColumnFloat {
        let of_stretch = |loads: &Vec<f64>| loads.get(place(loads.len())).map_or(-1.0, |load| *load as f32);
        stretches.iter().map(of_stretch).collect()
    };
    Some(HostLoad {
        host: host.to_owned(),
        median: at(|count| count / 2),
        max: at(|count| count.saturating_sub(1)),
    })
}
