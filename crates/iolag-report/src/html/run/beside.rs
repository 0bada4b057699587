//! What everybody else felt while the load worked, as a table.

use iolag_analysis::BesideAnalysis;

use crate::html::markup::Markup;
use crate::workload::beside::table::{BesideLine, lines, own_load};

/// The table, with the load that those who measured were themselves.
pub(super) fn beside(analysis: Option<&BesideAnalysis>, name: Option<&str>, page: &mut Markup) {
    let Some(analysis) = analysis.filter(|analysis| !analysis.rows.is_empty()) else { return };
    page.raw("<section class=\"beside\"><h2>Beside the load</h2>\n");
    if let Some(name) = name {
        page.element("<h3>", name, "</h3>\n");
    }
    page.raw("<p>How long others waited before the load, during each of its stages and after it. ");
    page.text(&own_load(analysis))
        .raw("</p>\n<div class=\"table-box\"><table class=\"numbers list\"><thead><tr>");
    for title in ["Where", "What", "When"] {
        page.raw("<th scope=\"col\" class=\"word\">").text(title).raw("</th>");
    }
    for title in ["n", "median", "p95", "max", "hung", "times as long"] {
        page.raw("<th scope=\"col\">").text(title).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    lines(analysis).iter().for_each(|line| row(line, page));
    page.raw("</tbody></table></div>\n</section>\n");
}

fn row(line: &BesideLine, page: &mut Markup) {
    page.raw("<tr>");
    for word in [line.place, line.operation, &line.time] {
        page.raw("<td class=\"word\">").text(word).raw("</td>");
    }
    let numbers = [
        &line.attempts.to_string(),
        &line.median,
        &line.p95,
        &line.longest,
        &line.stuck.to_string(),
        &line.times_as_long,
    ];
    for number in numbers {
        page.raw("<td>").text(number).raw("</td>");
    }
    page.raw("</tr>\n");
}
