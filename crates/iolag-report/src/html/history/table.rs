//! The table of all series, with the raw numbers next to the readable ones: those of `iolag show history --json`.
//!
//! The page's script sorts by `data-value` and copies `data-value` as CSV; without it the table is complete.

use iolag_analysis::history::{Estimate, Quantity, SeriesSummary, WeightedSummary, Weighting};
use iolag_model::{SeriesKind, WallTime, format_count, format_duration};

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::text::history::series::{latest_regimes, time_of};
use crate::words::history::{estimate, share_over, with_interval};
use crate::words::names::task;

/// Seconds over this are set in the colour of trouble.
const SLOW_SECONDS: f64 = 1.0;
/// Quantiles of the table, of those in the analysis.
const QUANTILES: [(f64, &str, &str); 5] = [
    (0.25, "25 %", "p25"),
    (0.5, "median [95 %]", "median"),
    (0.9, "p90", "p90"),
    (0.95, "p95", "p95"),
    (0.99, "p99", "p99"),
];

/// Durations, then values.
pub(super) fn table(report: &HistoryReport<'_>, page: &mut Markup) {
    let all: Vec<&SeriesSummary> = report.analysis.series.iter().map(|one| &one.summary).collect();
    let (durations, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|one| one.quantity == Quantity::Duration);
    let (benchmarks, values): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|one| one.series.kind.is_of_runs());
    if durations.is_empty() && values.is_empty() && benchmarks.is_empty() {
        page.raw("<p class=\"nothing\">Nothing was measured, so there is no table.</p>\n");
    }
    if !durations.is_empty() {
        write_table(report, &durations, "Durations", page);
    }
    if !benchmarks.is_empty() {
        write_table(report, &benchmarks, "Benchmarks, a value for each run", page);
    }
    if !values.is_empty() {
        write_table(report, &values, "Values", page);
    }
}

fn write_table(report: &HistoryReport<'_>, summaries: &[&SeriesSummary], caption: &str, page: &mut Markup) {
    let thresholds = summaries.first().map(|one| one.by_attempt.shares.as_slice()).unwrap_or_default();
    let has_hosts = report.names().several_hosts;
    let unit = if thresholds.is_empty() { "" } else { "_seconds" };
    page.raw("<div class=\"table-box\"><table class=\"numbers\">").element(
        "<caption>",
        caption,
        "</caption>",
    );
    page.raw("<thead><tr>");
    let heading = |page: &mut Markup, title: &str, name: &str| {
        page.raw("<th scope=\"col\"").attribute("data-name", name).raw(">").text(title).raw("</th>");
    };
    heading(page, "Target", "target");
    heading(page, "Task", "task");
    if has_hosts {
        heading(page, "Host", "host");
    }
    heading(page, "Counting", "weighting");
    heading(page, "n", "observations");
    for (_, title, name) in QUANTILES {
        heading(page, title, &format!("{name}{unit}"));
    }
    heading(page, "max", &format!("greatest{unit}"));
    for share in thresholds {
        let threshold = share.counted.threshold_ns;
        heading(
            page,
            &format!("> {}", format_duration(threshold)),
            &format!("over_{}_s_share", threshold.as_seconds()),
        );
    }
    if !thresholds.is_empty() {
        for (title, name) in ENDINGS {
            heading(page, title, name);
        }
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for summary in summaries {
        for weighted in std::iter::once(&summary.by_attempt).chain(&summary.by_time) {
            let counting = match weighted.weighting {
                Weighting::ByAttempt => "by attempt",
                Weighting::ByTime => "at any time",
            };
            write_row(summary, (counting, weighted), Row::Whole, has_hosts, page);
        }
        for regime in latest_regimes(summary) {
            write_row(
                summary,
                (&time_of(regime, WallTime::in_words), &regime.summary),
                Row::Regime,
                has_hosts,
                page,
            );
        }
    }
    page.raw("</tbody></table></div>\n");
}

const ENDINGS: [(&str, &str); 5] = [
    ("time-outs", "timeout"),
    ("hung", "hung"),
    ("late", "late"),
    ("failed", "error"),
    ("skipped", "skipped"),
];

/// What a row tells of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// All the time that is looked at.
    Whole,
    /// The time between two changes of level: how attempts ended is told of all.
    Regime,
}

fn write_row(
    summary: &SeriesSummary,
    (counting, weighted): (&str, &WeightedSummary),
    row: Row,
    has_hosts: bool,
    page: &mut Markup,
) {
    let key = &summary.series.key;
    let target = if key.is_of_host() { "the host" } else { &key.target };
    page.raw("<tr").attribute("class", kind_of(summary)).raw("><td>").text(target).raw("</td>");
    page.element("<th scope=\"row\">", &task(key), "</th>");
    if has_hosts {
        page.element("<td class=\"text\">", &key.host, "</td>");
    }
    page.element("<td class=\"text\">", counting, "</td>");
    let count = weighted.counts.total();
    number(page, "", &count.to_string(), &format_count(count));
    for (q, ..) in QUANTILES {
        match weighted.quantiles.iter().find(|quantile| quantile.q == q) {
            Some(found) if q == 0.5 => {
                amount(page, summary, found.value, &with_interval(found, summary.quantity))
            }
            Some(found) => amount(page, summary, found.value, &estimate(found.value, summary.quantity)),
            None => number(page, "", "", ""),
        }
    }
    amount(page, summary, weighted.greatest, &estimate(weighted.greatest, summary.quantity));
    for share in &weighted.shares {
        let class = if share.counted.over > 0 { "warning" } else { "faint" };
        let raw = if share.of == 0 {
            String::new()
        } else {
            (share.counted.over as f64 / share.of as f64).to_string()
        };
        number(page, class, &raw, &share_over(share, true));
    }
    if summary.quantity == Quantity::Duration {
        let rates = &summary.rates.total;
        for rate in [&rates.timeout, &rates.hung, &rates.late, &rates.error, &rates.skipped] {
            let class = if rate.count > 0 { "serious" } else { "faint" };
            match row {
                Row::Whole => number(page, class, &rate.count.to_string(), &format_count(rate.count)),
                Row::Regime => number(page, "", "", ""),
            }
        }
    }
    page.raw("</tr>\n");
}

const fn kind_of(summary: &SeriesSummary) -> &'static str {
    match summary.series.kind {
        SeriesKind::Task => "task",
        SeriesKind::Control => "control",
        SeriesKind::Covariate => "covariate",
        SeriesKind::ImportedDuration | SeriesKind::ImportedValue => "imported",
        SeriesKind::Benchmark => "benchmark",
        SeriesKind::BenchmarkControl => "benchmark, control",
    }
}

fn amount(page: &mut Markup, summary: &SeriesSummary, value: Estimate, readable: &str) {
    let is_slow =
        summary.quantity == Quantity::Duration && value.bound().is_some_and(|bound| bound > SLOW_SECONDS);
    let raw = value.bound().map(|bound| bound.to_string()).unwrap_or_default();
    let unit = if summary.series.unit.is_empty() || raw.is_empty() {
        String::new()
    } else {
        format!(" {}", summary.series.unit)
    };
    number(page, if is_slow { "serious" } else { "" }, &raw, &format!("{readable}{unit}"));
}

fn number(page: &mut Markup, class: &'static str, value: &str, readable: &str) {
    page.raw("<td");
    if !class.is_empty() {
        page.attribute("class", class);
    }
    page.attribute("data-value", value).raw(">").text(readable).raw("</td>");
}
