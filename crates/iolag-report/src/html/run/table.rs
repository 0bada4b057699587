//! The table of a run: a row per operation and place, with the raw numbers next to the readable ones.
//!
//! The page's script sorts by `data-value` and copies `data-value` as CSV; without it the table is complete.

use iolag_analysis::{QuantileEstimate, QuantileValue, ShareOver, TimeSpent};
use iolag_model::{Level, Nanoseconds, format_count};

use super::report::ReportedRun;
use crate::html::markup::Markup;
use crate::text::table::Side;
use crate::words::estimates::{median_of_task, quantile, share};
use crate::words::numbers::{NOTHING, rate};
use crate::words::profile::{self, PARTS_TITLE, PartsTable, title};
use crate::workload::{Row, TraceTable, judged};

/// Durations over this are set in the colour of trouble, as in text output.
const SLOW: Nanoseconds = Nanoseconds::from_seconds(1);

/// Rows of everything that was measured; iolag's own operations are left out.
fn rows<'a>(run: &ReportedRun<'a>) -> Vec<Row<'a>> {
    let mut rows = judged(run.analysis).rows();
    rows.retain(|row| row.summary.key.operation.level() != Level::Harness);
    rows
}

/// What a column holds.
struct Column {
    title: String,
    /// Name in the CSV, with its unit.
    name: String,
}

/// Columns that not every table has.
#[derive(Clone, Copy)]
struct Has {
    rates: bool,
    interrupted: bool,
    retried: bool,
}

/// Writes the table, and what was not measured in attempts; `caption` names the run.
pub(super) fn table(run: &ReportedRun<'_>, caption: &str, page: &mut Markup) {
    let (rows, lists) = (rows(run), judged(run.analysis).lists());
    if !rows.is_empty() || lists.is_empty() {
        table_of_rows(run, &rows, caption, page);
    }
    parts_of_requests(run, &rows, page);
    lists.iter().for_each(|list| write_list(list, page));
}

fn table_of_rows(run: &ReportedRun<'_>, rows: &[Row<'_>], caption: &str, page: &mut Markup) {
    if rows.is_empty() {
        page.raw("<p class=\"nothing\">Nothing was measured, so there is no table.</p>\n");
        return;
    }
    let known_rows = judged(run.analysis).known_rows();
    let known: Vec<&Row<'_>> =
        rows.iter().filter(|row| known_rows.contains(&row.summary.key.operation)).collect();
    let all: Vec<&Row<'_>> = rows.iter().collect();
    if known.is_empty() || known.len() == all.len() {
        return write_table(run, &all, caption, page);
    }
    write_table(run, &known, caption, page);
    page.raw("<details><summary>All rows</summary>\n");
    write_table(run, &all, caption, page);
    page.raw("</details>\n");
}

fn write_table(run: &ReportedRun<'_>, rows: &[&Row<'_>], caption: &str, page: &mut Markup) {
    let thresholds = thresholds(rows);
    let has = Has {
        rates: rows.iter().any(|row| row.per_second.is_some()),
        interrupted: rows.iter().any(|row| row.summary.interrupted > 0),
        retried: rows.iter().any(|row| row.summary.retried > 0),
    };
    page.raw("<div class=\"table-box\"><table class=\"numbers\">").element(
        "<caption>",
        caption,
        "</caption>",
    );
    page.raw("<thead><tr>");
    for column in columns(run, &thresholds, has) {
        page.raw("<th scope=\"col\"").attribute("data-name", &column.name).raw(">");
        page.text(&column.title).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for row in rows {
        write_row(run, row, &thresholds, has, page);
    }
    page.raw("</tbody></table></div>\n");
}

/// Where the time of each operation went, if a server was asked.
fn parts_of_requests<'a>(run: &ReportedRun<'_>, rows: &'a [Row<'a>], page: &mut Markup) {
    let of = |row: &'a Row<'a>| Some((row, TimeSpent::of(std::iter::once(row.summary))?));
    let (asked, spent): (Vec<_>, Vec<_>) = rows.iter().filter_map(of).unzip();
    let Some(parts) = PartsTable::of(&spent) else { return };
    page.raw("<div class=\"table-box\"><table class=\"numbers\">");
    page.element("<caption>", PARTS_TITLE, "</caption>").raw("<thead><tr>");
    let (place, place_name) = judged(run.analysis).place_column();
    for (title, name) in [(place, place_name), ("Operation", "operation")] {
        page.raw("<th scope=\"col\"").attribute("data-name", name).raw(">").text(title).raw("</th>");
    }
    for column in &parts.columns {
        page.element("<th scope=\"col\">", title(*column), "</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for (row, amounts) in asked.into_iter().zip(&parts.rows) {
        page.raw("<tr><td>").text(&row.place).raw("</td><th scope=\"row\">");
        page.text(judged(run.analysis).operation_name(row.summary.key.operation)).raw("</th>");
        for (column, amount) in parts.columns.iter().zip(amounts) {
            match amount {
                Some(amount) => number(page, "", &amount.to_string(), &profile::number(*column, *amount)),
                None => number(page, "faint", "", NOTHING),
            }
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// A table of what was not measured in attempts.
fn write_list(list: &TraceTable, page: &mut Markup) {
    page.raw("<div class=\"table-box\"><table class=\"numbers list\">").element(
        "<caption>",
        list.title,
        "</caption>",
    );
    page.raw("<thead><tr>");
    for (place, (title, side)) in list.columns.iter().enumerate() {
        page.raw("<th scope=\"col\"").raw(class(list, place, *side)).attribute("data-name", title).raw(">");
        page.text(title).raw("</th>");
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for row in &list.rows {
        page.raw("<tr>");
        for (place, (cell, (_, side))) in row.iter().zip(&list.columns).enumerate() {
            page.raw("<td").raw(class(list, place, *side));
            if let Some(value) = cell.value {
                page.attribute("data-value", &value.to_string());
            }
            page.raw(">").text(&cell.text).raw("</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// Paths stand last, and are broken where they are long.
const fn class(list: &TraceTable, place: usize, side: Side) -> &'static str {
    match side {
        Side::Left if place > 0 && place + 1 == list.columns.len() => " class=\"word path\"",
        Side::Left => " class=\"word\"",
        Side::Right => "",
    }
}

fn thresholds(rows: &[&Row<'_>]) -> Vec<Nanoseconds> {
    let longest = rows.iter().map(|row| &row.summary.durations.shares).max_by_key(|shares| shares.len());
    longest.map(|shares| shares.iter().map(|share| share.threshold_ns).collect()).unwrap_or_default()
}

fn columns(run: &ReportedRun<'_>, thresholds: &[Nanoseconds], has: Has) -> Vec<Column> {
    let column = |title: &str, name: &str| Column { title: title.to_owned(), name: name.to_owned() };
    let (place, place_name) = judged(run.analysis).place_column();
    let mut columns = vec![
        column(place, place_name),
        column("Operation", "operation"),
        column("attempts", "attempts"),
        column("not ok", "not_ok"),
    ];
    if has.interrupted {
        columns.push(column("interrupted", "interrupted"));
    }
    if has.retried {
        columns.push(column("retried", "retried"));
    }
    if has.rates {
        columns.push(column("per s", "per_second"));
    }
    for (title, name) in [
        ("min", "min_ns"),
        ("median [95 %]", "median_ns"),
        ("p90", "p90_ns"),
        ("p95", "p95_ns"),
        ("p99", "p99_ns"),
        ("max", "max_ns"),
    ] {
        columns.push(column(title, name));
    }
    columns.extend(thresholds.iter().map(|threshold| Column {
        title: format!("> {} s", threshold.as_seconds()),
        name: format!("over_{}_s_share", threshold.as_seconds()),
    }));
    columns
}

fn write_row(run: &ReportedRun<'_>, row: &Row<'_>, thresholds: &[Nanoseconds], has: Has, page: &mut Markup) {
    let summary = row.summary;
    let durations = &summary.durations;
    page.raw("<tr><td>").text(&row.place).raw("</td><th scope=\"row\">");
    page.text(judged(run.analysis).operation_name(summary.key.operation)).raw("</th>");
    number(page, "", &summary.attempts.to_string(), &format_count(summary.attempts));
    // What iolag itself ended is no fault of the target, and what came late was no success.
    let not_ok = summary.failures() + summary.late + summary.timeout + summary.hung + summary.skipped;
    let class = if not_ok > 0 { "serious" } else { "faint" };
    number(page, class, &not_ok.to_string(), &format_count(not_ok));
    if has.interrupted {
        number(page, "faint", &summary.interrupted.to_string(), &format_count(summary.interrupted));
    }
    if has.retried {
        number(page, "faint", &summary.retried.to_string(), &format_count(summary.retried));
    }
    if has.rates {
        let per_second = row.per_second.unwrap_or(f64::NAN);
        number(page, "", &raw_number(per_second), &rate(per_second));
    }
    duration(page, durations.min, &quantile(durations.min));
    estimate(page, &durations.median, &median_of_task(&durations.median, row.partial));
    for of in [&durations.p90, &durations.p95, &durations.p99] {
        estimate(page, of, &quantile(of.value));
    }
    duration(page, durations.max, &quantile(durations.max));
    for threshold in thresholds {
        match durations.shares.iter().find(|share| share.threshold_ns == *threshold) {
            Some(over) => write_share(page, over, durations.count),
            None => number(page, "", "", ""),
        }
    }
    page.raw("</tr>\n");
}

fn write_share(page: &mut Markup, over: &ShareOver, attempts: u64) {
    let class = if over.over > 0 { "warning" } else { "faint" };
    let value = if attempts == 0 { String::new() } else { raw_number(over.over as f64 / attempts as f64) };
    number(page, class, &value, &share(over, attempts));
}

fn estimate(page: &mut Markup, estimate: &QuantileEstimate, readable: &str) {
    duration(page, estimate.value, readable);
}

fn duration(page: &mut Markup, value: QuantileValue, readable: &str) {
    let bound = value.lower_bound();
    let class = if bound.is_some_and(|bound| bound > SLOW) { "serious" } else { "" };
    let raw = bound.map(|bound| bound.0.to_string()).unwrap_or_default();
    number(page, class, &raw, readable);
}

fn number(page: &mut Markup, class: &'static str, value: &str, readable: &str) {
    page.raw("<td");
    if !class.is_empty() {
        page.attribute("class", class);
    }
    page.attribute("data-value", value).raw(">").text(readable).raw("</td>");
}

fn raw_number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
