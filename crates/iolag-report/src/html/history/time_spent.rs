//! Where the time of a task goes: its processor time against its waiting.

use iolag_analysis::history::Quantity;

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::text::history::time_spent::known;
use crate::words::history::{estimate, with_interval};
use crate::words::numbers::NOTHING;

/// A table, if the processor time of anything is known.
pub(super) fn time_spent(report: &HistoryReport<'_>, page: &mut Markup) {
    let all: Vec<_> = known(report.analysis.series.iter().map(|one| &one.summary)).collect();
    if all.is_empty() {
        return;
    }
    page.raw("<h3>Where the time goes</h3>\n<p>Medians: the processor time of a task and of all that it starts, and the rest, which is waiting. ");
    page.raw("Each is a median of its own, so they need not add up.</p>\n");
    page.begin_table("rates", "", &["Series", "Duration", "Processor", "Waiting"]);
    let names = report.names();
    for (summary, processor, waiting) in all {
        let duration = summary.by_attempt.median().map(|median| estimate(median.value, Quantity::Duration));
        page.raw("<tr>").element("<th scope=\"row\">", &names.series(&summary.series.key), "</th>");
        for cell in [
            duration.unwrap_or_else(|| NOTHING.to_owned()),
            with_interval(&processor.median, Quantity::Duration),
            with_interval(&waiting.median, Quantity::Duration),
        ] {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}
