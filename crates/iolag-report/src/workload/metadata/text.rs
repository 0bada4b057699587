//! `iolag bench metadata` on a terminal: a block per stage.

use std::borrow::Cow;
use std::iter::once;

use iolag_analysis::{
    MetadataAnalysis, OperationRow, ProfileQuantity, RepetitionJudgement, StageAnalysis, TimeSpent,
    WorkingSet, stage_name,
};
use iolag_model::{ErrorClass, counted, format_count, format_duration};

use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{quantile, quantile_with_interval};
use crate::words::numbers::{NOTHING, rate};
use crate::words::profile::{PARTS_TITLE, PartsTable, number, title};

/// Renders a metadata run for a terminal of `width` columns.
pub fn metadata_text(analysis: &MetadataAnalysis, width: usize, colour: Colour) -> String {
    let mut text = String::new();
    for stage in &analysis.stages {
        text.push_str(&stage_text(stage, width, colour));
        text.push('\n');
    }
    let line = format!("Working set: {}.", working_set_words(&analysis.working_set));
    text.push_str(&wrapped(&line, width, "  "));
    text.push('\n');
    // More than that is a finding.
    if let Some(comparison) = analysis.repetitions
        && comparison.judgement == RepetitionJudgement::Alike
    {
        let factor = comparison.factor;
        let line =
            format!("Iterations differ by a factor of {factor:.2} in their rates: no more than chance.");
        text.push_str(&wrapped(&line, width, "  "));
        text.push('\n');
    }
    text.push_str(&findings_text(None, &in_words_each(&analysis.findings), width, colour));
    text.push_str(&trust_text(&analysis.trust, width, colour));
    text.push_str(&footnotes_text(&analysis.footnotes, width, colour));
    text
}

fn stage_text(stage: &StageAnalysis, width: usize, colour: Colour) -> String {
    let name = stage_name(stage.phase, stage.iteration);
    let line = wrapped(&format!("{name}{}", headline(stage)), width, "  ");
    // Coloured after it was broken: codes have no width.
    let mut text = colour.paint(Tone::Strong, &name);
    text.push_str(line.strip_prefix(&name).unwrap_or(&line));
    text.push('\n');
    if !stage.errors.is_empty() {
        let kinds: Vec<String> = stage.errors.iter().map(|error| kind(error.class, error.count)).collect();
        text.push_str(&colour.paint(Tone::Serious, &format!("  errors: {}", kinds.join(", "))));
        text.push('\n');
    }
    let retried: u64 = stage.rows.iter().map(|row| row.summary.retried).sum();
    if retried > 0 {
        text.push_str(&format!("  asked again: {}\n", counted(retried, "attempt", "attempts")));
    }
    text.push_str(&operations_table(&stage.rows).render(colour));
    if let Some(table) = parts_table(&stage.rows) {
        text.push_str(&format!("  {PARTS_TITLE}:\n{}", table.render(colour)));
    }
    text
}

/// Where the time of each operation went, if a server was asked.
fn parts_table(rows: &[OperationRow]) -> Option<Table> {
    let of = |row: &OperationRow| Some((row.summary.key.operation, TimeSpent::of(once(&row.summary))?));
    let (operations, spent): (Vec<_>, Vec<_>) = rows.iter().filter_map(of).unzip();
    let parts = PartsTable::of(&spent)?;
    let titles = parts.columns.iter().map(|part| (Cow::Borrowed(title(*part)), Side::Right));
    let columns = once((Cow::Borrowed(""), Side::Left)).chain(titles).collect();
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for (operation, row) in operations.into_iter().zip(&parts.rows) {
        let cell = |(part, amount): (&ProfileQuantity, &Option<f64>)| {
            Cell::new(amount.map_or_else(|| NOTHING.to_owned(), |amount| number(*part, amount)))
        };
        let cells = parts.columns.iter().zip(row).map(cell);
        table.row(once(Cell::new(format!("  {operation}"))).chain(cells).collect());
    }
    Some(table)
}

/// The table of the operations of a stage.
pub(in crate::workload) fn operations_table(rows: &[OperationRow]) -> Table {
    let right = Side::Right;
    let columns = columns([
        ("", Side::Left),
        ("n", right),
        ("per s", right),
        ("errors", right),
        ("min", right),
        ("median", right),
        ("p90", right),
        ("p99", right),
        ("max", right),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for row in rows {
        table.row(cells(row));
    }
    table
}

fn headline(stage: &StageAnalysis) -> String {
    let mut line = format!(": {}", format_duration(stage.times.phase_time_ns));
    if let (Some(first), Some(last), true) =
        (stage.times.first_done_ns, stage.times.last_done_ns, stage.clients.len() > 1)
    {
        let (first, last) = (format_duration(first), format_duration(last));
        line.push_str(&format!(", {} clients (first done {first}, last done {last}", stage.clients.len()));
        if let Some(balance) = stage.times.balance_percent {
            line.push_str(&format!(", balance {balance:.0} %"));
        }
        line.push(')');
    }
    let unfinished = stage.unfinished.clients;
    if unfinished > 0 {
        line.push_str(&format!(", {} did not finish", counted(unfinished, "client", "clients")));
    }
    let (objects, operations) = (rate(stage.objects_per_second), rate(stage.operations_per_second));
    line.push_str(&format!("; {objects} objects/s, {operations} operations/s"));
    if stage.mebibytes_per_second > 0.0 {
        line.push_str(&format!(", {} MiB/s", rate(stage.mebibytes_per_second)));
    }
    if let Some(caches) = stage.caches {
        line.push_str(&format!("; {caches}"));
    }
    line
}

fn kind(class: ErrorClass, count: u64) -> String {
    format!("{} × {class}", format_count(count))
}

fn cells(row: &OperationRow) -> Vec<Cell> {
    let summary = &row.summary;
    let durations = &summary.durations;
    // Who was ended before he was done did not fail.
    let failures = summary.failures() + summary.censored() - summary.interrupted;
    let tone = if failures > 0 { Tone::Serious } else { Tone::Faint };
    vec![
        Cell::new(format!("  {}", summary.key.operation)),
        Cell::new(format_count(summary.attempts)),
        Cell::new(rate(row.per_second)),
        Cell::toned(format_count(failures), tone),
        Cell::new(quantile(durations.min)),
        Cell::new(quantile_with_interval(&durations.median)),
        Cell::new(quantile(durations.p90.value)),
        Cell::new(quantile(durations.p99.value)),
        Cell::new(quantile(durations.max)),
    ]
}

/// What became of it.
pub(crate) fn working_set_words(working_set: &WorkingSet) -> String {
    match working_set {
        WorkingSet::NotChecked => "not checked, there was no benchmark phase".to_owned(),
        WorkingSet::Constant => "constant, every iteration created as many objects as it deleted".to_owned(),
        WorkingSet::Changed { stages, created, deleted, .. } => format!(
            "changed in {stages} by {} created and {} deleted objects",
            format_count(*created),
            format_count(*deleted)
        ),
        WorkingSet::Unknown { stage } => {
            format!("unknown, since nothing succeeded in {stage}")
        }
        WorkingSet::Unfinished { stage } => {
            format!("unknown, since not every client was seen to finish {stage}")
        }
        WorkingSet::Unrecorded => "unknown, since the run was not recorded to its end".to_owned(),
        WorkingSet::Lost(lost) => format!("not what it was from {} on", lost.from),
    }
}
