//! Durations by levels of a covariate: how long a task takes while few jobs run, and while many do.

use iolag_analysis::history::{CovariateLevel, CovariateStrata, Quantity, ThresholdShare, amount_in_words};
use iolag_model::{Nanoseconds, SeriesKey, format_count, format_duration};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, columns};
use crate::words::history::{estimate, share_over, with_interval};
use crate::words::names::task;

/// What takes longer is felt: the share that is told of each level.
pub(crate) const FELT: Nanoseconds = Nanoseconds::from_seconds(1);

/// What the tables say of themselves.
const EXPLANATION: &str = "attempts by the value nearest in time, in thirds; median with 95 % interval, slowest 5 %, share that \
     takes long";

impl Page<'_> {
    /// A table for each covariate by which anything has levels.
    pub(super) fn strata_text(&self) -> String {
        let strata = self.analysis.series.iter().flat_map(|one| &one.by_covariate);
        let mut covariates: Vec<&SeriesKey> = strata.map(|strata| &strata.covariate).collect();
        covariates.sort_unstable();
        covariates.dedup();
        covariates.into_iter().map(|covariate| self.strata_by(covariate)).collect()
    }

    fn strata_by(&self, covariate: &SeriesKey) -> String {
        let with_intervals = self.strata_table(covariate, true);
        let table = if with_intervals.width() <= self.width {
            with_intervals
        } else {
            self.strata_table(covariate, false)
        };
        let title = format!("By {}", self.names.series(covariate));
        self.heading(&title, EXPLANATION) + &table.render(self.colour)
    }

    fn strata_table(&self, covariate: &SeriesKey, has_intervals: bool) -> Table {
        let right = Side::Right;
        let mut names = columns([("", Side::Left)]);
        names.push((task(covariate).into(), right));
        names.extend(columns([("n", right), ("median", right), ("p95", right)]));
        names.push((format!("> {}", format_duration(FELT)).into(), right));
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        let mut previous = None;
        for one in &self.analysis.series {
            let Some(strata) = one.by_covariate.iter().find(|strata| strata.covariate == *covariate) else {
                continue;
            };
            let place = self.names.place(&one.summary.series.key);
            if previous.as_ref() != Some(&place) {
                table.section(&place);
                previous = Some(place);
            }
            for (index, level) in strata.levels.iter().enumerate() {
                let name = if index == 0 { task(&one.summary.series.key) } else { String::new() };
                table.row(row(&format!("  {name}"), strata, level, has_intervals));
            }
        }
        table
    }
}

fn row(name: &str, strata: &CovariateStrata, level: &CovariateLevel, has_intervals: bool) -> Vec<Cell> {
    let summary = &level.summary;
    let quantile = |q: f64| summary.quantiles.iter().find(|quantile| quantile.q == q);
    vec![
        Cell::new(name),
        Cell::new(range(strata, level)),
        Cell::new(format_count(summary.counts.total())),
        Cell::new(quantile(0.5).map_or_else(String::new, |median| with_interval(median, Quantity::Duration))),
        Cell::new(quantile(0.95).map_or_else(String::new, |p95| estimate(p95.value, Quantity::Duration))),
        Cell::new(felt(level).map_or_else(String::new, |share| share_over(share, has_intervals))),
    ]
}

/// The share of a level that is felt.
pub(crate) fn felt(level: &CovariateLevel) -> Option<&ThresholdShare> {
    level.summary.shares.iter().find(|share| share.counted.threshold_ns == FELT)
}

/// The values of a level, as in `4–11 jobs`, `0`, `0.25–1.5`.
pub(crate) fn range(strata: &CovariateStrata, level: &CovariateLevel) -> String {
    let (least, greatest) = (value(level.least_value), value(level.greatest_value));
    let range = if least == greatest { least } else { format!("{least}–{greatest}") };
    if strata.unit.is_empty() { range } else { format!("{range} {}", strata.unit) }
}

/// Whole numbers are counts mostly, and stand without decimals.
fn value(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        amount_in_words(value, Quantity::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_no_decimals() {
        assert_eq!([0.0, 12.0, -3.0].map(value), ["0", "12", "-3"]);
        assert_eq!(value(0.25), amount_in_words(0.25, Quantity::Value));
    }
}
