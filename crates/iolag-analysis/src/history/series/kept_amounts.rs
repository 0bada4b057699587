//! What is kept of a series until all have been read: enough to compare it with others, a quarter of what was recorded.

use std::borrow::Cow;
use std::ops::Range;

use iolag_model::{ConfigurationKey, HistoryColumns, Nanoseconds, Outcome, Series, WallTime};

use super::observations::{Blockers, ByAttempt, ByTime, Observation, Observations};
use super::timed_values::{Quantity, TimedValues, quantity_of};

/// A series and when its attempts were due, when they began and what came of them.
#[derive(Debug, Clone)]
pub(crate) struct Amounts {
    pub(crate) series: Series,
    /// All other columns are empty.
    columns: HistoryColumns,
    /// Rows from which on a configuration held.
    configurations: Vec<(usize, ConfigurationKey)>,
    /// What slots tell that were skipped because of a probe of the same target.
    imputed: Vec<Observation>,
}

impl Amounts {
    pub(crate) fn of(series: &Series, columns: Cow<'_, HistoryColumns>, blockers: &Blockers) -> Self {
        let imputed = blockers.imputed(series, &columns).collect();
        let is_duration = series.kind.is_duration();
        let keys = columns.configuration.chunk_by(|one, next| one == next);
        let configurations = keys.scan(0, |row, same| {
            let first = *row;
            *row += same.len();
            Some((first, same[0]))
        });
        let configurations = configurations.collect();
        let HistoryColumns { intended, start, duration_ns, value, outcome, .. } = match columns {
            Cow::Owned(columns) => columns,
            Cow::Borrowed(columns) => HistoryColumns {
                intended: columns.intended.clone(),
                start: columns.start.clone(),
                duration_ns: columns.duration_ns.clone(),
                value: if is_duration { Vec::new() } else { columns.value.clone() },
                outcome: columns.outcome.clone(),
                ..HistoryColumns::default()
            },
        };
        let value = if is_duration { Vec::new() } else { value };
        let columns =
            HistoryColumns { intended, start, duration_ns, value, outcome, ..HistoryColumns::default() };
        Self { series: series.clone(), columns, configurations, imputed }
    }

    /// When the slots were due.
    pub(crate) fn intended(&self) -> &[WallTime] {
        &self.columns.intended
    }

    /// How they ended.
    pub(crate) fn outcomes(&self) -> &[Outcome] {
        &self.columns.outcome
    }

    /// The rows of each time in which a configuration held; key 0 where it is not known.
    pub(crate) fn configuration_runs(&self) -> impl Iterator<Item = (Range<usize>, ConfigurationKey)> {
        let ends = self.configurations.iter().skip(1).map(|next| next.0).chain([self.columns.len()]);
        self.configurations.iter().zip(ends).map(|((first, key), end)| (*first..end, *key))
    }

    /// What the attempts of these rows tell.
    pub(crate) fn attempts(&self, rows: impl Iterator<Item = usize>) -> Observations<ByAttempt> {
        Observations::of_rows(&self.series, &self.columns, rows)
    }

    /// The longest duration.
    pub(crate) fn longest(&self) -> Nanoseconds {
        self.columns.duration_ns.iter().copied().max().unwrap_or(Nanoseconds::ZERO)
    }

    /// When attempts that took longer than `least` were due, and when they ended or were last seen.
    pub(crate) fn lasting_longer_than(
        &self,
        least: Nanoseconds,
    ) -> impl Iterator<Item = (WallTime, WallTime)> + '_ {
        let HistoryColumns { intended, start, duration_ns, .. } = &self.columns;
        let slots = intended.iter().zip(start).zip(duration_ns);
        slots
            .filter(move |(_, duration)| **duration > least)
            .map(|((due, start), duration)| (*due, start.after(*duration)))
    }

    /// How long somebody waits who comes at any time.
    pub(crate) fn observations(&self) -> Observations<ByTime> {
        Observations::of_time(&self.series, &self.columns, &self.imputed)
    }

    /// What it is about.
    pub(crate) const fn quantity(&self) -> Quantity {
        quantity_of(&self.series)
    }

    pub(crate) fn values(&self) -> TimedValues {
        TimedValues::read(&self.series, &self.columns, self.quantity())
    }
}
