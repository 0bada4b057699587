//! When did a level change, as far as samples tell?
//!
//! Between the last sample before and the first after. As a rule that is a period, and a moment for people; where there are no samples for days it may
//! have been at any time of these, and to call one of the two samples its moment would be wrong.

use iolag_model::{Nanoseconds, WallSpan, WallTime};

use super::change_point::ChangePoint;
use crate::history::episodes::gaps::PERIODS_LEAST;
use crate::history::series::summary::SeriesSummary;

/// When a level changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeMoment {
    /// Then, or less than three periods before.
    At(WallTime),
    /// At some time between the ends: there are no samples.
    Between(WallSpan),
}

impl SeriesSummary {
    /// When this change of the series happened.
    pub fn moment_of(&self, change: &ChangePoint) -> ChangeMoment {
        let between = WallSpan { begin: change.last_before, end: change.first_after };
        let length = between.end.since(between.begin);
        if length.0 > PERIODS_LEAST * self.usual_spacing().0 {
            ChangeMoment::Between(between)
        } else {
            ChangeMoment::At(change.first_after)
        }
    }

    /// The period; where that is not known, the mean time between two slots, or days of benchmarks.
    fn usual_spacing(&self) -> Nanoseconds {
        let spacings = match self.series.kind.is_of_runs() {
            true => self.rates.by_day.len() as u64,
            false => self.rates.total.slots,
        };
        match (self.series.period_ns, self.first, self.last) {
            (Nanoseconds::ZERO, Some(first), Some(last)) => {
                Nanoseconds(last.since(first).0 / spacings.saturating_sub(1).max(1))
            }
            (period, ..) => period,
        }
    }
}
