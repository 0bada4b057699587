//! `iolag replay` in words, and on a terminal.

use iolag_analysis::{Agreement, CopyEnding, ReplayAnalysis, StageAnalysis, Void};
use iolag_model::{
    LeftOut, Nanoseconds, ReplayCoverage, WhyLeftOut, counted, format_count, format_duration, one_line,
};

use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Colour, Side, Tone, wrapped};
use crate::words::payload::payload_sentence;
use crate::workload::metadata::text::operations_table;
use crate::workload::set_up::text::{ended, judged, spread};
use crate::workload::trace::tables::{TraceCell, TraceTable};

/// So many kinds of calls that are left out are told.
const KINDS_TOLD: usize = 5;

/// Renders a replay for a terminal of `width` columns.
pub(super) fn replay_text(analysis: &ReplayAnalysis, width: usize, colour: Colour) -> String {
    let mut text = format!("{}\n", wrapped(&sentence(analysis), width, "  "));
    if let Some(judgement) = &analysis.judgement {
        let tone = if judgement.over > 0 { Tone::Serious } else { Tone::Good };
        text.push_str(&colour.paint(tone, &wrapped(&judged(judgement), width, "  ")));
        text.push('\n');
    }
    text.push_str(&format!("{}\n", wrapped(&repeated(analysis), width, "  ")));
    if let Some(TraceTable { title, rows, .. }) = disagreements(analysis) {
        text.push_str(&format!("{}\n", colour.paint(Tone::Strong, title)));
        for row in rows {
            let told: Vec<&str> = row.iter().map(|cell| cell.text.as_str()).collect();
            text.push_str(&format!("  {}\n", wrapped(&one_line(&told.join(" × ")), width, "      ")));
        }
    }
    for stage in &analysis.stages {
        text.push_str(&stage_text(stage, colour));
    }
    text.push_str(&findings_text(None, &in_words_each(&analysis.findings), width, colour));
    text.push_str(&trust_text(&analysis.trust, width, colour));
    text.push_str(&footnotes_text(&analysis.footnotes, width, colour));
    text
}

fn stage_text(stage: &StageAnalysis, colour: Colour) -> String {
    let caches = stage.caches.map_or_else(String::new, |caches| format!("; {caches}"));
    let head = format!(
        "calls of all copies, from the first to the end of the last: {}{caches}",
        format_duration(stage.times.phase_time_ns)
    );
    format!("{}\n{}", colour.paint(Tone::Strong, &head), operations_table(&stage.rows).render(colour))
}

/// `python3 took 1.20 s (median of 4 copies, from 1.18 to 1.30 s); traced it took 310 ms. 99.9 % of its calls came back as they did then.`
pub(super) fn sentence(analysis: &ReplayAnalysis) -> String {
    let Some(time) = analysis.time else {
        return "No copy began to make its calls.".to_owned();
    };
    let program = one_line(analysis.program.as_deref().unwrap_or("The program"));
    let at_least = if time.is_at_least { "at least " } else { "" };
    let mut sentences = vec![format!(
        "{program} took {at_least}{}{}{}.",
        format_duration(time.median_ns),
        spread(&analysis.copies),
        traced(analysis)
    )];
    sentences.push(agreed(analysis.agreement));
    sentences.extend(analysis.void.iter().map(|void| void_in_words(*void).to_owned()));
    sentences.extend(ended(&analysis.copies));
    sentences.extend(analysis.payload.as_ref().map(payload_sentence));
    sentences.join(" ")
}

/// `163 ms without what tracing cost, 244 ms with it`: the latter is what the trace says.
fn traced(analysis: &ReplayAnalysis) -> String {
    let own = format_duration(analysis.traced_ns);
    match (analysis.traced_ns, analysis.tracing_ns) {
        // Nobody knows.
        (Nanoseconds::ZERO, _) => String::new(),
        (_, Nanoseconds::ZERO) => format!("; when it was traced, {own}"),
        (traced, cost) => {
            let all = Nanoseconds(traced.0.saturating_add(cost.0));
            format!("; when it was traced, {own} without what tracing cost, {} with it", format_duration(all))
        }
    }
}

/// To a tenth of a percent, never rounded up: a run that is void would seem to be none.
pub(super) fn share(share: f64) -> String {
    let tenths = (share * 1000.0).floor() / 10.0;
    if tenths.fract() == 0.0 { format!("{tenths}") } else { format!("{tenths:.1}") }
}

fn agreed(agreement: Agreement) -> String {
    let Agreement { calls, agreed } = agreement;
    let otherwise = calls - agreed;
    match otherwise {
        _ if calls == 0 => "No call was made again.".to_owned(),
        0 => format!("All {} came back as they did then.", counted(calls, "call", "calls")),
        some => format!(
            "{} of {} came back otherwise than then: {} % agree.",
            format_count(some),
            counted(calls, "call", "calls"),
            share(agreement.share())
        ),
    }
}

/// Calls that came back otherwise, if there are any: the first in words, the others counted.
pub(super) fn disagreements(analysis: &ReplayAnalysis) -> Option<TraceTable> {
    let Agreement { calls, agreed } = analysis.agreement;
    let told: u64 = analysis.disagreements.iter().map(|one| one.calls).sum();
    let row = |calls, text: &str| vec![TraceCell::count(calls), TraceCell::name(text)];
    let mut rows: Vec<_> = analysis.disagreements.iter().map(|one| row(one.calls, &one.text)).collect();
    let others = (calls - agreed).saturating_sub(told);
    if others > 0 && told > 0 {
        rows.push(row(others, "others"));
    }
    let columns = vec![("calls", Side::Right), ("which", Side::Left)];
    let title = "Calls that came back otherwise than when they were traced";
    (!rows.is_empty()).then_some(TraceTable { title, columns, rows })
}

const fn void_in_words(void: Void) -> &'static str {
    match void {
        Void::Agreement => {
            "This run is void: with less than 99 % it is not what the program did. Compare with --check, or repeat it on a skeleton (--prepare)."
        }
        Void::Coverage => {
            "This run is void: it repeats less than 95 % of what was traced. Map more directories, or restrict it to some with --only."
        }
    }
}

/// What a copy repeats; of copies that were ended it is told elsewhere what they did.
pub(super) fn repeated(analysis: &ReplayAnalysis) -> String {
    let told = coverage(&analysis.coverage);
    match analysis.copies.iter().all(|copy| copy.ending == CopyEnding::Ended) {
        true => told,
        false => told.replacen("A copy repeats", "A copy that comes to its end repeats", 1),
    }
}

/// `4 811 of 5 020 calls on files that were traced are repeated, 95.8 %; not 120 write, which would change what is there, …`
pub(super) fn coverage(coverage: &ReplayCoverage) -> String {
    let ReplayCoverage { traced, repeated, left_out } = coverage;
    let share = share(coverage.share());
    let all = counted(*traced, "call on files that was traced", "calls on files that were traced");
    let mut text = format!("A copy repeats {} of {all} ({share} %)", format_count(*repeated));
    let told: Vec<String> = left_out.iter().take(KINDS_TOLD).map(left_out_in_words).collect();
    if !told.is_empty() {
        text.push_str(&format!("; it leaves out {}", told.join(", ")));
        let others: u64 = left_out.iter().skip(KINDS_TOLD).map(|left| left.calls).sum();
        if others > 0 {
            text.push_str(&format!(", and {} others", format_count(others)));
        }
    }
    text + "."
}

fn left_out_in_words(left: &LeftOut) -> String {
    let example =
        if left.example.is_empty() { String::new() } else { format!(", as {}", one_line(&left.example)) };
    format!("{} {} ({}{example})", format_count(left.calls), one_line(&left.call), why_in_words(left.why))
}

pub(super) const fn why_in_words(why: WhyLeftOut) -> &'static str {
    match why {
        WhyLeftOut::NotMapped => "not mapped",
        WhyLeftOut::Changes => "would change what is there",
        WhyLeftOut::Changed => "on what the program itself had changed",
        WhyLeftOut::UnknownDescriptor => "on a descriptor from before the trace",
        WhyLeftOut::UnknownDirectory => "in a directory that the trace does not tell",
        WhyLeftOut::NotTold => "the trace tells too little of it",
        WhyLeftOut::Lock => "waits for a lock",
        WhyLeftOut::NeverBack => "never came back",
        WhyLeftOut::OtherView => "in a root of its own",
        WhyLeftOut::Special => "on a device, pipe or socket of the target",
        WhyLeftOut::Leads => "through a link that leads out of the map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_that_are_too_small_are_not_rounded_up() {
        let agreement = Agreement { calls: 100_000, agreed: 98_999 };
        assert_eq!(agreed(agreement), "1 001 of 100 000 calls came back otherwise than then: 98.9 % agree.");
        assert_eq!(agreed(Agreement { calls: 1, agreed: 1 }), "All 1 call came back as they did then.");
        let left = |calls, why, call: &str| LeftOut { why, call: call.into(), calls, example: "/x".into() };
        let some = ReplayCoverage {
            traced: 10_000,
            repeated: 9_499,
            left_out: vec![left(400, WhyLeftOut::Changes, "write"), left(101, WhyLeftOut::NotTold, "ioctl")],
        };
        assert_eq!(
            coverage(&some),
            "A copy repeats 9 499 of 10 000 calls on files that were traced (94.9 %); it leaves out 400 write (would change what is there, as /x), 101 ioctl (the trace tells too little of it, as /x)."
        );
    }
}
