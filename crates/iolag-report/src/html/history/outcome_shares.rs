//! How often probes pass their deadline, by weekday, hour and configuration, with intervals.

use iolag_analysis::history::{GroupRates, OutcomeRates, Rate, SeriesAnalysis, Weekday};
use iolag_model::{Configuration, ConfigurationKey, SeriesKey, counted, format_count};

use super::by_configuration::{by_configuration_and_day, host_rankings};
use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::words::estimates::{all_succeeded, no_deadline, rate as rate_in_words};
use crate::words::history::with_interval;
use crate::words::numbers::{NOTHING, percentage};

/// Series side by side in the tables by weekday and hour: those with most trouble.
const SERIES_MOST: usize = 8;

/// Tables of how attempts ended, as shares.
pub(super) fn outcome_shares(report: &HistoryReport<'_>, page: &mut Markup) {
    let whole = report
        .analysis
        .series
        .iter()
        .filter(|one| one.summary.series.kind.is_duration() && one.summary.series.key.part.is_empty());
    let mut troubled: Vec<&SeriesAnalysis> =
        whole.filter(|one| trouble(&one.summary.rates.total) > 0).collect();
    if !report.analysis.series.iter().any(|one| one.summary.series.kind.is_duration()) {
        return;
    }
    page.raw("<h3>Rates of trouble</h3>\n");
    if troubled.is_empty() {
        page.raw("<p>").text(&nothing_happened(report)).raw("</p>\n");
    } else {
        let count = troubled.len();
        troubled.sort_by_key(|one| std::cmp::Reverse(trouble(&one.summary.rates.total)));
        troubled.truncate(SERIES_MOST);
        let all = if count > SERIES_MOST {
            format!(" The {SERIES_MOST} series with most of it.")
        } else {
            String::new()
        };
        page.raw("<p>").text(&format!(
            "Share of attempts that passed their deadline (timed out, hung or late), failed, or were not started because an \
             earlier one hung; with 95 % intervals that know that hangs come in clusters. Days and hours are those of {}.{all}",
            report.zone
        ));
        page.raw("</p>\n");
        totals(report, &troubled, page);
        by_weekday(report, &troubled, page);
        by_hour(report, &troubled, page);
    }
    by_configuration(report, page);
    by_configuration_and_day(report, page);
    host_rankings(report, page);
}

const fn trouble(rates: &OutcomeRates) -> u64 {
    rates.past_deadline.count + rates.error.count + rates.skipped.count
}

/// What cannot be ruled out even so.
fn nothing_happened(report: &HistoryReport<'_>) -> String {
    let gaps = &report.analysis.gaps;
    let durations = report.analysis.series.iter().filter(|one| {
        one.summary.series.kind.is_duration()
            && one.summary.series.deadline_ns > iolag_model::Nanoseconds::ZERO
    });
    let rates = durations.map(|one| &one.summary.rates.total.past_deadline).filter(|rate| rate.of > 0);
    match rates.max_by(|one, other| one.interval.high.total_cmp(&other.interval.high)) {
        Some(worst) => format!(
            "{} Of the series that tells least, by {}, up to {} % might still not.",
            all_succeeded("", gaps),
            counted(worst.of, "attempt", "attempts"),
            percentage(100.0 * worst.interval.high)
        ),
        None => no_deadline(gaps),
    }
}

fn cell(page: &mut Markup, rate: &Rate, text: &str) {
    let class = if rate.count > 0 { "warning" } else { "faint" };
    page.raw("<td").attribute("class", class).raw(">").text(text).raw("</td>");
}

fn begin_table(page: &mut Markup, caption: &str, first: &'static str, names: &[String]) {
    page.raw("<div class=\"table-box\"><table class=\"rates\">").element("<caption>", caption, "</caption>");
    page.raw("<thead><tr><th scope=\"col\">").raw(first).raw("</th>");
    for name in names {
        page.element("<th scope=\"col\">", name, "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
}

fn totals(report: &HistoryReport<'_>, series: &[&SeriesAnalysis], page: &mut Markup) {
    let columns = ["slots", "timed out", "hung", "late", "failed", "skipped, of slots"].map(str::to_owned);
    begin_table(page, "In total", "Series", &columns);
    let names = report.names();
    for one in series {
        let rates = &one.summary.rates.total;
        page.raw("<tr>").element("<th scope=\"row\">", &names.series(&one.summary.series.key), "</th>");
        page.element("<td>", &format_count(rates.slots), "</td>");
        for rate in [&rates.timeout, &rates.hung, &rates.late, &rates.error, &rates.skipped] {
            let number = if rate.count > 0 {
                format!("{}: {}", format_count(rate.count), rate_in_words(rate))
            } else {
                rate_in_words(rate)
            };
            cell(page, rate, &number);
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// A table of attempts past their deadline; the first column names the groups.
fn grouped<K: PartialEq>(
    report: &HistoryReport<'_>,
    series: &[&SeriesAnalysis],
    page: &mut Markup,
    caption: (&str, &'static str),
    groups: &[(K, String)],
    of: for<'a> fn(&'a SeriesAnalysis) -> &'a [GroupRates<K>],
) {
    let past: Vec<&SeriesAnalysis> =
        series.iter().copied().filter(|one| one.summary.rates.total.past_deadline.count > 0).collect();
    if past.is_empty() {
        return;
    }
    let names = report.names();
    let columns: Vec<String> = past.iter().map(|one| names.series(&one.summary.series.key)).collect();
    begin_table(page, caption.0, caption.1, &columns);
    for (group, name) in groups {
        let rates: Vec<_> =
            past.iter().map(|one| of(one).iter().find(|rates| rates.group == *group)).collect();
        if rates.iter().all(Option::is_none) {
            continue;
        }
        page.raw("<tr>").element("<th scope=\"row\">", name, "</th>");
        for rates in rates {
            match rates.map(|rates| &rates.rates.past_deadline) {
                Some(rate) => cell(page, rate, &rate_in_words(rate)),
                None => {
                    page.raw("<td class=\"faint\">").raw(NOTHING).raw("</td>");
                }
            }
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

fn by_weekday(report: &HistoryReport<'_>, series: &[&SeriesAnalysis], page: &mut Markup) {
    let groups = Weekday::ALL.map(|day| (day, format!("{day:?}")));
    let caption = ("Past the deadline, by day of the week", "Day");
    grouped(report, series, page, caption, &groups, |one| &one.summary.rates.by_weekday);
}

fn by_hour(report: &HistoryReport<'_>, series: &[&SeriesAnalysis], page: &mut Markup) {
    let groups: Vec<(u8, String)> = (0..24).map(|hour| (hour, format!("{hour:02}:00"))).collect();
    page.raw("<details><summary>By hour of the day</summary>\n");
    let caption = ("Past the deadline, by hour of the day", "From");
    grouped(report, series, page, caption, &groups, |one| &one.summary.rates.by_hour);
    page.raw("</details>\n");
}

/// Medians and rates under each configuration, of series that had several.
fn by_configuration(report: &HistoryReport<'_>, page: &mut Markup) {
    let several: Vec<&SeriesAnalysis> = report
        .analysis
        .series
        .iter()
        .filter(|one| one.summary.by_configuration.len() > 1 && one.summary.series.key.part.is_empty())
        .collect();
    if several.is_empty() {
        return;
    }
    let columns =
        ["Configuration", "attempts", "median [95 %]", "past the deadline", "failed"].map(str::to_owned);
    begin_table(page, "By configuration", "Series", &columns);
    let names = report.names();
    for one in several {
        let summary = &one.summary;
        for under in &summary.by_configuration {
            let median = under
                .summary
                .median()
                .map_or_else(String::new, |median| with_interval(median, summary.quantity));
            page.raw("<tr>").element("<th scope=\"row\">", &names.series(&summary.series.key), "</th>");
            page.element("<td>", &configuration(report, &summary.series.key, under.configuration), "</td>");
            page.element("<td>", &format_count(under.summary.counts.total()), "</td>");
            page.element("<td>", &median, "</td>");
            match summary.rates.by_configuration.iter().find(|rates| rates.group == under.configuration) {
                Some(group) => [&group.rates.past_deadline, &group.rates.error]
                    .iter()
                    .for_each(|rate| cell(page, rate, &rate_in_words(rate))),
                None => {
                    page.raw("<td></td><td></td>");
                }
            }
            page.raw("</tr>\n");
        }
    }
    page.raw("</tbody></table></div>\n");
}

/// By the moment when it was first seen, as in the table of configurations.
fn configuration(report: &HistoryReport<'_>, series: &SeriesKey, key: ConfigurationKey) -> String {
    // Hosts and targets may share a configuration, and came to it at different times.
    let is_meant =
        |one: &&Configuration| one.key == key && one.host == series.host && one.target == series.target;
    match report.analysis.configurations.iter().find(is_meant) {
        Some(one) => format!("from {}", one.first_seen.in_words()),
        None if key == ConfigurationKey(0) => "not known".to_owned(),
        None => format!("{} not described", counted(1, "configuration", "configurations")),
    }
}
