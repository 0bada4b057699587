//! What the numbers in columns mean: durations by buckets, states by number, and moments since the begin.

use iolag_model::{Outcome, WallTime};
use serde::{Deserialize, Serialize};

use crate::history::input::HistoryInput;
use crate::statistics::quantile::histogram::{HISTOGRAM_BUCKETS, bucket_bounds};

/// What the numbers in columns mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryAxis {
    /// The shortest duration of every histogram bucket in ns, ascending.
    pub lowest_ns: Vec<u64>,
    /// Names of states by number: the outcomes, then `below`: it succeeded within the clock's resolution.
    pub states: Vec<String>,
    /// The first moment, by wall clock.
    pub begin_ns: i64,
    /// How much time there is from it to the last moment.
    pub span_ns: u64,
    /// How much time a unit in a column of moments is.
    pub time_unit_ns: u64,
}

/// The state of a sample that was shorter than the clock could tell.
pub const STATE_BELOW: u8 = Outcome::ALL.len() as u8;

impl HistoryAxis {
    /// From the first moment to the last: of samples, which may have ended later than they were due, and of outages.
    pub(crate) fn of(input: &HistoryInput) -> Self {
        let mut begin: Option<WallTime> = None;
        let mut end: Option<WallTime> = None;
        for (_, columns) in &input.series {
            for (start, duration) in columns.start.iter().zip(&columns.duration_ns) {
                begin = Some(begin.map_or(*start, |first| first.min(*start)));
                let over = start.after(*duration);
                end = Some(end.map_or(over, |last| last.max(over)));
            }
        }
        let begin = begin.unwrap_or_default();
        Self::between(begin, end.unwrap_or(begin))
    }

    /// As fine as a millisecond, but no more than 2^24 units: what is finer is noise to gzip, and to the eye.
    fn between(begin: WallTime, end: WallTime) -> Self {
        let span_ns = end.since(begin).0.max(1_000_000);
        let names = Outcome::ALL.iter().map(|outcome| outcome.name().to_owned());
        Self {
            lowest_ns: (0..HISTOGRAM_BUCKETS).map(|bucket| bucket_bounds(bucket).0).collect(),
            states: names.chain(["below".to_owned()]).collect(),
            begin_ns: begin.0,
            span_ns,
            time_unit_ns: (span_ns >> 24).max(1_000_000),
        }
    }

    pub(crate) fn unit_of(&self, moment: WallTime) -> u32 {
        let units = moment.since(WallTime(self.begin_ns)).0 / self.time_unit_ns;
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// Which of `columns` equal stretches of the time a moment is in.
    pub(crate) fn column_of(&self, moment: WallTime, columns: usize) -> usize {
        let since = u128::from(moment.since(WallTime(self.begin_ns)).0);
        ((since * columns as u128 / u128::from(self.span_ns)) as usize).min(columns - 1)
    }
}
