//! The time line: every attempt as a point, or beyond a million of them as density, and what went wrong as
//! marks.
//!
//! A moment is a fraction of the run's span in units of 2^-32, a duration is a histogram bucket (see
//! [`crate::run::figure::BucketAxis`]).

use serde::{Deserialize, Serialize};

use crate::figure_column::{Column8, Column16, Column32, detach};

/// More attempts than this are drawn as density.
pub const POINTS_MAX: u64 = 1_000_000;
/// Columns of time of a density grid.
pub const TIME_COLUMNS: u32 = 1600;
/// Rows of durations of a density grid.
pub const DURATION_ROWS_MAX: u32 = 320;
/// More marks than this are counted by time column instead.
pub const MARKS_MAX: u64 = 20_000;

/// The time line of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimeLine {
    /// How attempts of known duration (ok and late) are drawn.
    pub form: TimeLineForm,
    /// Attempts of known duration, each of which is a point or counted in the density.
    pub attempts: u64,
    /// How the figure was thinned out; absent if it was not.
    pub decimation: Option<String>,
    /// Every attempt of known duration; with density, the longest of every series in every time column.
    pub points: Points,
    /// The density; absent if every attempt is a point.
    pub density: Option<Density>,
    /// What did not end well and in time.
    pub marks: Marks,
}

/// How attempts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TimeLineForm {
    /// Each as a point.
    Points,
    /// As counts on a grid, with the longest as points.
    Density,
}

/// Points, one number per point in every column, in the order of series, then time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Points {
    /// Start, as fraction of the span in units of 2^-32.
    pub time: Column32,
    /// Duration as histogram bucket.
    pub bucket: Column16,
    /// Index of the series.
    pub series: Column16,
    /// Number of the outcome: 0 ok, 4 late.
    pub outcome: Column8,
    /// Number of the client; of more than 4096 clients the first of its group of neighbours.
    pub client: Column32,
}
detach!(Points { time, bucket, series, outcome, client });

/// Counts of attempts on a grid of time by duration, a layer per operation on a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Density {
    /// Columns of time, of equal width over the span; they are the same in all layers.
    pub columns: u32,
    /// Histogram buckets per row: a power of two.
    pub buckets_per_row: u16,
    /// The layers that hold an attempt.
    pub layers: Vec<DensityLayer>,
}
detach!(Density { layers });

/// Counts of one layer, cropped to the rows that hold an attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DensityLayer {
    /// Index of the layer.
    pub layer: u16,
    /// First histogram bucket of row 0, the shortest durations.
    pub first_bucket: u16,
    /// Number of rows.
    pub rows: u16,
    /// `rows` × `columns` counts, row by row.
    pub counts: Column32,
}
detach!(DensityLayer { counts });

/// Attempts that failed, timed out, hung, were late or skipped.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Marks {
    /// How many there are in all.
    pub total: u64,
    /// Each of them, if they are at most [`MARKS_MAX`]; else nothing.
    pub each: MarkColumns,
    /// Counts by time column, if they are more; else nothing.
    pub counts: Vec<MarkCounts>,
}
detach!(Marks { each, counts });

/// Marks, one number per mark in every column, in the order of time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MarkColumns {
    /// Start, as fraction of the span in units of 2^-32.
    pub time: Column32,
    /// Index of the series.
    pub series: Column16,
    /// Number of the outcome: 1 error, 2 time-out, 3 hung, 4 late, 5 skipped.
    pub outcome: Column8,
    /// Index into the names of reasons; 0 where the outcome says it all.
    pub reason: Column8,
    /// Duration, or age, as histogram bucket.
    pub bucket: Column16,
    /// Number of the client.
    pub client: Column32,
}
detach!(MarkColumns { time, series, outcome, reason, bucket, client });

/// Marks of one kind by time column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MarkCounts {
    /// Index of the series.
    pub series: u16,
    /// Number of the outcome.
    pub outcome: u8,
    /// Index into the names of reasons.
    pub reason: u8,
    /// How many, in each of [`TIME_COLUMNS`].
    pub counts: Column32,
    /// The longest duration or age in each, as histogram bucket.
    pub longest: Column16,
}
detach!(MarkCounts { counts, longest });

detach!(TimeLine { points, density, marks });
