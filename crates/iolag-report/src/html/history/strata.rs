//! Durations by levels of a covariate.

use iolag_analysis::history::{Quantity, SeriesAnalysis};
use iolag_model::{SeriesKey, format_count, format_duration};

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::text::history::strata::{FELT, felt, range};
use crate::words::history::{estimate, share_over, with_interval};
use crate::words::names::task;

/// A table for each covariate by which anything has levels.
pub(super) fn strata(report: &HistoryReport<'_>, page: &mut Markup) {
    let strata = report.analysis.series.iter().flat_map(|one| &one.by_covariate);
    let mut covariates: Vec<&SeriesKey> = strata.map(|strata| &strata.covariate).collect();
    covariates.sort_unstable();
    covariates.dedup();
    if covariates.is_empty() {
        return;
    }
    page.raw("<h3>By what was asked beside it</h3>\n<p>Each attempt stands with the value that is nearest in time; about a third of the attempts ");
    page.raw("is a level. What was there at the same time need not be the cause.</p>\n");
    for covariate in covariates {
        begin_table(report, covariate, page);
        for one in &report.analysis.series {
            rows(report, one, covariate, page);
        }
        page.raw("</tbody></table></div>\n");
    }
}

fn begin_table(report: &HistoryReport<'_>, covariate: &SeriesKey, page: &mut Markup) {
    page.raw("<div class=\"table-box\"><table class=\"rates\">");
    page.element("<caption>", &format!("By {}", report.names().series(covariate)), "</caption>");
    page.raw("<thead><tr><th scope=\"col\">Series</th>");
    let over = format!("> {}", format_duration(FELT));
    for name in [task(covariate).as_str(), "attempts", "median [95 %]", "p95", over.as_str()] {
        page.element("<th scope=\"col\">", name, "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
}

fn rows(report: &HistoryReport<'_>, one: &SeriesAnalysis, covariate: &SeriesKey, page: &mut Markup) {
    let Some(strata) = one.by_covariate.iter().find(|strata| strata.covariate == *covariate) else { return };
    for level in &strata.levels {
        let quantile = |q: f64| level.summary.quantiles.iter().find(|quantile| quantile.q == q);
        page.raw("<tr>").element(
            "<th scope=\"row\">",
            &report.names().series(&one.summary.series.key),
            "</th>",
        );
        for cell in [
            range(strata, level),
            format_count(level.summary.counts.total()),
            quantile(0.5).map_or_else(String::new, |median| with_interval(median, Quantity::Duration)),
            quantile(0.95).map_or_else(String::new, |p95| estimate(p95.value, Quantity::Duration)),
            felt(level).map_or_else(String::new, |share| share_over(share, true)),
        ] {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
}
