//! What was copied between the targets of a campaign: from the target of the row to that of the column.

use super::report::ReportedRun;
use crate::html::markup::Markup;
use crate::workload::{CopyMatrix, StreamRun, copy_matrices};

/// Writes a table for each number of clients and size of blocks; nothing where nothing was copied between targets.
pub(super) fn copies(runs: &[ReportedRun<'_>], page: &mut Markup) {
    let runs: Vec<StreamRun<'_>> =
        runs.iter().filter_map(|run| StreamRun::of(run.record, run.analysis)).collect();
    let matrices = copy_matrices(&runs);
    if matrices.is_empty() {
        return;
    }
    page.element("<section id=\"copies\"><h2>", CopyMatrix::HEADING, "</h2>\n");
    page.raw("<p>In ").text(CopyMatrix::UNIT).raw(".</p>\n");
    for copies in &matrices {
        page.raw("<div class=\"table-box\"><table class=\"numbers list\">");
        page.element("<caption>", &copies.of, "</caption>")
            .raw("<thead><tr><th scope=\"col\" class=\"word\">from</th>");
        for to in &copies.to {
            page.raw("<th scope=\"col\">to ").text(to).raw("</th>");
        }
        page.raw("</tr></thead>\n<tbody>\n");
        for (from, cells) in &copies.rows {
            page.element("<tr><th scope=\"row\" class=\"word\">", from, "</th>");
            for cell in cells {
                page.element("<td>", cell, "</td>");
            }
            page.raw("</tr>\n");
        }
        page.raw("</tbody></table></div>\n");
    }
    page.raw("</section>\n");
}
