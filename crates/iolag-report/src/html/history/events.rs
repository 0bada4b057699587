//! Events with what changed with them, and changes of level with the event next to each.

use iolag_analysis::history::{ComparisonVerdict, EventEffect, SeriesAnalysis};
use iolag_model::{Event, EventSource, counted, format_count};

use super::report::HistoryReport;
use crate::html::markup::Markup;
use crate::words::history::{changed_when, estimate, event_apart, known, p_value, ratio, shift};
use crate::words::numbers::percentage;

/// Events that are told one by one, the latest; of the journal none.
const EVENTS_MOST: usize = 60;
/// Changes that are told, those that moved furthest.
const CHANGES_MOST: usize = 60;

/// Both tables.
pub(super) fn events_and_changes(report: &HistoryReport<'_>, page: &mut Markup) {
    changes(report, page);
    events(report, page);
}

fn changes(report: &HistoryReport<'_>, page: &mut Markup) {
    let all =
        report.analysis.series.iter().flat_map(|one| (0..one.changes.len()).map(move |index| (one, index)));
    let mut shown: Vec<(&SeriesAnalysis, usize)> = all.collect();
    if shown.is_empty() {
        return;
    }
    let count = shown.len();
    let size = |(one, index): &(&SeriesAnalysis, usize)| {
        let change = &one.changes[*index];
        change.ratio.value.filter(|ratio| *ratio > 0.0).map_or(change.greater_after - 0.5, f64::ln).abs()
    };
    shown.sort_by(|one, other| size(other).total_cmp(&size(one)));
    shown.truncate(CHANGES_MOST);
    shown.sort_by_key(|(one, index)| one.changes[*index].first_after);
    page.raw("<h3>Changes of level</h3>\n<p>Medians before and after, and the event next to it. ");
    if count > shown.len() {
        page.text(&format!("The {} that moved furthest, of {}.", shown.len(), format_count(count as u64)));
    }
    page.raw("</p>\n<div class=\"table-box\"><table class=\"moments\"><thead><tr><th scope=\"col\">When (UTC)</th>");
    page.raw("<th scope=\"col\">Series</th><th scope=\"col\">Median before → after</th><th scope=\"col\">Factor</th>");
    page.raw("<th scope=\"col\">p</th><th scope=\"col\">Event next to it</th></tr></thead>\n<tbody>\n");
    let names = report.names();
    for (one, index) in shown {
        let change = &one.changes[index];
        let quantity = one.summary.quantity;
        let cells = [
            changed_when(one, change),
            names.series(&one.summary.series.key),
            format!(
                "{} → {}",
                known(change.median_before, change.median_before_is, quantity),
                known(change.median_after, change.median_after_is, quantity)
            ),
            ratio(&change.ratio),
            p_value(change.p),
            event_next_to(report, one, index),
        ];
        page.raw("<tr>");
        for cell in cells {
            page.element("<td>", &cell, "</td>");
        }
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

fn event_next_to(report: &HistoryReport<'_>, one: &SeriesAnalysis, index: usize) -> String {
    let matched = one.events.matched.iter().find(|matched| matched.change == index);
    let event = matched.and_then(|matched| {
        let event = report.analysis.events.iter().find(|event| event.id == matched.event)?;
        let apart = event_apart(one, &one.changes[index], event);
        Some(format!("{} ({apart}; by chance with {} %)", event.text, percentage(100.0 * matched.chance)))
    });
    event.unwrap_or_else(|| "none".to_owned())
}

fn events(report: &HistoryReport<'_>, page: &mut Markup) {
    let is_told = |event: &&Event| event.source != EventSource::Journal;
    let told: Vec<&Event> = report.analysis.events.iter().filter(is_told).collect();
    if report.analysis.events.is_empty() {
        return;
    }
    page.raw("<h3>Events</h3>\n<p>What was noted, imported or seen, and what changed with it: up to two weeks on each side, as far as the next change. ");
    let lines = report.analysis.events.len() - told.len();
    if told.len() > EVENTS_MOST {
        page.text(&format!("The latest {EVENTS_MOST} of {}. ", format_count(told.len() as u64)));
    }
    if lines > 0 {
        let lines = counted(lines as u64, "line of the journal is", "lines of the journal are");
        page.text(&format!("{lines} not listed here."));
    }
    page.raw("</p>\n");
    if told.is_empty() {
        return;
    }
    page.raw("<div class=\"table-box\"><table class=\"moments\"><thead><tr><th scope=\"col\">When (UTC)</th><th scope=\"col\">What</th>");
    page.raw("<th scope=\"col\">Concerns</th><th scope=\"col\">What changed</th></tr></thead>\n<tbody>\n");
    for event in &told[told.len().saturating_sub(EVENTS_MOST)..] {
        write_event(report, event, page);
    }
    page.raw("</tbody></table></div>\n");
}

fn write_event(report: &HistoryReport<'_>, event: &Event, page: &mut Markup) {
    let until = event.end.map_or_else(String::new, |end| format!(" to {}", end.in_words()));
    page.raw("<tr")
        .attribute("data-event", &event.id)
        .raw("><td>")
        .text(&event.begin.in_words())
        .text(&until)
        .raw("</td><td>");
    match event.link.as_deref().filter(|link| is_web(link)) {
        Some(link) => {
            page.raw("<a rel=\"noopener noreferrer\" target=\"_blank\"").attribute("href", link).raw(">");
            page.text(&event.text).raw("</a>");
        }
        None => {
            page.text(&event.text);
        }
    }
    page.raw(" <span class=\"faint\">").text(&origin(event)).raw("</span></td><td>");
    let concerns = match (event.target.as_str(), event.host.as_str()) {
        ("", "") => "everything".to_owned(),
        (target, "") => target.to_owned(),
        ("", host) => host.to_owned(),
        (target, host) => format!("{target} on {host}"),
    };
    page.text(&concerns).raw("</td><td>").text(&effects(report, event)).raw("</td></tr>\n");
}

/// A link may be anything that somebody typed, or imported: only pages of the web are linked to.
fn is_web(link: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| link.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)))
}

fn origin(event: &Event) -> String {
    let source = match event.source {
        EventSource::Note => "note",
        EventSource::Configuration => "seen by iolag",
        EventSource::List => "imported",
        EventSource::Journal => "journal",
        EventSource::Watch => "iolag",
    };
    let parts = [source, event.kind.as_str(), event.author.as_str()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn effects(report: &HistoryReport<'_>, event: &Event) -> String {
    let names = report.names();
    let (mut told, mut same, mut changed) = (Vec::new(), 0_u64, Vec::new());
    for one in report.analysis.series.iter().filter(|one| one.summary.series.key.part.is_empty()) {
        for effect in one.event_effects.iter().filter(|effect| effect.event.id == event.id) {
            match effect.comparison.verdict {
                ComparisonVerdict::NoDifferenceShown | ComparisonVerdict::TooFew
                    if one.changed_near(event) =>
                {
                    changed.push(names.series(&one.summary.series.key));
                }
                ComparisonVerdict::NoDifferenceShown => same += 1,
                ComparisonVerdict::TooFew => {}
                _ => {
                    told.push(format!("{}: {}", names.series(&one.summary.series.key), effect_words(effect)))
                }
            }
        }
    }
    if !changed.is_empty() {
        told.push(format!("the level changed near it, see the findings: {}", changed.join(", ")));
    }
    if same > 0 {
        let of = if told.is_empty() { "" } else { "other " };
        told.push(format!("no difference shown in {same} {of}series"));
    }
    if told.is_empty() { "too few samples around it".to_owned() } else { told.join("; ") }
}

fn effect_words(effect: &EventEffect) -> String {
    let comparison = &effect.comparison;
    let by = comparison.shift.as_ref().map_or_else(String::new, |by| format!(", {}", shift(by)));
    let p =
        comparison.greater.map_or_else(String::new, |greater| format!(", p {}", p_value(greater.p_adjusted)));
    format!(
        "{} → {}, {}{by}{p}",
        estimate(comparison.first.median.value, comparison.quantity),
        estimate(comparison.second.median.value, comparison.quantity),
        comparison.verdict
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_web_are_linked_to() {
        for link in ["http://a/b", "https://tickets/4711", "HTTPS://A"] {
            assert!(is_web(link), "{link}");
        }
        for link in ["javascript:alert(1)", " https://a", "data:text/html,x", "//a", "file:///etc", "", "é"]
        {
            assert!(!is_web(link), "{link}");
        }
    }
}
