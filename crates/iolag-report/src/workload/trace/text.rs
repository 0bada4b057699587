//! What `iolag trace` ends with, and `iolag show` of a trace: what to change, then where the time went, then all that was asked.

use iolag_analysis::TraceAnalysis;
use iolag_model::{
    ProgramEnd, TraceAbout, TraceAnonymity, TraceEnding, TraceNetwork, TraceOrigin, TraceTime, counted,
    format_count, format_duration,
};

use super::over_time::OverTime;
use super::tables::{TraceTable, tables};
use super::tree::short_tree;
use crate::finding::in_words::FindingInWords;
use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, trust_text};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, wrapped};
use crate::words::comparison::names::cut;

/// More rows are on the page and in JSON.
const ROWS: usize = 10;
/// Names of what was looked for take no more.
const NAME_COLUMNS: usize = 20;
/// A path is not cut to less.
const PATH_COLUMNS_MIN: usize = 20;

/// What a program asked, for a terminal of `width` columns.
pub(super) fn trace_text(analysis: &TraceAnalysis, width: usize, colour: Colour) -> String {
    let findings = in_words_each(&analysis.findings);
    let tone = if findings.is_empty() { Tone::Good } else { Tone::Serious };
    let mut text = colour.paint(tone, &wrapped(&answer(analysis, findings.first()), width, "")) + "\n";
    text.push_str(&findings_text(None, findings.get(1..).unwrap_or_default(), width, colour));
    text.push_str(&format!("\n{}\n", wrapped(&where_time_went(analysis), width, "  ")));
    if let Some(bars) = OverTime::of(&analysis.summary).and_then(|line| line.text(width, colour)) {
        text.push_str(&format!("\n{bars}"));
    }
    for table in short_tree(&analysis.summary.tree).into_iter().chain(tables(analysis)) {
        let title = colour.paint(Tone::Strong, table.title);
        text.push_str(&format!("\n{title}\n{}", drawn(&table, width).render(colour)));
        let more = table.rows.len().saturating_sub(ROWS);
        if more > 0 {
            let rest = format!("and {} more: iolag report has all that are kept", format_count(more as u64));
            text.push_str(&format!("{}\n", colour.paint(Tone::Faint, &rest)));
        }
    }
    for remark in &analysis.remarks {
        text.push_str(&format!("\n{}\n", wrapped(remark, width, "  ")));
    }
    text + &trust_text(&analysis.trust, width, colour)
}

/// What to change, and why; if there is nothing to change, that.
pub(super) fn answer<K>(analysis: &TraceAnalysis, first: Option<&FindingInWords<K>>) -> String {
    let summary = &analysis.summary;
    let answer = match first {
        _ if summary.calls == 0 => "No call on files was seen.".to_owned(),
        Some(finding) => format!("{} {}", finding.advice, finding.sentence),
        None => {
            let calls = counted(summary.calls, "call", "calls");
            format!(
                "Nothing in how it asks is worth a change: of {calls} few were in vain, asked again, or slow."
            )
        }
    };
    match analysis.ending.is_missing() {
        true => format!("The trace is cut off, and of the rest nothing is known. {answer}"),
        false => answer,
    }
}

/// `41 processes made 21 199 calls in 3.42 s. …`
pub(super) fn where_time_went(analysis: &TraceAnalysis) -> String {
    let summary = &analysis.summary;
    let processes = counted(summary.processes, "process", "processes");
    let calls = counted(summary.calls, "call", "calls");
    let failed = format!("of which {} failed", format_count(summary.errors));
    let mut text = format!("{processes} made {calls}, {failed}");
    if summary.span_ns.0 > 0 {
        text += &format!(", in {}", format_duration(summary.span_ns));
    }
    text.push('.');
    let TraceTime { storage_ns, elsewhere_ns, processor_ns, untimed } = summary.time;
    if untimed < summary.calls {
        let together =
            if summary.tasks > 1 { "All tasks together, which wait for each other, were" } else { "It was" };
        text += &format!(
            " {together} {} in storage, {} on the processor (or waiting for one, for a lock{}), and {} elsewhere: waiting for processes, \
             pipes, terminals and time.",
            format_duration(storage_ns),
            format_duration(processor_ns),
            waited_for_untraced(&analysis.about),
            format_duration(elsewhere_ns)
        );
    }
    match &analysis.about.cost {
        Some(cost) => {
            text += &format!(
                " Tracing cost {} for each call: {} of it are taken from the time on the processor, the rest is in what calls took.",
                format_duration(cost.whole().median),
                format_duration(cost.between_ns.median)
            );
        }
        None if summary.span_ns.0 > 0 => {
            text += " What tracing cost is not known; it is in the time on the processor.";
        }
        None => {}
    }
    text + &how_it_ended(&analysis.ending)
}

/// What is between calls besides, since it was not traced.
fn waited_for_untraced(about: &TraceAbout) -> &'static str {
    match (about.origin, about.network) {
        (TraceOrigin::Text, _) | (_, TraceNetwork::Traced) => "",
        (_, TraceNetwork::Left) => " or for the network",
    }
}

/// A sentence more, if that is known.
fn how_it_ended(ending: &TraceEnding) -> String {
    match (&ending.cut, ending.ended) {
        (Some(cut), _) => format!(" The trace ends before the program: {cut}."),
        (None, Some(ProgramEnd::Exited(status))) => format!(" It ended with status {status}."),
        (None, Some(ProgramEnd::Killed(signal))) => format!(" It was ended by signal {signal}."),
        (None, None) => String::new(),
    }
}

/// What it says of itself, by name.
pub(super) fn facts(analysis: &TraceAnalysis) -> Vec<(&'static str, String)> {
    let about = &analysis.about;
    let origin = match about.origin {
        TraceOrigin::Captured => "a command that iolag ran under strace",
        TraceOrigin::Attached => "processes to which strace was attached",
        TraceOrigin::Text => "text of strace",
    };
    let mut facts = vec![("Traced", origin.to_owned())];
    facts.extend(about.strace.iter().map(|version| ("strace", version.clone())));
    if about.anonymity == TraceAnonymity::Anonymised {
        facts.push(("Names", "replaced by others of the same length".to_owned()));
    }
    facts
}

/// The first rows, paths cut so that the table fits.
fn drawn(table: &TraceTable, width: usize) -> Table {
    let title = table.columns.last().map_or(0, |(title, _)| title.len());
    let others = with_paths(table, 0).width().saturating_sub(title);
    let room = width.saturating_sub(others).max(PATH_COLUMNS_MIN);
    with_paths(table, room)
}

fn with_paths(table: &TraceTable, most: usize) -> Table {
    let columns = table.columns.iter().map(|(name, side)| ((*name).into(), *side)).collect();
    let mut drawn = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    let last = table.columns.len() - 1;
    for row in table.rows.iter().take(ROWS) {
        let cells = row.iter().zip(&table.columns).enumerate().map(|(place, (cell, (_, side)))| {
            let most = match side {
                Side::Left if place == last => most,
                _ => NAME_COLUMNS,
            };
            Cell::new(cut(&cell.text, most))
        });
        drawn.row(cells.collect());
    }
    drawn
}
