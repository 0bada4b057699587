//! What a metadata run amounts to, in a paragraph.

use iolag_analysis::{MetadataAnalysis, RepetitionJudgement, StageAnalysis, median_of, stage_name};
use iolag_model::{Phase, counted, format_count, format_duration};

use crate::words::estimates::quantile_with_interval;
use crate::words::numbers::{percentage, rate};

/// Its rates, its medians and what failed.
pub(super) fn metadata_verdict(analysis: &MetadataAnalysis) -> String {
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
