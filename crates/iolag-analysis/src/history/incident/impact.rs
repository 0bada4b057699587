//! What trouble did to one series, period by period.

use iolag_model::{HistoryColumns, Series, SeriesKey, SeriesKind, WallSpan, WallTime};
use serde::Serialize;

use super::seen::Seen;
use crate::history::changes::change_point::ChangePoint;
use crate::history::comparison::{Comparison, ComparisonVerdict, compare};
use crate::history::options::{HistoryOptions, comparison_options};
use crate::history::series::observations::{Blockers, ByTime, Observations};
use crate::history::series::shares::{Clustering, OutcomeCounts, OutcomeRates};
use crate::history::series::summary::WeightedSummary;

/// What trouble did to one series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesImpact {
    /// Which one.
    pub series: SeriesKey,
    /// What its samples are.
    pub kind: SeriesKind,
    /// Its periods that have samples, in the order of their names.
    pub periods: Vec<PeriodImpact>,
    /// All other times (first) against bad times (second); absent if there is no bad time.
    pub comparison: Option<Comparison>,
    /// What is seen where there is too little to compare; absent if there is no bad time.
    pub seen: Option<Seen>,
}

/// A series in one period.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeriodImpact {
    /// Which one.
    pub period: IncidentPeriod,
    /// How attempts and slots ended.
    pub rates: OutcomeRates,
    /// Amounts, by time.
    pub summary: WeightedSummary,
}

/// Which part of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncidentPeriod {
    /// All of it: there is no bad time.
    Whole,
    /// Before the first bad time.
    Before,
    /// In bad times.
    During,
    /// Between bad times.
    Between,
    /// After the last bad time.
    After,
}

impl IncidentPeriod {
    /// Of what started at this moment.
    pub(crate) fn of(bad_times: &[WallSpan], start: WallTime) -> Self {
        let begun = bad_times.partition_point(|bad| bad.begin <= start);
        match (bad_times.is_empty(), begun) {
            (true, _) => Self::Whole,
            (false, 0) => Self::Before,
            (false, begun) if start <= bad_times[begun - 1].end => Self::During,
            (false, begun) if begun == bad_times.len() => Self::After,
            (false, _) => Self::Between,
        }
    }
}

/// One series, and how slots ended in bad times and at all others.
pub(crate) struct Judged {
    pub(crate) impact: SeriesImpact,
    pub(crate) during: OutcomeRates,
    pub(crate) otherwise: OutcomeRates,
    /// Slots in bad times that were lost to a probe of the same target.
    pub(crate) lost: u64,
}

impl Judged {
    /// Of a series with its changes of level: what is asked of dependence is asked between them, as everywhere.
    pub(crate) fn of(
        (series, columns, changes): (&Series, &HistoryColumns, &[ChangePoint]),
        bad_times: &[WallSpan],
        blockers: &Blockers,
        options: &HistoryOptions,
    ) -> Self {
        let periods: Vec<IncidentPeriod> =
            columns.start.iter().map(|start| IncidentPeriod::of(bad_times, *start)).collect();
        let clustering = Clustering::of(&columns.outcome);
        let part = |is_wanted: &dyn Fn(IncidentPeriod) -> bool| {
            let rows: Vec<usize> = (0..columns.len()).filter(|row| is_wanted(periods[*row])).collect();
            let part = columns.rows(&rows);
            let rates = OutcomeCounts::of(&part.outcome).rates(&clustering);
            (rates, Observations::<ByTime>::by_time(series, &part, blockers).with_changes(changes))
        };
        let mut present = periods.clone();
        present.sort_unstable();
        present.dedup();
        let told = present.into_iter().map(|period| {
            let (rates, observations) = part(&|one| one == period);
            PeriodImpact { period, rates, summary: WeightedSummary::of(&observations, &options.summary) }
        });
        let told: Vec<PeriodImpact> = told.collect();
        let (during, while_bad) = part(&|period| period == IncidentPeriod::During);
        let (otherwise, usual) = part(&|period| period != IncidentPeriod::During);
        let comparison = (!bad_times.is_empty())
            .then(|| compare(&usual, &while_bad, &comparison_options(options)))
            .flatten();
        let lost = told.iter().find(|one| one.period == IncidentPeriod::During);
        let seen = (!bad_times.is_empty()).then(|| Seen::of(&during, &while_bad, &usual));
        Self {
            lost: lost.map_or(0, |one| one.summary.imputed),
            impact: SeriesImpact {
                series: series.key.clone(),
                kind: series.kind,
                periods: told,
                comparison,
                seen,
            },
            during,
            otherwise,
        }
    }

    pub(crate) fn is_slower(&self) -> bool {
        self.verdict() == Some(ComparisonVerdict::Slower)
    }

    /// Whether attempts that are too few to compare were plainly slower.
    pub(crate) fn is_seen_slower(&self) -> bool {
        self.verdict() == Some(ComparisonVerdict::TooFew)
            && matches!(self.impact.seen, Some(Seen::Slower { .. }))
    }

    pub(crate) fn verdict(&self) -> Option<ComparisonVerdict> {
        self.impact.comparison.as_ref().map(|comparison| comparison.verdict)
    }
}
