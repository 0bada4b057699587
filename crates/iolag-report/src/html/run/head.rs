//! What stands first: title, verdict in a paragraph, findings in sentences.

use iolag_analysis::{RunFindingKind, Severity, whatever_analysis};
use iolag_model::{RunState, Trust};

use super::report::{HtmlReport, ReportedRun};
use crate::finding::in_words::FindingInWords;
use crate::html::markup::Markup;
use crate::workload::{described, judged};

/// Title of the page, unless the caller has one.
pub(super) fn title(report: &HtmlReport<'_>) -> String {
    if let Some(title) = report.title {
        return title.to_owned();
    }
    match report.runs {
        [] => "Storage report".to_owned(),
        [run] => {
            let what = described(&run.record.spec.workload).heading();
            format!("{what} on {}", run.record.environment.host)
        }
        runs => {
            let mut hosts: Vec<&str> = runs.iter().map(|run| run.record.environment.host.as_str()).collect();
            hosts.dedup();
            match hosts[..] {
                [host] => format!("{} runs on {host}", runs.len()),
                _ => format!("{} runs on {} hosts", runs.len(), hosts.len()),
            }
        }
    }
}

/// The verdict on a run.
pub(super) fn verdict(run: &ReportedRun<'_>, page: &mut Markup) {
    match &run.record.state {
        RunState::Complete => {}
        RunState::Running { .. } => {
            page.raw("<p class=\"state\">The run is still going on, or iolag ended without closing it: this is what it had measured.</p>\n");
        }
        RunState::Incomplete { reason } | RunState::Recovered { reason } => {
            page.raw("<p class=\"state\">The run is not whole: ").prose(reason).raw(".</p>\n");
        }
    }
    judged(run.analysis).verdict(page);
}

/// Findings with their advice, the gravest first, then doubts about the measurement itself.
pub(super) fn findings(run: &ReportedRun<'_>, page: &mut Markup) {
    let judged = judged(run.analysis);
    let (groups, footnotes) = (judged.told_findings(), judged.footnotes());
    let trust = whatever_analysis!(run.analysis, it => &it.trust);
    if groups.iter().all(|(_, findings)| findings.is_empty()) {
        let found = match judged.is_inconspicuous() {
            true => "Nothing conspicuous was found",
            false => "Nothing was found besides the verdicts",
        };
        page.element("<p class=\"nothing\">", &format!("{found}."), "</p>\n");
    }
    for (place, findings) in groups.into_iter().filter(|(_, findings)| !findings.is_empty()) {
        if let Some(place) = place {
            page.raw("<h4>In <code>").text(place).raw("</code></h4>\n");
        }
        finding_list(&findings, page);
    }
    if !trust.is_empty() {
        page.raw("<h4>Before you trust the numbers</h4>\n<ul class=\"findings\">\n");
        for Trust { doubt, advice } in trust {
            page.raw("<li class=\"doubt\"><p>").prose(doubt).raw("</p>");
            page.raw("<p class=\"advice\">").prose(advice).raw("</p></li>\n");
        }
        page.raw("</ul>\n");
    }
    if !footnotes.is_empty() {
        page.raw("<p class=\"nothing\">To know: ").prose(&footnotes.join(" ")).raw("</p>\n");
    }
}

fn finding_list(findings: &[FindingInWords<RunFindingKind>], page: &mut Markup) {
    page.raw("<ul class=\"findings\">\n");
    let mut told: Vec<&str> = Vec::new();
    for finding in findings {
        // What leads to the same advice stands together, with the advice once.
        if told.contains(&finding.advice.as_str()) {
            continue;
        }
        told.push(&finding.advice);
        let of_severity = |severity: Severity| match severity {
            Severity::Serious => ("serious", "Serious"),
            Severity::Warning => ("warning", "Warning"),
            Severity::Note => ("note", "Note"),
        };
        page.raw("<li").attribute("class", of_severity(finding.severity).0).raw(">");
        for finding in findings.iter().filter(|other| other.advice == finding.advice) {
            let (_, name) = of_severity(finding.severity);
            page.raw("<p><strong>").raw(name).raw(".</strong> ").prose(&finding.sentence).raw("</p>");
        }
        page.raw("<p class=\"advice\">").prose(&finding.advice).raw("</p></li>\n");
    }
    page.raw("</ul>\n");
}
