//! The same task in two places: two targets of a host, or one target as two hosts see it.

use iolag_analysis::history::{ComparisonVerdict, HistoryAnalysis, SeriesComparison, Stratify};
use iolag_model::{counted, format_count};

use super::page::Page;
use crate::text::table::{Cell, ColumnGroup, Side, Table, Tone, columns};
use crate::words::history::{estimate, p, shift};
use crate::words::names::task;
use crate::words::numbers::NOTHING;

/// More are counted, and left to the document.
const COMPARISONS_MOST: usize = 30;

impl Page<'_> {
    /// A table of all that were compared.
    pub(super) fn comparisons_text(&self) -> String {
        let places = |one: &SeriesComparison| {
            format!("{} & {}", self.names.place(&one.first), self.names.place(&one.second))
        };
        let mut all: Vec<(String, &SeriesComparison)> =
            self.analysis.comparisons.iter().map(|one| (places(one), one)).collect();
        let refused = strata_refused(self.analysis).map_or_else(String::new, |told| self.item(0, &told));
        if all.is_empty() {
            return if refused.is_empty() { refused } else { format!("\n{refused}") };
        }
        // Stable: tasks stay in the order of their series.
        all.sort_by(|one, other| one.0.cmp(&other.0));
        let right = Side::Right;
        let names = columns([
            ("", Side::Left),
            ("first", right),
            ("second", right),
            ("second is", Side::Left),
            ("factor", right),
            ("p", right),
        ]);
        let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns: names }]);
        let mut previous = None;
        for (places, compared) in all.iter().take(COMPARISONS_MOST) {
            if previous != Some(places) {
                table.section(places);
                previous = Some(places);
            }
            table.row(row(compared));
        }
        let more = match all.len().saturating_sub(COMPARISONS_MOST) {
            0 => String::new(),
            count => self.item(2, &format!("{} more are in --json FILE", format_count(count as u64))),
        };
        let explanation = "medians at any time, hangs included; the factor is the usual ratio of the second to the first, with 95 % interval; p corrected for all that is compared";
        self.heading("Two places compared", explanation) + &table.render(self.colour) + &more + &refused
    }
}

/// That some comparisons, of events as well, were asked to be made within the same hour of the week and are not.
pub(crate) fn strata_refused(analysis: &HistoryAnalysis) -> Option<String> {
    let of_events =
        analysis.series.iter().flat_map(|one| &one.event_effects).map(|one| one.comparison.strata);
    let of_places = analysis.comparisons.iter().map(|one| one.comparison.strata);
    let (mut refused, mut asked) = (0, 0);
    for strata in of_places.chain(of_events).filter(|strata| strata.asked == Stratify::HourOfWeek) {
        asked += 1;
        refused += u64::from(strata.by != strata.asked);
    }
    (refused > 0).then(|| {
        format!(
            "{} of {} could not be made within the same hour of the week, for which both sides need two weeks of nine in ten of their attempts: there \
             attempts are compared whatever their hour.",
            format_count(refused),
            counted(asked, "comparison", "comparisons")
        )
    })
}

fn row(compared: &SeriesComparison) -> Vec<Cell> {
    let comparison = &compared.comparison;
    let median = |side: &iolag_analysis::history::ComparedSide| {
        Cell::new(estimate(side.median.value, comparison.quantity))
    };
    let tone = match comparison.verdict {
        ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew => Tone::Faint,
        _ => Tone::Plain,
    };
    vec![
        Cell::new(format!("  {}", task(&compared.first))),
        median(&comparison.first),
        median(&comparison.second),
        Cell::toned(comparison.verdict.to_string(), tone),
        Cell::new(comparison.shift.as_ref().map_or_else(|| NOTHING.to_owned(), shift)),
        Cell::new(comparison.greater.as_ref().map_or_else(|| NOTHING.to_owned(), p)),
    ]
}
