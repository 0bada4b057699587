//! Tasks by configuration and day, and which attributes of hosts explain what takes too long.

use iolag_analysis::history::HostRanking;

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::text::history::by_configuration::{
    DAYS_EXPLANATION, day_rows, days_title, mean_column, told_by_day,
};
use crate::text::history::host_rankings::{
    HOST_COLUMNS, HOSTS_EXPLANATION, attribute_rows, hosts_title, of_one_host, refusal,
};

/// Days of a configuration: the latest.
const DAYS_MOST: usize = 62;

/// A table for each task.
pub(super) fn by_configuration_and_day(report: &HistoryReport<'_>, page: &mut Markup) {
    for task in told_by_day(&report.analysis.by_day) {
        page.element("<h3>", &days_title(task), "</h3>\n");
        page.element("<p>", &format!("Columns: {DAYS_EXPLANATION}."), "</p>\n");
        page.raw("<div class=\"table-box\"><table class=\"rates\"><thead><tr>");
        let mean = mean_column(task);
        for name in ["configuration", "day", "attempts", mean.as_str(), "median", "past deadline"] {
            page.element("<th scope=\"col\">", name, "</th>");
        }
        page.raw("</tr></thead>\n<tbody>\n");
        let (rows, left_out) = day_rows(task, DAYS_MOST);
        rows.iter().for_each(|cells| row(page, cells));
        page.raw("</tbody></table></div>\n");
        if let Some(what) = left_out {
            page.raw("<p>").text(&format!("{what} more: "));
            page.raw("<code>iolag show history --json FILE</code> has all.</p>\n");
        }
    }
}

/// A table for each task, or why there is none.
pub(super) fn host_rankings(report: &HistoryReport<'_>, page: &mut Markup) {
    report.analysis.host_rankings.iter().for_each(|ranking| hosts(ranking, page));
}

fn hosts(ranking: &HostRanking, page: &mut Markup) {
    page.element("<h3>", &hosts_title(ranking), "</h3>\n");
    if let Some(refused) = refusal(ranking) {
        page.element("<p>", &refused, "</p>\n");
        return;
    }
    page.element("<p>", &format!("Here {HOSTS_EXPLANATION}."), "</p>\n");
    page.begin_table("rates", "", &HOST_COLUMNS);
    ranking.attributes.iter().flat_map(attribute_rows).for_each(|cells| row(page, &cells));
    page.raw("</tbody></table></div>\n");
    if let Some(told) = of_one_host(ranking) {
        page.element("<p>", &told, "</p>\n");
    }
}

fn row(page: &mut Markup, cells: &[String]) {
    let Some((name, cells)) = cells.split_first() else { return };
    page.raw("<tr>").element("<th scope=\"row\">", name, "</th>");
    cells.iter().for_each(|cell| {
        page.element("<td>", cell, "</td>");
    });
    page.raw("</tr>\n");
}
