//! `iolag bench stream` in words, and on a terminal.

use iolag_analysis::{StageAnalysis, StreamAnalysis, StreamPhase, stage_name};
use iolag_model::{Phase, counted, format_bytes, format_duration};

use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{quantile, quantile_with_interval};
use crate::words::numbers::{NOTHING, at_share, processor_share, throughput};
use crate::workload::metadata::text::operations_table;

/// Renders a stream for a terminal of `width` columns.
pub(super) fn stream_text(analysis: &StreamAnalysis, width: usize, colour: Colour) -> String {
    let mut text = format!("{}\n", wrapped(&sentence(analysis), width, "  "));
    if !analysis.phases.is_empty() {
        text.push_str(&phases_table(analysis).render(colour));
    }
    for stage in analysis.stages.iter().filter(|stage| !stage.rows.is_empty()) {
        let headline = stage_headline(stage, width, colour);
        text.push_str(&format!("{headline}\n{}", operations_table(&stage.rows).render(colour)));
    }
    text.push_str(&findings_text(None, &in_words_each(&analysis.findings), width, colour));
    text.push_str(&trust_text(&analysis.trust, width, colour));
    text.push_str(&footnotes_text(&analysis.footnotes, width, colour));
    text
}

/// What each phase came to.
fn phases_table(analysis: &StreamAnalysis) -> Table {
    let right = Side::Right;
    let columns = columns([
        ("", Side::Left),
        ("bytes", right),
        ("time", right),
        ("throughput", right),
        ("processor", right),
        ("block, median", right),
        ("p99", right),
        ("max", right),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for phase in &analysis.phases {
        let stage = analysis.stages.iter().find(|stage| stage.stage == phase.stage);
        let blocks =
            stage.and_then(|stage| stage.rows.iter().find(|row| row.summary.key.operation.moves_blocks()));
        let of_blocks = |of: &dyn Fn(&iolag_analysis::DurationSummary) -> String| {
            Cell::new(blocks.map_or_else(|| NOTHING.to_owned(), |row| of(&row.summary.durations)))
        };
        table.row(vec![
            Cell::new(phase_name(phase)),
            Cell::new(format_bytes(phase.bytes)),
            Cell::new(format_duration(phase.time_ns)),
            Cell::new(phase.bytes_per_second.map_or_else(|| NOTHING.to_owned(), throughput)),
            Cell::new(processor_share(phase.processors, phase.processor_time_ns)),
            of_blocks(&|durations| quantile_with_interval(&durations.median)),
            of_blocks(&|durations| quantile(durations.p99.value)),
            of_blocks(&|durations| quantile(durations.max)),
        ]);
    }
    table
}

fn phase_name(phase: &StreamPhase) -> String {
    match phase.phase {
        Phase::Precreate => "making the file".to_owned(),
        of_stream if phase.iteration == 0 => of_stream.to_string(),
        of_stream => stage_name(of_stream, phase.iteration),
    }
}

/// What a stage is called, and what is to be known of its clients and of caches.
pub(in crate::workload) fn stage_headline(stage: &StageAnalysis, width: usize, colour: Colour) -> String {
    let name = stage_name(stage.phase, stage.iteration);
    let mut line = name.clone();
    if let (Some(first), Some(last), true) =
        (stage.times.first_done_ns, stage.times.last_done_ns, stage.clients.len() > 1)
    {
        line.push_str(&format!(
            ": {} clients, the first done after {}, the last after {}",
            stage.clients.len(),
            format_duration(first),
            format_duration(last)
        ));
    }
    if stage.unfinished.clients > 0 {
        line.push_str(&format!(
            ", {} did not finish",
            counted(stage.unfinished.clients, "client", "clients")
        ));
    }
    if let Some(caches) = stage.caches {
        line.push_str(&format!(": {caches}"));
    }
    let line = wrapped(&line, width, "  ");
    let mut text = colour.paint(Tone::Strong, &name);
    text.push_str(line.strip_prefix(&name).unwrap_or(&line));
    text
}

/// `Write 1.20 GiB/s at 75 % of one processor, read 2.3 GiB/s at 60 %.`
pub(super) fn sentence(analysis: &StreamAnalysis) -> String {
    let told: Vec<String> = analysis
        .phases
        .iter()
        .filter(|phase| phase.phase != Phase::Precreate)
        .filter_map(|phase| {
            let rate = throughput(phase.bytes_per_second?);
            let of_one = at_share(phase.processors);
            Some(format!("{} {rate}{of_one}", phase_name(phase)))
        })
        .collect();
    if told.is_empty() {
        return "No block was moved.".to_owned();
    }
    let mut sentence = format!("{} of one processor.", told.join(", "));
    if analysis.phases.iter().all(|phase| phase.processors.is_none()) {
        sentence = format!("{}.", told.join(", "));
    }
    sentence[..1].make_ascii_uppercase();
    sentence
}
