//! What stands first: title, verdict in a paragraph, findings in sentences.

use iolag_analysis::{
    CheckAnalysis, DirectoryAnalysis, Feeling, MetadataAnalysis, PingAnalysis, RepetitionJudgement,
    RunFindingKind, Severity, StageAnalysis, median_of, stage_name,
};
use iolag_model::{Operation, Phase, RunState, Trust, counted, format_count, format_duration};

use super::report::{HtmlReport, ReportedRun};
use crate::finding::in_words::FindingInWords;
use crate::finding::run::{findings_of_check, in_words_each};
use crate::html::markup::Markup;
use crate::judged::Judged;
use crate::text::ping::probes_in_words;
use crate::words::estimates::{quantile, quantile_with_interval};
use crate::words::numbers::{percentage, rate};
use crate::workload::described;

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
    match run.judged {
        Judged::Check(analysis) => check_verdict(analysis, page),
        Judged::Metadata(analysis) => {
            page.raw("<p class=\"lede\">").prose(&metadata_verdict(analysis)).raw("</p>\n");
        }
        Judged::Ping(analysis) => {
            page.raw("<p class=\"lede\">").prose(&ping_verdict(analysis)).raw("</p>\n");
        }
    }
}

/// `3 probes: 2 answered, 1 lost (1 late). A whole probe took 1.20 ms (median), at most 1.50 s.`
fn ping_verdict(analysis: &PingAnalysis) -> String {
    let counts = capitalised(&probes_in_words(analysis.probes));
    let whole = analysis.summaries.iter().find(|summary| summary.key.operation == Operation::Probe);
    match whole.map(|whole| &whole.durations).filter(|durations| durations.count > 0) {
        Some(durations) => format!(
            "{counts}. A whole probe took {} (median), the longest {}.",
            quantile(durations.median.value),
            quantile(durations.max)
        ),
        None => format!("{counts}."),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn check_verdict(analysis: &CheckAnalysis, page: &mut Markup) {
    if analysis.directories.is_empty() {
        page.raw("<p class=\"lede\">Nothing was measured.</p>\n");
        return;
    }
    if let Some(ranking) = &analysis.ranking {
        page.raw("<p class=\"lede\">").prose(ranking).raw("</p>\n");
    }
    page.raw("<ul class=\"verdicts\">\n");
    for directory in &analysis.directories {
        let class = match directory.verdict.feeling {
            Feeling::Fast => "good",
            Feeling::Slower | Feeling::Noticeable | Feeling::Sluggish => "warning",
            Feeling::Slow | Feeling::Unreliable | Feeling::NotAnswering => "serious",
            Feeling::Unknown => "faint",
        };
        page.raw("<li").attribute("class", class).raw("><code>").text(&directory.name).raw("</code> ");
        if let Some(kind) = &directory.file_system {
            page.raw("<span class=\"kind\">").text(kind).raw("</span> ");
        }
        page.raw("<span class=\"sentence\">").prose(&directory.verdict.sentence).raw("</span></li>\n");
    }
    page.raw("</ul>\n");
}

fn metadata_verdict(analysis: &MetadataAnalysis) -> String {
    if let Some(headline) = batch_headline(&analysis.stages) {
        return format!("{headline} {}", failures_sentence(analysis));
    }
    let benchmark: Vec<&StageAnalysis> =
        analysis.stages.iter().filter(|stage| stage.phase == Phase::Benchmark).collect();
    let stages: Vec<&StageAnalysis> =
        if benchmark.is_empty() { analysis.stages.iter().collect() } else { benchmark };
    let Some(stage) = middle_by_rate(&stages) else {
        return "Nothing was measured.".to_owned();
    };
    let mut sentences = vec![headline(stage, stages.len())];
    sentences.extend(operations_sentence(stage));
    sentences.push(failures_sentence(analysis));
    // More than that is a finding.
    if let Some(comparison) = analysis.repetitions
        && comparison.judgement == RepetitionJudgement::Alike
    {
        sentences.push(format!(
            "The iterations' rates differ by a factor of {:.2}: no more than chance makes them.",
            comparison.factor
        ));
    }
    sentences.join(" ")
}

/// A batch does one thing after the other: each has a rate of its own. Nothing if this was none.
fn batch_headline(stages: &[StageAnalysis]) -> Option<String> {
    const BATCH: [Phase; 4] = [Phase::BatchCreate, Phase::BatchStat, Phase::BatchRead, Phase::BatchRemove];
    let mut iterations = 0;
    let mut rates = Vec::new();
    for phase in BATCH {
        let own: Vec<&StageAnalysis> = stages.iter().filter(|stage| stage.phase == phase).collect();
        iterations = iterations.max(own.len());
        let objects: Vec<f64> = own.iter().map(|stage| stage.objects_per_second).collect();
        rates.extend(median_of(&objects).map(|median| format!("{phase} {}/s", rate(median))));
    }
    let clients = match stages.first()?.clients.len() {
        0 | 1 => "one client".to_owned(),
        clients => format!("{clients} clients"),
    };
    let which =
        if iterations > 1 { format!(", the median of {iterations} iterations") } else { String::new() };
    (!rates.is_empty()).then(|| format!("Objects by {clients}{which}: {}.", rates.join(", ")))
}

/// The stage in the middle by rate; of an even number the slower of the middle two.
fn middle_by_rate<'a>(stages: &[&'a StageAnalysis]) -> Option<&'a StageAnalysis> {
    let mut sorted: Vec<&StageAnalysis> = stages.to_vec();
    sorted.sort_by(|left, right| left.operations_per_second.total_cmp(&right.operations_per_second));
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

fn headline(stage: &StageAnalysis, alike: usize) -> String {
    let name = stage_name(stage.phase, stage.iteration);
    let which = if alike > 1 && stage.phase == Phase::Benchmark {
        let middle = match alike {
            2 => "the slower",
            even if even % 2 == 0 => "the slower of the middle two",
            _ => "the median",
        };
        format!("{name}, {middle} of {alike} iterations by rate,")
    } else {
        format!("{name},")
    };
    let clients = match stage.clients.len() {
        0 => String::new(),
        1 => "one client in ".to_owned(),
        clients => format!("{clients} clients in "),
    };
    let mut text = format!(
        "In {which} {clients}{} did {} operations/s, which is {} objects/s",
        format_duration(stage.times.phase_time_ns),
        rate(stage.operations_per_second),
        rate(stage.objects_per_second)
    );
    if let Some(balance) = stage.times.balance_percent.filter(|_| stage.clients.len() > 1) {
        text.push_str(&format!(", with a balance between clients of {} %", percentage(balance)));
    }
    text.push('.');
    text
}

fn operations_sentence(stage: &StageAnalysis) -> Option<String> {
    let medians: Vec<String> = stage
        .rows
        .iter()
        .filter(|row| row.summary.durations.count > 0)
        .map(|row| {
            let median = quantile_with_interval(&row.summary.durations.median);
            format!("`{}` {median}", row.summary.key.operation)
        })
        .collect();
    (!medians.is_empty()).then(|| format!("Medians: {}.", medians.join(", ")))
}

fn failures_sentence(analysis: &MetadataAnalysis) -> String {
    let rows = || analysis.stages.iter().flat_map(|stage| &stage.rows);
    let attempts: u64 = rows().map(|row| row.summary.attempts).sum();
    let failed: u64 = rows().map(|row| row.summary.failures()).sum();
    let open: u64 = rows().map(|row| row.summary.censored()).sum();
    match (failed, open) {
        (0, 0) => format!("None of {} failed.", counted(attempts, "operation", "operations")),
        _ => format!(
            "Of {} {} failed and {} did not end.",
            counted(attempts, "operation", "operations"),
            format_count(failed),
            format_count(open)
        ),
    }
}

/// Findings, with the place that they are about if there are several.
type FindingGroup<'a> = (Option<&'a str>, Vec<FindingInWords<RunFindingKind>>);

/// Findings with their advice, the gravest first, then doubts about the measurement itself.
pub(super) fn findings(run: &ReportedRun<'_>, page: &mut Markup) {
    let (groups, trust, footnotes): (Vec<FindingGroup<'_>>, &[Trust], &[String]) = match run.judged {
        Judged::Check(analysis) => {
            let is_alone = analysis.directories.len() == 1;
            let groups = findings_of_check(analysis)
                .into_iter()
                .map(|told| (told.directory.filter(|_| !is_alone), told.findings));
            (groups.collect(), &analysis.trust, &analysis.footnotes)
        }
        Judged::Metadata(analysis) => {
            (vec![(None, in_words_each(&analysis.findings))], &analysis.trust, &analysis.footnotes)
        }
        Judged::Ping(analysis) => (vec![(None, in_words_each(&analysis.findings))], &analysis.trust, &[]),
    };
    if groups.iter().all(|(_, findings)| findings.is_empty()) {
        let is_fast = |directory: &DirectoryAnalysis| directory.verdict.feeling == Feeling::Fast;
        let is_all = match run.judged {
            Judged::Check(analysis) => analysis.directories.iter().all(is_fast),
            Judged::Metadata(_) | Judged::Ping(_) => true,
        };
        let found =
            if is_all { "Nothing conspicuous was found" } else { "Nothing was found besides the verdicts" };
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
