//! The draft of the report that sites owe each other after trouble, in the form that grid sites use: description,
//! time line, analysis, impact, corrective actions.
//!
//! What iolag knows is filled in, with its figures; what only people know is left open as `____`. The draft is
//! Markdown. Every text that may come from outside is escaped.

use iolag_analysis::figure::{Episode, RunFigures, Series};
use iolag_analysis::{RunAnalysis, Severity, whatever_analysis};
use iolag_model::{
    Level, MonotonicTime, Nanoseconds, RunRecord, Trust, counted, format_count, format_duration,
};

use crate::words::markdown::{OPEN, escape, push};
use crate::words::numbers::{self, NOTHING};
use crate::words::trouble;
use crate::workload::{Answer, Verdict, Worst, judged};

/// More episodes of a run than this are counted: those that lasted longest are told.
const EPISODES_MAX: usize = 30;

/// A run that the report is about.
#[derive(Debug, Clone, Copy)]
pub struct IncidentRun<'a> {
    /// What is known about it.
    pub record: &'a RunRecord,
    /// What was found in it.
    pub analysis: &'a RunAnalysis,
    /// Its figures, for the episodes and the impact.
    pub figures: &'a RunFigures,
}

/// Drafts the report; `written_realtime_ns` is the wall clock of its writing, ns since 1970-01-01 UTC.
pub fn incident_text(runs: &[IncidentRun<'_>], written_realtime_ns: u64) -> String {
    let mut text = String::from("# Service incident report\n\n");
    head(&mut text, runs, written_realtime_ns);
    description(&mut text, runs);
    time_line(&mut text, runs);
    impact(&mut text, runs);
    analysis(&mut text, runs);
    corrective_actions(&mut text, runs);
    annex(&mut text, runs);
    text
}

fn head(text: &mut String, runs: &[IncidentRun<'_>], written_realtime_ns: u64) {
    let mut hosts: Vec<String> = runs.iter().map(|run| escape(&run.record.environment.host)).collect();
    hosts.dedup();
    push(text, format_args!("- **Type of incident:** slow or failing storage ({OPEN})"));
    push(text, format_args!("- **Location:** {OPEN} (measured on {})", joined(&hosts)));
    let (begin, end) =
        (moments(runs, |episode| episode.begin_ns).min(), moments(runs, |episode| episode.end_ns).max());
    match begin.zip(end) {
        Some((begin, end)) => {
            let (from, to) = (numbers::utc(begin), numbers::utc(end));
            let length = format_duration(Nanoseconds(end.saturating_sub(begin)));
            push(text, format_args!("- **Date:** {from} to {to} UTC, as far as it was measured ({OPEN})"));
            push(text, format_args!("- **Duration:** {length}, as far as it was measured ({OPEN})"));
        }
        None => {
            push(text, format_args!("- **Date:** {OPEN}"));
            push(text, format_args!("- **Duration:** {OPEN}"));
        }
    }
    push(text, format_args!("- **Authors:** {OPEN}"));
    push(text, format_args!("- **Report status:** draft"));
    let version = runs.first().map_or("", |run| &run.record.environment.iolag_version);
    let written = numbers::utc(written_realtime_ns);
    push(
        text,
        format_args!(
            "- **Report log:** {written} UTC: drafted by iolag {} from its measurements\n",
            known(version)
        ),
    );
}

fn joined(texts: &[String]) -> String {
    if texts.is_empty() { OPEN.to_owned() } else { texts.join(", ") }
}

/// Wall clock of a moment of every episode.
fn moments<'a>(
    runs: &'a [IncidentRun<'a>],
    of: impl Fn(&Episode) -> MonotonicTime + Copy + 'a,
) -> impl Iterator<Item = u64> + 'a {
    runs.iter().flat_map(move |run| {
        trouble::asked(run.figures).filter_map(move |episode| trouble::realtime(run.figures, of(episode)))
    })
}

fn description(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Description\n\n");
    let worst = runs.iter().filter_map(|run| Answer::of(run.analysis, Some(run.figures)).worst);
    let count: usize = runs.iter().map(|run| trouble::asked(run.figures).count()).sum();
    let times = match count {
        0 => String::new(),
        1 => "Storage was in trouble once. ".to_owned(),
        _ => format!("Storage was in trouble {count} times. "),
    };
    let told = match Worst::of_all(worst) {
        Some(worst) => escape(&worst.sentence()),
        None if count > 0 => String::new(),
        None => without_trouble(runs).to_owned(),
    };
    push(text, format_args!("{}\n", format!("{times}{told}").trim_end()));
    push(text, format_args!("{OPEN} (what users saw, which services and communities were concerned)\n"));
}

/// What is said of runs without a bad moment.
fn without_trouble(runs: &[IncidentRun<'_>]) -> &'static str {
    let series = || runs.iter().flat_map(|run| &run.figures.series);
    if series().all(|series| series.attempts == 0) {
        return "iolag made no attempt.";
    }
    match series().any(|series| series.level != Level::Harness && series.over.first() > Some(&0)) {
        true => "No moment was worse than the others: what was slow was slow all the time.",
        false => "No attempt that iolag made was slow, failed or hung.",
    }
}

fn time_line(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Timeline\n\nTimes are UTC.\n\n");
    push(text, format_args!("- **{OPEN}:** ticket opened: {OPEN}"));
    for run in runs {
        let mut episodes: Vec<&Episode> = trouble::asked(run.figures).collect();
        episodes.sort_by_key(|episode| std::cmp::Reverse(episode.end_ns.since(episode.begin_ns)));
        let left_out = episodes.len().saturating_sub(EPISODES_MAX);
        episodes.truncate(EPISODES_MAX);
        episodes.sort_by_key(|episode| episode.begin_ns);
        for episode in episodes {
            push_episode(text, run.figures, episode);
        }
        if left_out > 0 {
            push(
                text,
                format_args!("- {left_out} shorter episodes of run {} are not told here.", run.record.id),
            );
        }
    }
    push(text, format_args!("- **{OPEN}:** cause found: {OPEN}"));
    push(text, format_args!("- **{OPEN}:** end of the incident; ticket closed: {OPEN}\n"));
}

fn push_episode(text: &mut String, figures: &RunFigures, episode: &Episode) {
    let when = trouble::moment(figures, episode.begin_ns);
    let length = format_duration(trouble::length(episode));
    let (place, kinds) = (escape(trouble::name(figures, episode.target)), trouble::kinds(episode.troubles));
    let peak = escape(&trouble::gravest(figures, episode));
    push(
        text,
        format_args!(
            "- **{when}, for {length}:** {place}: attempts in trouble: {kinds}; {peak}. Ticket: {OPEN}"
        ),
    );
}

fn impact(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Impact\n\n");
    push(text, format_args!("{OPEN} (jobs and users concerned, work lost)\n"));
    for run in runs {
        let figures = run.figures;
        let told = |series: &&Series| series.level != Level::Harness && series.attempts > 0;
        let series: Vec<&Series> = figures.series.iter().filter(told).collect();
        if series.is_empty() {
            continue;
        }
        push(text, format_args!("What iolag met in run {}:\n", run.record.id));
        let over = figures.run.thresholds_ns.iter().map(|ns| format!(" over {} |", format_duration(*ns)));
        let over: String = over.collect();
        push(
            text,
            format_args!("| operation | target | attempts | failed | timed out | hung |{over} longest |"),
        );
        push(
            text,
            format_args!("|---|---|--:|--:|--:|--:|{}--:|", "--:|".repeat(figures.run.thresholds_ns.len())),
        );
        for series in series {
            push(text, format_args!("{}", impact_row(figures, series)));
        }
        text.push('\n');
    }
}

fn impact_row(figures: &RunFigures, series: &Series) -> String {
    let failed: u64 = series.errors.iter().map(|error| error.count).sum();
    let count = |count: u64| if count == 0 { "0".to_owned() } else { with_percent(count, series.attempts) };
    let over: String = (0..figures.run.thresholds_ns.len())
        .map(|index| {
            series
                .over
                .get(index)
                .map_or_else(|| format!(" {NOTHING} |"), |over| format!(" {} |", count(*over)))
        })
        .collect();
    let longest = match (series.longest_wait_ns, series.max_ns) {
        (Some(wait), known) if known.is_none_or(|known| wait >= known) => {
            format!("≥ {}", format_duration(wait))
        }
        (_, Some(known)) => format_duration(known),
        (_, None) => NOTHING.to_owned(),
    };
    format!(
        "| {} | {} | {} | {} | {} | {} |{over} {longest} |",
        escape(&series.name),
        escape(trouble::name(figures, series.target)),
        format_count(series.attempts),
        count(failed),
        count(series.timeout),
        count(series.hung),
    )
}

fn with_percent(count: u64, of: u64) -> String {
    format!("{} ({} %)", format_count(count), numbers::percentage(100.0 * count as f64 / of as f64))
}

fn analysis(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Analysis\n\n");
    push(text, format_args!("{OPEN} (cause, and how it was found)\n"));
    for run in runs {
        push(text, format_args!("### Run {}\n", run.record.id));
        let judged = judged(run.analysis);
        if let Some(sentence) = judged.sentence() {
            push(
                text,
                format_args!("- {}{}", of_places(run, judged.verdicts().is_empty()), escape(&sentence)),
            );
        }
        for Verdict { place, sentence, .. } in judged.verdicts() {
            push(text, format_args!("- {}: {}", escape(place), escape(sentence)));
        }
        for finding in judged.findings() {
            push(text, format_args!("- {}: {}", finding.severity, escape(&finding.sentence)));
        }
        circumstances(text, run.record);
        for Trust { doubt, advice } in whatever_analysis!(run.analysis, it => &it.trust) {
            push(text, format_args!("- To be kept in mind: {} → {}", escape(doubt), escape(advice)));
        }
        text.push('\n');
    }
}

/// The places of a run whose sentence does not name them, as in `/scratch: `.
fn of_places(run: &IncidentRun<'_>, is_needed: bool) -> String {
    let names: Vec<String> = run.record.targets.iter().map(|target| escape(&target.name)).collect();
    if is_needed { format!("{}: ", names.join(", ")) } else { String::new() }
}

fn circumstances(text: &mut String, record: &RunRecord) {
    let environment = &record.environment;
    push(
        text,
        format_args!(
            "- Measured on {} ({} processors, kernel {}).",
            escape(&environment.host),
            environment.cpus,
            known(&environment.kernel)
        ),
    );
    for target in &record.targets {
        if let Some(file_system) = &target.file_system {
            let version = file_system.client_version.as_deref();
            let version = version.map(|version| format!(", client {}", escape(version))).unwrap_or_default();
            push(
                text,
                format_args!(
                    "- {}: {} from {}, options {}{version}.",
                    escape(&target.name),
                    known(&file_system.kind),
                    known(&file_system.source),
                    known(&file_system.options)
                ),
            );
        }
    }
}

fn corrective_actions(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Corrective actions\n\n| action | responsible | until | ticket |\n|---|---|---|---|\n");
    for _ in 0..3 {
        push(text, format_args!("| {OPEN} | {OPEN} | {OPEN} | {OPEN} |"));
    }
    let mut advice: Vec<String> = Vec::new();
    for finding in runs.iter().flat_map(|run| judged(run.analysis).findings()) {
        if finding.severity != Severity::Note && !advice.contains(&finding.advice) {
            advice.push(finding.advice);
        }
    }
    if !advice.is_empty() {
        text.push_str("\nWhat the findings advise next:\n\n");
        for advice in advice {
            push(text, format_args!("- {}", escape(&advice)));
        }
    }
    text.push('\n');
}

fn annex(text: &mut String, runs: &[IncidentRun<'_>]) {
    text.push_str("## Annex: measurements\n\n");
    for IncidentRun { record, figures, .. } in runs {
        let attempts = counted(figures.counts.attempts, "attempt", "attempts");
        let command = escape(&record.command.join(" "));
        push(text, format_args!("- Run {}: {attempts}; command: {command}", record.id));
        push(text, format_args!("  - figures: `iolag plot time-line {0} -o {0}.svg`", record.id));
    }
}

/// The same, with a word where nothing is known.
fn known(text: &str) -> String {
    if text.is_empty() { "unknown".to_owned() } else { escape(text) }
}

#[cfg(test)]
#[path = "../../../iolag-analysis/tests/scenario/mod.rs"]
pub(crate) mod scenario;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::samples::{Shape, figures_of};
    use iolag_analysis::analyse_run;
    use iolag_analysis::figure::{EpisodeSeries, Figures, Peak, TroubleCounts};
    use iolag_model::TargetIndex;

    const WRITTEN_NS: u64 = 1_795_287_540_000_000_000;

    fn with_episodes(mut figures: Figures) -> Figures {
        let troubles = TroubleCounts { slow: 12, failed: 6, hung: 2, ..TroubleCounts::default() };
        let start = figures.runs[0].run.begin_ns.after(Nanoseconds::from_seconds(350));
        figures.runs[0].episodes = vec![Episode {
            target: TargetIndex(0),
            begin_ns: start,
            end_ns: start.after(Nanoseconds::from_seconds(75)),
            peak: Peak { series: 0, start_ns: start, duration_ns: Nanoseconds::from_seconds(60) },
            troubles,
            longest_wait_ns: Some(Nanoseconds::from_seconds(60)),
            series: vec![EpisodeSeries { series: 0, threshold_ns: None, troubles }],
        }];
        figures
    }

    #[test]
    fn a_draft_tells_what_is_known_and_leaves_the_rest_open() {
        let scenario = scenario::usb_stick();
        let analysis = analyse_run(&scenario.record, &scenario.by_stage());
        let figures = with_episodes(figures_of(Shape::Usual));
        let run = IncidentRun { record: &scenario.record, analysis: &analysis, figures: &figures.runs[0] };
        insta::assert_snapshot!("incident", incident_text(&[run], WRITTEN_NS));
    }

    #[test]
    fn names_from_outside_stay_text() {
        let mut scenario = scenario::three_directories();
        scenario.record.environment.host = "<script>alert(1)</script>".to_owned();
        let analysis = analyse_run(&scenario.record, &scenario.by_target());
        let mut figures = with_episodes(figures_of(Shape::Hung));
        figures.runs[0].run.targets[0].name = "[click](http://evil) | # \n- <b>".to_owned();
        let run = IncidentRun { record: &scenario.record, analysis: &analysis, figures: &figures.runs[0] };
        let text = incident_text(&[run], WRITTEN_NS);
        assert!(text.contains("\\<script\\>") && !text.contains(" <script>"), "{text}");
        assert!(text.contains("\\[click\\](http:\\//evil) \\| \\#  - \\<b\\>"), "{text}");
    }

    #[test]
    fn a_doubt_and_what_to_do_are_told_apart() {
        let mut scenario = scenario::usb_stick();
        let (doubt, advice) = ("4 clients share 1 processor".to_owned(), "use more nodes".to_owned());
        scenario.record.trust = vec![Trust { doubt, advice }];
        let analysis = analyse_run(&scenario.record, &scenario.by_stage());
        let figures = figures_of(Shape::Usual);
        let run = IncidentRun { record: &scenario.record, analysis: &analysis, figures: &figures.runs[0] };
        let text = incident_text(&[run], WRITTEN_NS);
        assert!(
            text.contains("- To be kept in mind: 4 clients share 1 processor → use more nodes\n"),
            "{text}"
        );
    }

    #[test]
    fn without_trouble_the_draft_says_so() {
        let scenario = scenario::three_directories();
        let analysis = analyse_run(&scenario.record, &scenario.by_target());
        let draft = |figures: &Figures| {
            let figures = &figures.runs[0];
            incident_text(
                &[IncidentRun { record: &scenario.record, analysis: &analysis, figures }],
                WRITTEN_NS,
            )
        };
        assert!(draft(&figures_of(Shape::Empty)).contains("iolag made no attempt."));
        let mut quick = figures_of(Shape::One);
        assert!(draft(&quick).contains("No attempt that iolag made was slow"));
        quick.runs[0].series[0].over = vec![1];
        assert!(draft(&quick).contains("what was slow was slow all the time"));
        assert!(incident_text(&[], WRITTEN_NS).contains("## Corrective actions"));
    }
}
