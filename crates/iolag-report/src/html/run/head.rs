//! What stands first: title, the answer and where its figure will be, findings in sentences.

use std::collections::BTreeSet;

use iolag_analysis::figure::{Figures, RunFigures};
use iolag_analysis::{Feeling, RunFindingKind, Severity, joined, whatever_analysis};
use iolag_model::{RunRecord, RunState, Trust, format_count};

use super::report::{HtmlReport, ReportedRun};
use crate::figure::FigureKind;
use crate::finding::in_words::FindingInWords;
use crate::html::embed::{Proof, ProofPlace};
use crate::html::markup::Markup;
use crate::workload::{Answer, Gravity, Verdict, described, judged};

/// Title of the page, unless the caller has one.
pub(super) fn title(report: &HtmlReport<'_>) -> String {
    if let Some(title) = report.title {
        return title.to_owned();
    }
    match report.runs {
        [] => "Storage report".to_owned(),
        [run] => {
            let what = described(&run.record.spec.workload).title();
            match run.record.environment.host.as_str() {
                "" => what,
                host => format!("{what} on {host}"),
            }
        }
        runs => {
            let mut hosts: Vec<&str> = runs.iter().map(|run| run.record.environment.host.as_str()).collect();
            hosts.dedup();
            let what = what_all_did(runs).map_or_else(String::new, |what| format!("{what}: "));
            match hosts[..] {
                [host] => format!("{what}{} runs on {host}", runs.len()),
                _ => format!("{what}{} runs on {} hosts", runs.len(), hosts.len()),
            }
        }
    }
}

/// `python3 replayed by 1, 2 and 4 copies`, if all of these are copies of one job.
fn what_all_did(runs: &[ReportedRun<'_>]) -> Option<String> {
    if !are_copies(runs) {
        return None;
    }
    let titles: BTreeSet<String> =
        runs.iter().map(|run| described(&run.record.spec.workload).title()).collect();
    let copies: BTreeSet<u32> = runs.iter().map(|run| run.record.spec.clients).collect();
    let last = copies.last()?;
    let unit = if *last == 1 { "copy" } else { "copies" };
    let copies = joined(copies.iter().map(|copies| format_count(u64::from(*copies))).collect());
    let title = titles.first().filter(|_| titles.len() == 1)?;
    Some(format!("{title} by {copies} {unit}"))
}

/// Whether all runs of a page are of copies of jobs, and there are several: their page begins with what they come to together.
pub(super) fn are_copies(runs: &[ReportedRun<'_>]) -> bool {
    runs.len() > 1 && runs.iter().all(|run| run.record.spec.workload.job_terms().is_some())
}

/// The state of a run and its answer.
pub(super) fn answer(run: &RunRecord, answer: &Answer<'_>, page: &mut Markup) {
    match &run.state {
        RunState::Complete => {}
        RunState::Running { .. } => {
            page.raw("<p class=\"state\">The run is still going on, or iolag ended without closing it: this is what it had measured.</p>\n");
        }
        RunState::Incomplete { reason } | RunState::Recovered { reason } => {
            page.raw("<p class=\"state\">The run is not whole: ").prose(reason).raw(".</p>\n");
        }
    }
    if let Some(sentence) = &answer.sentence {
        page.raw("<p class=\"lede\">").prose(sentence).raw("</p>\n");
    }
    if let Some(beside) = &answer.beside {
        page.raw("<p class=\"lede\">").prose(beside).raw("</p>\n");
    }
    verdict_list(&answer.verdicts, page);
    if let Some(worst) = answer.worst {
        page.raw("<p class=\"worst\">").plain(&worst.sentence()).raw("</p>\n");
    }
}

fn verdict_list(verdicts: &[Verdict<'_>], page: &mut Markup) {
    if verdicts.is_empty() {
        return;
    }
    page.raw("<ul class=\"verdicts\">\n");
    for verdict in verdicts {
        let class = match verdict.feeling {
            Feeling::Fast => "good",
            Feeling::Slower | Feeling::Noticeable | Feeling::Sluggish => "warning",
            Feeling::Slow | Feeling::Unreliable | Feeling::NotAnswering => "serious",
            Feeling::Unknown => "faint",
        };
        page.raw("<li").attribute("class", class).raw("><code>").text(verdict.place).raw("</code> ");
        if let Some(kind) = verdict.kind {
            page.raw("<span class=\"kind\">").text(kind).raw("</span> ");
        }
        page.raw("<span class=\"sentence\">").prose(verdict.sentence).raw("</span></li>\n");
    }
    page.raw("</ul>\n");
}

/// The figure with which a page of these answers begins; nothing if it has no run.
pub(super) fn proof(answers: &[Answer<'_>], figures: &Figures) -> Option<Proof> {
    let all = answers.iter().enumerate().filter_map(|(run, answer)| Some((run, answer.worst?)));
    let worst = all.reduce(|worst, other| if other.1.rank() > worst.1.rank() { other } else { worst });
    let is_grave = worst.is_some_and(|(_, worst)| worst.gravity() >= Gravity::Failed);
    let at = worst
        .and_then(|(run, worst)| Some(ProofPlace { run, target: worst.target()?, level: worst.level() }));
    let first = answers.first()?.figure;
    let figure = match at {
        _ if is_one_sweep(figures) && !is_grave => FigureKind::Sweep,
        None if answers.iter().all(|answer| answer.figure == first) => first,
        _ => FigureKind::TimeLine,
    };
    Some(Proof { figure: figure.name(), at })
}

/// Whether all that the page is about was varied.
fn is_one_sweep(figures: &Figures) -> bool {
    let swept = figures.sweeps.iter().flat_map(|sweep| &sweep.points).map(|point| &point.run);
    let is_swept = |run: &RunFigures| swept.clone().any(|id| *id == run.run.id);
    swept.clone().next().is_some() && figures.runs.iter().all(is_swept)
}

/// Findings with their advice, the gravest first, then doubts about the measurement itself.
pub(super) fn findings(run: &ReportedRun<'_>, page: &mut Markup) {
    let judged = judged(run.analysis);
    let (groups, footnotes) = (judged.told_findings(), judged.footnotes());
    let trust = whatever_analysis!(run.analysis, it => &it.trust);
    if groups.iter().all(|(_, findings)| findings.is_empty()) {
        let found = match judged.is_inconspicuous() {
            true => "Nothing conspicuous was found",
            false if judged.verdicts().is_empty() => "Nothing was found besides what stands above",
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
    to_know(trust, footnotes, page);
}

/// What is to be known before numbers are trusted, and of nearly every result.
pub(super) fn to_know(trust: &[Trust], footnotes: &[String], page: &mut Markup) {
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

pub(super) fn finding_list(findings: &[FindingInWords<RunFindingKind>], page: &mut Markup) {
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

#[cfg(test)]
mod tests {
    use iolag_analysis::analyse_run;
    use iolag_analysis::figure::TroubleCounts;
    use iolag_model::TargetIndex;

    use super::*;
    use crate::figure::tests::samples::{Shape, figures_of};
    use crate::incident::run::scenario;
    use crate::workload::worst::tests::{SLOW, episode, quiet};

    #[test]
    fn a_sweep_is_shown_by_its_figure_and_what_it_hides_by_another() {
        let scenario = scenario::usb_stick();
        let analysis = analyse_run(&scenario.record, &scenario.by_stage());
        let mut figures = figures_of(Shape::Usual);
        figures.runs = vec![quiet()];
        let proof_of = |figures: &Figures| {
            let answers = [Answer::of(&analysis, figures.runs.first())];
            proof(&answers, figures).map(|proof| (proof.figure, proof.at))
        };
        assert_eq!(proof_of(&figures), Some(("rates", None)), "its run is in no sweep");
        figures.sweeps[0].points[0].run = figures.runs[0].run.id.clone();
        assert_eq!(proof_of(&figures), Some(("sweep", None)));
        let hung = TroubleCounts { hung: 1, ..SLOW };
        figures.runs[0].episodes = vec![episode(&figures.runs[0], (10, 4, 4), hung)];
        let at = ProofPlace { run: 0, target: TargetIndex(0), level: None };
        assert_eq!(proof_of(&figures), Some(("time-line", Some(at))));
        assert_eq!(proof(&[], &figures), None);
    }

    #[test]
    fn runs_that_no_one_kind_of_figure_shows_are_shown_over_time() {
        let bench = scenario::usb_stick();
        let bench = analyse_run(&bench.record, &bench.by_stage());
        let check = scenario::three_directories();
        let check = analyse_run(&check.record, &check.by_target());
        let figures = Figures::new(vec![quiet(), quiet()], Vec::new());
        let answers = [&bench, &check].map(|analysis| Answer::of(analysis, None));
        assert_eq!(proof(&answers, &figures), Some(Proof { figure: "time-line", at: None }));
    }
}
