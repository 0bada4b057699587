//! What stands first: what was watched, in a paragraph, and the findings.

use iolag_analysis::Severity;
use iolag_analysis::history::HistoryFindingKind;
use iolag_model::{Nanoseconds, SeriesKind, WallSpan, counted, format_duration};

use super::report::HistoryReport;
use crate::finding::history::findings_in_words;
use crate::finding::in_words::FindingInWords;
use crate::html::markup::Markup;
use crate::words::estimates::all_succeeded;

/// Title of the page, unless the caller has one.
pub(super) fn title(report: &HistoryReport<'_>) -> String {
    if let Some(title) = report.title {
        return title.to_owned();
    }
    match hosts(report).as_slice() {
        [] => "Storage over time".to_owned(),
        [host] => format!("How storage felt on {host}"),
        hosts => format!("How storage felt on {} hosts", hosts.len()),
    }
}

/// Hosts, sorted.
pub(super) fn hosts<'a>(report: &HistoryReport<'a>) -> Vec<&'a str> {
    sorted(report.analysis.series.iter().map(|one| one.summary.series.key.host.as_str()))
}

/// Targets, sorted; what belongs to a host alone has none.
pub(super) fn targets<'a>(report: &HistoryReport<'a>) -> Vec<&'a str> {
    let is_control = |kind| matches!(kind, SeriesKind::Control | SeriesKind::BenchmarkControl);
    let probed = report.analysis.series.iter().filter(|one| !is_control(one.summary.series.kind));
    sorted(probed.map(|one| one.summary.series.key.target.as_str()))
}

pub(super) fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Title and paragraph.
pub(super) fn head(report: &HistoryReport<'_>, page: &mut Markup) {
    page.raw("<p class=\"kicker\">iolag history").text(&kicker(report)).raw("</p>\n");
    page.element("<h1>", &title(report), "</h1>\n");
    page.raw("<p class=\"lede\">").prose(&lede(report)).raw("</p>\n");
}

fn kicker(report: &HistoryReport<'_>) -> String {
    match (report.analysis.begin, report.analysis.end) {
        (Some(begin), Some(end)) => format!(" · {} to {} UTC", begin.in_words(), end.in_words()),
        _ => String::new(),
    }
}

fn lede(report: &HistoryReport<'_>) -> String {
    let analysis = report.analysis;
    let (Some(begin), Some(end)) = (analysis.begin, analysis.end) else {
        return match report.head.span {
            WallSpan::ALL => {
                "There is no sample in this history yet: measure with `iolag watch`, or bring measurements \
                              with `iolag import FILE`."
                    .to_owned()
            }
            _ => "There is no sample in the time that was asked for: ask for more with --since and --until."
                .to_owned(),
        };
    };
    let samples: u64 = analysis.series.iter().map(|one| one.summary.rates.total.slots).sum();
    let slots = |of: fn(&iolag_analysis::history::OutcomeRates) -> u64| -> u64 {
        analysis.series.iter().map(|one| of(&one.summary.rates.total)).sum()
    };
    let length = match end.since(begin) {
        Nanoseconds::ZERO => String::new(),
        length => format!(" over {}", format_duration(length)),
    };
    let mut text = format!(
        "{} in {}{length}.",
        counted(samples, "sample", "samples"),
        counted(analysis.series.len() as u64, "series", "series"),
    );
    let troubles: Vec<String> = [
        (slots(|rates| rates.past_deadline.count), "passed its deadline", "passed their deadlines"),
        (slots(|rates| rates.error.count), "failed", "failed"),
        (slots(|rates| rates.skipped.count), "slot was skipped", "slots were skipped"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| counted(count, one, many))
    .collect();
    let has_deadline = analysis
        .series
        .iter()
        .map(|one| &one.summary.series)
        .any(|series| series.kind.is_duration() && series.deadline_ns > Nanoseconds::ZERO);
    text.push_str(&match troubles.as_slice() {
        [] if has_deadline => format!(" {}", all_succeeded("", &analysis.gaps)),
        [] => String::new(),
        [one] => format!(" {one}."),
        [first @ .., last] => format!(" {} and {last}.", first.join(", ")),
    });
    let outages = analysis.outages.len() as u64;
    if outages > 0 {
        let lost: u64 = analysis.outages.iter().map(|one| one.end.unwrap_or(end).since(one.begin).0).sum();
        text.push_str(&format!(
            " {}, {} in all.",
            counted(outages, "outage", "outages"),
            format_duration(Nanoseconds(lost))
        ));
    }
    let open = analysis.outages.iter().filter(|one| one.end.is_none()).count() as u64;
    if open > 0 {
        text.push_str(&format!(
            " {} not over.",
            if open == 1 { "One is".to_owned() } else { format!("{open} are") }
        ));
    }
    text
}

/// Notes beyond these are folded: a year has dozens.
const NOTES_SHOWN: usize = 6;

/// Findings with their advice, most important first.
pub(super) fn findings(report: &HistoryReport<'_>, page: &mut Markup) {
    if report.analysis.begin.is_none() {
        page.raw("<p class=\"nothing\">There is nothing to judge yet.</p>\n");
        return;
    }
    let all = findings_in_words(report.analysis);
    if all.is_empty() {
        page.raw("<p class=\"nothing\">Nothing conspicuous was found.</p>\n");
        return;
    }
    let grave = all.iter().take_while(|one| one.severity != Severity::Note).count();
    let (shown, folded) = all.split_at(all.len().min(grave + NOTES_SHOWN));
    finding_list(shown, page);
    if !folded.is_empty() {
        let more = counted(folded.len() as u64, "more note", "more notes");
        page.raw("<details><summary>").text(&more).raw("</summary>\n");
        finding_list(folded, page);
        page.raw("</details>\n");
    }
}

fn finding_list(findings: &[FindingInWords<HistoryFindingKind>], page: &mut Markup) {
    page.raw("<ul class=\"findings\">\n");
    for finding in findings {
        let (class, name) = match finding.severity {
            Severity::Serious => ("serious", "Serious"),
            Severity::Warning => ("warning", "Warning"),
            Severity::Note => ("note", "Note"),
        };
        page.raw("<li").attribute("class", class).raw("><p><strong>").raw(name).raw(".</strong> ");
        page.prose(&finding.sentence).raw("</p>");
        if !finding.advice.is_empty() {
            page.raw("<p class=\"advice\">").prose(&finding.advice).raw("</p>");
        }
        page.raw("</li>\n");
    }
    page.raw("</ul>\n");
}
