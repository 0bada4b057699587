//! What `iolag ping` ends with, and `iolag show` of such a run.

use iolag_analysis::{PingAnalysis, PingCounts, Summary};
use iolag_model::{Nanoseconds, Operation, counted, format_count, format_duration, one_line};

use crate::text::findings::trust_text;
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{quantile, quantile_with_interval};

/// As ping(8) ends: what became of the probes, then how long they and their operations took. What is only known to be at least
/// so long stands behind `≥`.
pub fn ping_text(analysis: &PingAnalysis, width: usize, colour: Colour) -> String {
    let every = format_duration(analysis.every_ns);
    let title = format!("--- {}, a probe every {every} ---", one_line(&analysis.target));
    let tone = if analysis.probes.lost() > 0 { Tone::Serious } else { Tone::Good };
    let counts = wrapped(&probes_in_words(analysis.probes), width, "    ");
    let mut text = format!("{}\n{}\n", colour.paint(Tone::Strong, &title), colour.paint(tone, &counts));
    let timed: Vec<&Summary> =
        analysis.summaries.iter().filter(|summary| summary.durations.count > 0).collect();
    if !timed.is_empty() {
        text.push('\n');
        text.push_str(&table(&timed).render(colour));
    }
    for remark in &analysis.remarks {
        text.push_str(&format!("\n{}\n", wrapped(remark, width, "  ")));
    }
    text + &trust_text(&analysis.trust, width, colour)
}

/// `10 probes: 7 answered, 3 lost (1 late, 2 skipped)`.
pub fn probes_in_words(probes: PingCounts) -> String {
    if probes.due == 0 {
        return "no probe was sent".to_owned();
    }
    let mut parts = vec![format!("{} answered", format_count(probes.answered))];
    if probes.lost() > 0 {
        let causes = [
            (probes.late, "late"),
            (probes.timeout, "ended at the deadline"),
            (probes.hung, "hung"),
            (probes.failed, "failed"),
            (probes.skipped, "skipped"),
        ];
        let causes: Vec<String> = causes
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", format_count(count)))
            .collect();
        parts.push(format!("{} lost ({})", format_count(probes.lost()), causes.join(", ")));
    }
    if probes.outrun > 0 {
        parts.push(format!("{} not sent (the one before took longer)", format_count(probes.outrun)));
    }
    if probes.held_up > 0 {
        let held_up = format_count(probes.held_up);
        parts.push(format!("{held_up} not sent (removing the file of the one before was not done)"));
    }
    if probes.interrupted > 0 {
        parts.push(format!("{} interrupted or missed by iolag itself", format_count(probes.interrupted)));
    }
    format!("{}: {}", counted(probes.due, "probe", "probes"), parts.join(", "))
}

fn table(summaries: &[&Summary]) -> Table {
    let right = Side::Right;
    let columns = columns([
        ("", Side::Left),
        ("n", right),
        ("min", right),
        ("median", right),
        ("p95", right),
        ("p99", right),
        ("max", right),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for summary in summaries {
        let durations = &summary.durations;
        let slow = |text: String, value: Option<Nanoseconds>| match value {
            Some(value) if value > Nanoseconds::from_seconds(1) => Cell::toned(text, Tone::Serious),
            _ => Cell::new(text),
        };
        let name = match summary.key.operation {
            Operation::Probe => "whole probe".to_owned(),
            Operation::Delete => "  remove (not in the probe)".to_owned(),
            operation => format!("  {operation}"),
        };
        table.row(vec![
            Cell::new(name),
            Cell::toned(format_count(durations.count), Tone::Faint),
            slow(quantile(durations.min), durations.min.lower_bound()),
            slow(quantile_with_interval(&durations.median), durations.median.value.lower_bound()),
            slow(quantile(durations.p95.value), durations.p95.value.lower_bound()),
            slow(quantile(durations.p99.value), durations.p99.value.lower_bound()),
            slow(quantile(durations.max), durations.max.lower_bound()),
        ]);
    }
    table
}
