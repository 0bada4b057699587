//! Where the time of a task goes: its processor time against its waiting.

use iolag_analysis::history::{BesideSummary, Quantity, SeriesSummary};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, columns};
use crate::words::history::{estimate, with_interval};
use crate::words::names::label;
use crate::words::numbers::NOTHING;

/// What the table says of itself.
const EXPLANATION: &str = "medians with 95 % interval: the processor time of the task and of all that it starts, and the rest, which is waiting";

/// Series whose processor time is known, with it and with their waiting.
pub(crate) fn known<'a>(
    summaries: impl IntoIterator<Item = &'a SeriesSummary>,
) -> impl Iterator<Item = (&'a SeriesSummary, &'a BesideSummary, &'a BesideSummary)> {
    summaries.into_iter().filter_map(|summary| {
        let beside = |quantity| summary.beside.iter().find(|one| one.quantity == quantity);
        Some((summary, beside(Quantity::ProcessorTime)?, beside(Quantity::Waiting)?))
    })
}

impl Page<'_> {
    /// A table, if the processor time of anything is known.
    pub(super) fn time_spent(&self, summaries: &[&SeriesSummary]) -> String {
        let right = Side::Right;
        let names =
            columns([("", Side::Left), ("duration", right), ("processor", right), ("waiting", right)]);
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        let all: Vec<_> = known(summaries.iter().copied()).collect();
        if all.is_empty() {
            return String::new();
        }
        let of = |summary: &SeriesSummary| all.iter().find(|(one, ..)| one.series.key == summary.series.key);
        let with_processor: Vec<&SeriesSummary> = all.iter().map(|(summary, ..)| *summary).collect();
        self.fill(&mut table, &with_processor, |summary| {
            let Some((_, processor, waiting)) = of(summary) else { return Vec::new() };
            let duration = summary.by_attempt.median();
            vec![vec![
                Cell::new(label(&summary.series.key)),
                Cell::new(
                    duration.map_or_else(
                        || NOTHING.to_owned(),
                        |median| estimate(median.value, Quantity::Duration),
                    ),
                ),
                Cell::new(with_interval(&processor.median, Quantity::Duration)),
                Cell::new(with_interval(&waiting.median, Quantity::Duration)),
            ]]
        });
        self.heading("Where the time goes", EXPLANATION) + &table.render(self.colour)
    }
}
