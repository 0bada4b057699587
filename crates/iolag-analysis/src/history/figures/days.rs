//! Hours by days: the heat map and the calendar of time-outs.

use serde::{Deserialize, Serialize};

use crate::figure_column::{Column16, ColumnFloat, detach};
use crate::history::calendar::outcome_shares::HourByDay;

/// Rows are days, each of 24 hours of local time; columns are row after row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DayMatrix {
    /// The days of the rows as in `2008-05-08`, ascending; days without a slot are absent.
    pub days: Vec<String>,
    /// Median duration in ns, time-weighted; -1 where there is none.
    pub median_ns: ColumnFloat,
    /// Greatest duration in ns, time-weighted; -1 where there is none.
    pub worst_ns: ColumnFloat,
    /// Slots with a duration, imputed ones included.
    pub observations: Column16,
    /// Attempts that passed their deadline.
    pub past_deadline: Column16,
    /// Attempts that failed.
    pub failed: Column16,
    /// Slots that were skipped.
    pub skipped: Column16,
}

detach!(DayMatrix { median_ns, worst_ns, observations, past_deadline, failed, skipped });

impl DayMatrix {
    pub(crate) fn of(matrix: &HourByDay) -> Self {
        Self {
            days: matrix.days.iter().map(ToString::to_string).collect(),
            median_ns: durations(&matrix.median),
            worst_ns: durations(&matrix.worst),
            observations: counts(&matrix.observations),
            past_deadline: counts(&matrix.past_deadline),
            failed: counts(&matrix.failed),
            skipped: counts(&matrix.skipped),
        }
    }
}

fn durations(rows: &[[Option<f64>; 24]]) -> ColumnFloat {
    rows.iter().flatten().map(|seconds| seconds.map_or(-1.0, |seconds| (seconds * 1e9) as f32)).collect()
}

fn counts(rows: &[[u32; 24]]) -> Column16 {
    rows.iter().flatten().map(|count| u16::try_from(*count).unwrap_or(u16::MAX)).collect()
}
