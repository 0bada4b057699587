//! `iolag bench setup` in words, and on a terminal.

use iolag_analysis::{CopiesJudgement, CopyEnding, CopyTime, SetUpAnalysis, StageAnalysis};
use iolag_model::{Phase, counted, format_count, format_duration};

use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Colour, Tone, wrapped};
use crate::words::numbers::{percentage, typed_duration};
use crate::words::payload::payload_sentence;
use crate::workload::metadata::text::operations_table;

/// Renders a set-up for a terminal of `width` columns.
pub(super) fn set_up_text(analysis: &SetUpAnalysis, width: usize, colour: Colour) -> String {
    let mut text = format!("{}\n", wrapped(&sentence(analysis), width, "  "));
    if let Some(judgement) = &analysis.judgement {
        let tone = if judgement.over > 0 { Tone::Serious } else { Tone::Good };
        text.push_str(&colour.paint(tone, &wrapped(&judged(judgement), width, "  ")));
        text.push('\n');
    }
    for stage in &analysis.stages {
        let share = analysis.processors.map(|share| share.processors);
        text.push_str(&stage_text(stage, share, colour));
    }
    let assumed = format!("Assumed, since counts of calls do not say it: {}.", analysis.assumed.join("; "));
    text.push_str(&format!("{}\n", wrapped(&assumed, width, "  ")));
    text.push_str(&findings_text(None, &in_words_each(&analysis.findings), width, colour));
    text.push_str(&trust_text(&analysis.trust, width, colour));
    text.push_str(&footnotes_text(&analysis.footnotes, width, colour));
    text
}

/// Processors are told of the calls alone.
fn stage_text(stage: &StageAnalysis, share: Option<f64>, colour: Colour) -> String {
    let what = match stage.phase {
        Phase::Precreate => "making the tree",
        Phase::Benchmark => "calls of all copies, from the first to the end of the last",
        // Nothing is done in the others.
        _ => return String::new(),
    };
    let caches = stage.caches.map_or_else(String::new, |caches| format!("; {caches}"));
    let share = share.filter(|_| stage.phase == Phase::Benchmark);
    let processors = share
        .map_or_else(String::new, |share| format!(" with {} % of a processor", percentage(100.0 * share)));
    let head = format!("{what}: {}{processors}{caches}", format_duration(stage.times.phase_time_ns));
    format!("{}\n{}", colour.paint(Tone::Strong, &head), operations_table(&stage.rows).render(colour))
}

/// `A set-up took 41.2 s (median of 4 copies, from 41.0 to 41.5 s), with 400 000 stat and 28 000 open calls in all.`
pub(super) fn sentence(analysis: &SetUpAnalysis) -> String {
    let Some(time) = analysis.time else {
        return "No copy began to make its calls.".to_owned();
    };
    let at_least = if time.is_at_least { "at least " } else { "" };
    let spread = spread(&analysis.copies);
    let calls = analysis.calls;
    let mut sentences = vec![format!(
        "A set-up took {at_least}{}{spread}, with {} stat and {} open calls in all.",
        format_duration(time.median_ns),
        format_count(calls.stats),
        format_count(calls.opens)
    )];
    sentences.extend(ended(&analysis.copies));
    sentences.extend(analysis.payload.as_ref().map(payload_sentence));
    sentences.join(" ")
}

/// ` (median of 4 copies, from 41.0 to 41.5 s)`; of one copy nothing.
pub(crate) fn spread(copies: &[CopyTime]) -> String {
    let times = || copies.iter().map(|copy| copy.time_ns);
    match (times().min(), times().max()) {
        (Some(first), Some(last)) if copies.len() > 1 => {
            let [first, last] = [first, last].map(format_duration);
            match first == last {
                true => format!(" (each of {} copies)", copies.len()),
                false => format!(" (median of {} copies, from {first} to {last})", copies.len()),
            }
        }
        _ => String::new(),
    }
}

/// How many copies did not come to their ends, if some did not.
pub(crate) fn ended(copies: &[CopyTime]) -> Option<String> {
    let count = |ending| copies.iter().filter(|copy| copy.ending == ending).count() as u64;
    let (timed_out, stopped) = (count(CopyEnding::TimedOut), count(CopyEnding::Stopped));
    let told = [(timed_out, "ended when its time was up"), (stopped, "stopped before its end")];
    let told: Vec<String> = told
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, how)| {
            let how = if count == 1 { how.to_owned() } else { how.replace("its", "their") };
            format!("{} {how}", counted(count, "copy was", "copies were"))
        })
        .collect();
    (!told.is_empty()).then(|| format!("{}.", told.join(", ")))
}

/// `2 of 24 copies took longer than 10.0 min, 8.3 [1.0–27] %.`
pub(crate) fn judged(judgement: &CopiesJudgement) -> String {
    let CopiesJudgement { limit_ns, copies, over, undecided, interval } = judgement;
    let limit = typed_duration(*limit_ns);
    let percent = |share: f64| percentage(share * 100.0);
    let ends = format!("[{}–{}] %", percent(interval.low), percent(interval.high));
    let open = match undecided {
        0 => String::new(),
        1 if *copies == 1 => ", since it did not come to its end".to_owned(),
        some => {
            format!("; of {} it is not known, since they did not come to their ends", format_count(*some))
        }
    };
    let of_them = || counted(*copies, "copy", "copies");
    let over_of = match (copies, over, undecided) {
        (1, 0, 0) => "The copy did not take".to_owned(),
        (1, 0, _) => "It is not known whether the copy took".to_owned(),
        (1, _, _) => "The copy took".to_owned(),
        (_, 0, _) => format!("None of {} took", of_them()),
        (_, _, _) => format!("{} of {} took", format_count(*over), of_them()),
    };
    let share = match (copies, undecided) {
        (0, _) => String::new(),
        (_, 0) => format!(", {} {ends}", percent(*over as f64 / *copies as f64)),
        _ => format!(", at least {} {ends}", percent(*over as f64 / *copies as f64)),
    };
    format!("{over_of} longer than {limit}{share}{open}.")
}
