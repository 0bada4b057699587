//! What was watched, under which configurations, and by which method.

use std::collections::BTreeMap;

use iolag_analysis::history::{CorrelationMethod, GapRecord, time_in_gaps};
use iolag_model::{Configuration, Nanoseconds, SeriesKind, counted, format_count, format_duration};

use super::head::{hosts, sorted, targets};
use super::report::HistoryReport;
use crate::html::markup::Markup;

/// Gaps that are told one by one.
const GAPS_MOST: usize = 8;
/// Configurations that are told, the latest.
const CONFIGURATIONS_MOST: usize = 60;

/// Facts, configurations and method.
pub(super) fn watched(report: &HistoryReport<'_>, page: &mut Markup) {
    facts(report, page);
    configurations(report, page);
    method(report, page);
}

fn facts(report: &HistoryReport<'_>, page: &mut Markup) {
    let analysis = report.analysis;
    page.raw("<dl class=\"facts\">\n");
    fact(page, "History", &report.head.place);
    if let (Some(begin), Some(end)) = (analysis.begin, analysis.end) {
        let span = format_duration(end.since(begin));
        fact(page, "Time", &format!("{} to {} UTC, {span}", begin.in_words(), end.in_words()));
    }
    fact(page, "Hosts", &hosts(report).join(", "));
    fact(page, "Targets", &targets(report).join(", "));
    fact(page, "Tasks", &tasks(report));
    fact(page, "Period", &periods(report));
    fact(page, "Imported", &imported(report));
    fact(page, "Gaps", &gaps(report));
    page.raw("</dl>\n");
}

fn fact(page: &mut Markup, name: &'static str, value: &str) {
    if !value.is_empty() {
        page.raw("<div>").element("<dt>", name, "</dt>").element("<dd>", value, "</dd>").raw("</div>\n");
    }
}

/// Tasks with what they execute.
fn tasks(report: &HistoryReport<'_>) -> String {
    let mut described: BTreeMap<&str, &str> = BTreeMap::new();
    for one in &report.analysis.series {
        let series = &one.summary.series;
        if series.key.part.is_empty() {
            let description = described.entry(&series.key.task).or_default();
            if description.is_empty() {
                *description = &series.description;
            }
        }
    }
    let told = described.into_iter().map(|(task, description)| match description {
        "" => task.to_owned(),
        _ => format!("{task} ({description})"),
    });
    told.collect::<Vec<_>>().join("; ")
}

fn periods(report: &HistoryReport<'_>) -> String {
    let mut periods: Vec<Nanoseconds> = report
        .analysis
        .series
        .iter()
        .map(|one| one.summary.series.period_ns)
        .filter(|period| *period > Nanoseconds::ZERO)
        .collect();
    periods.sort_unstable();
    periods.dedup();
    let told: Vec<String> = periods.into_iter().map(|period| format!("every {}", whole(period))).collect();
    told.join(", ")
}

/// `15 min` instead of `15 min 00 s`.
fn whole(duration: Nanoseconds) -> String {
    let text = format_duration(duration);
    [" 00 s", " 00 min", " 0 h"].iter().find_map(|rest| text.strip_suffix(rest)).unwrap_or(&text).to_owned()
}

fn imported(report: &HistoryReport<'_>) -> String {
    let is_imported = |kind| matches!(kind, SeriesKind::ImportedDuration | SeriesKind::ImportedValue);
    let count = report.analysis.series.iter().filter(|one| is_imported(one.summary.series.kind)).count();
    match count {
        0 => String::new(),
        count if count == report.analysis.series.len() => {
            "everything: measured by something else, and brought with `iolag import`".replace('`', "")
        }
        count => format!("{} of the series were measured by something else", format_count(count as u64)),
    }
}

fn gaps(report: &HistoryReport<'_>) -> String {
    let gaps = &report.analysis.gaps;
    if gaps.is_empty() {
        let is_probed = |kind| matches!(kind, SeriesKind::Task | SeriesKind::Control);
        let any = report.analysis.series.iter().any(|one| is_probed(one.summary.series.kind));
        return if any { "none: every round is there".to_owned() } else { String::new() };
    }
    let sum = time_in_gaps(gaps);
    let mut longest: Vec<_> = gaps.iter().collect();
    longest.sort_by_key(|gap| std::cmp::Reverse(gap.length()));
    longest.truncate(GAPS_MOST);
    longest.sort_by_key(|gap| gap.begin);
    let several_hosts = hosts(report).len() > 1;
    let told: Vec<String> = longest
        .iter()
        .map(|gap| {
            let is_whole = gap.target.is_empty() && !several_hosts;
            let place = if is_whole { String::new() } else { format!("{}: ", gap.place()) };
            let why = match (gap.record, gap.is_watched) {
                (GapRecord::Imported, _) => " (of what was imported)",
                (GapRecord::Watched, true) => " (iolag ran, but could not measure)",
                (GapRecord::Watched, false) => "",
            };
            format!("{place}{} to {}{why}", gap.begin.in_words(), gap.end.in_words())
        })
        .collect();
    let more = if gaps.len() > told.len() { ", …" } else { "" };
    format!(
        "{}, {} in all, in which nothing was measured: {}{more}",
        counted(gaps.len() as u64, "gap", "gaps"),
        format_duration(sum),
        told.join("; ")
    )
}

/// Of each host and target the first in full, then what changed.
fn configurations(report: &HistoryReport<'_>, page: &mut Markup) {
    let all = &report.analysis.configurations;
    if all.is_empty() {
        return;
    }
    page.raw("<h3>Configurations</h3>\n");
    let left_out = all.len().saturating_sub(CONFIGURATIONS_MOST);
    if left_out > 0 {
        page.raw("<p>").text(&format!("The latest of {}; ", format_count(all.len() as u64)));
        page.raw("<code>iolag show history --json FILE</code> has all.</p>\n");
    }
    page.raw(
        "<div class=\"table-box\"><table class=\"moments\"><thead><tr><th scope=\"col\">First seen</th>",
    );
    page.raw(
        "<th scope=\"col\">Where</th><th scope=\"col\">Facts, or what changed</th></tr></thead>\n<tbody>\n",
    );
    for (index, one) in all.iter().enumerate() {
        if index < left_out {
            continue;
        }
        let previous = all[..index].iter().rfind(|before| before.is_of_same(one));
        let place = sorted([one.host.as_str(), one.target.as_str()].into_iter());
        let place = if one.target.is_empty() { one.host.clone() } else { place.join(" ") };
        page.raw("<tr><td>").text(&one.first_seen.in_words()).raw("</td><td>").text(&place).raw("</td><td>");
        let facts: Vec<String> = match previous {
            None => one.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect(),
            Some(previous) => differences(previous, one),
        };
        page.text(&if facts.is_empty() { "as before".to_owned() } else { facts.join("; ") });
        page.raw("</td></tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

fn differences(before: &Configuration, after: &Configuration) -> Vec<String> {
    let changed = after.facts.iter().filter(|(name, value)| before.facts.get(*name) != Some(*value));
    let mut told: Vec<String> = changed
        .map(|(name, value)| match before.facts.get(name) {
            Some(old) => format!("{name}: {old} → {value}"),
            None => format!("{name}: {value} (new)"),
        })
        .collect();
    let gone = before.facts.keys().filter(|name| !after.facts.contains_key(*name));
    told.extend(gone.map(|name| format!("{name}: gone")));
    told
}

fn method(report: &HistoryReport<'_>, page: &mut Markup) {
    let how = match report.analysis.correlations.options.method {
        CorrelationMethod::Spearman => "Spearman's, of ranks",
        CorrelationMethod::Pearson => "Pearson's, of values as recorded",
        CorrelationMethod::PearsonLog => "Pearson's, of logarithms",
    };
    page.raw("<h3>Method and limits</h3>\n<p class=\"method\">");
    page.text(&format!(
        "Each sample is one execution of a small task, started on schedule whether or not the one before was fast. No attempt is left \
         out: what timed out or hung counts as at least as long as it was watched (Kaplan and Meier), what was shorter than the clock \
         could tell as below its resolution, and what failed is counted apart. “By attempt” counts each attempt once; “at any time” \
         counts each scheduled slot once and gives a slot that was skipped during a hang what was left of that hang, which is what \
         somebody who came then would have waited. Intervals are 95 % and allow for autocorrelation. Correlations are {how}; \
         their p come from the products of both series' cosine coefficients with random signs and sizes, adjusted for the number of pairs and lags \
         (Benjamini and Hochberg). Changes of level are found by how much likelier a step makes the values than noise that remembers does, \
         and have to be of 10 % at least. Periods are those of ranks; of more than 65,536 values means of stretches of \
         time are searched, so that the shortest periods are not seen. That an event stands next to a change does not prove that it caused it. \
         Days and hours are those of {}. What happened between two samples, or while nobody watched, is not known.",
        report.zone
    ));
    page.raw("</p>\n");
}
