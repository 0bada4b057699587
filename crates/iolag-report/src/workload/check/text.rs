//! `iolag check` on a terminal: verdicts, one table with the directories side by side, findings.

use std::borrow::Cow;
use std::collections::BTreeSet;

use iolag_analysis::{CheckAnalysis, DirectoryAnalysis, Feeling, PartialCreate, ShareOver, Summary};
use iolag_model::{Level, Nanoseconds, Operation, format_count, format_duration, one_line};

use crate::finding::run::{FindingsOfDirectory, findings_of_check};
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns, wrapped};
use crate::words::estimates::{none_of, quantile, quantile_with_interval, share};
use crate::words::numbers::NOTHING;

const SECTIONS: [(Level, &str); 4] = [
    (Level::Task, "Tasks"),
    (Level::Object, "Small files, whole operations"),
    (Level::Call, "Small files, single calls"),
    (Level::Stream, "Stream, per block"),
];

/// How much of a check is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckRows {
    /// The rows that a user knows.
    Known,
    /// Every row, and how often each takes long.
    All,
}

/// Renders a check for a terminal of `width` columns (at least 80 are assumed): first how the directories feel, then the numbers,
/// then what was found. Directories that do not fit side by side follow in further blocks.
pub fn check_text(analysis: &CheckAnalysis, rows: CheckRows, width: usize, colour: Colour) -> String {
    let mut text = verdicts(analysis, width, colour);
    let mut answering: Vec<&DirectoryAnalysis> =
        analysis.directories.iter().filter(|directory| !directory.summaries.is_empty()).collect();
    if rows == CheckRows::All {
        answering.extend(&analysis.control);
    }
    if !answering.is_empty() {
        text.push('\n');
        text.push_str(&colour.paint(Tone::Strong, "How long it takes"));
        text.push_str(match rows {
            CheckRows::Known => " (median with 95 % interval, slowest 5 %, longest)\n\n",
            CheckRows::All => " (median with 95 % interval, slowest 5 % and 1 %, longest)\n\n",
        });
        text.push_str(&blocks(&answering, width, colour, &|block| {
            duration_table(block, (rows, analysis.known_rows()))
        }));
    }
    text.push_str(&silent(analysis, colour));
    text.push_str(&remarks(analysis, width));
    if !answering.is_empty() && rows == CheckRows::All {
        text.push('\n');
        text.push_str(&colour.paint(Tone::Strong, "How often it takes long"));
        text.push_str(" (share of attempts with 95 % interval)\n\n");
        if answering.iter().any(|directory| directory.summaries.iter().any(took_long)) {
            text.push_str(&blocks(&answering, width, colour, &share_table));
        }
        text.push_str(&wrapped(&never_long(&answering), width, "  "));
        text.push('\n');
    }
    text.push_str(&findings(analysis, width, colour));
    text.push_str(&trust_text(&analysis.trust, width, colour));
    text.push_str(&footnotes_text(&analysis.footnotes, width, colour));
    if !answering.is_empty() && rows == CheckRows::Known {
        let rows = format!(
            "`iolag check --full` and `iolag show --full` print all rows{}, and how often each takes long.",
            with_rows(&text, analysis.known_rows())
        );
        text.push_str(&format!("\n{}\n", wrapped(&rows, width, "  ")));
    }
    text
}

/// The rows that are named in a text whose table has not got them, as a part of a sentence.
fn with_rows(text: &str, known: &[Operation]) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rows: Vec<String> = Operation::ALL
        .iter()
        .filter(|operation| !known.contains(operation))
        .map(|row| format!("`{row}`"))
        .collect();
    rows.retain(|row| flat.contains(row.as_str()));
    if rows.is_empty() { String::new() } else { format!(", with {}", rows.join(", ")) }
}

/// Directories that did not answer, with their age: they stand where their numbers would.
fn silent(analysis: &CheckAnalysis, colour: Colour) -> String {
    let line = |directory: &DirectoryAnalysis| {
        let age = directory.unanswered_ns?;
        let text = format!("{}: no answer, waited {}", title(directory), format_duration(age));
        Some(format!("{}\n", colour.paint(Tone::Serious, &text)))
    };
    let lines: String = analysis.directories.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// How the numbers came about, and of partial tasks what the verdicts do not say: in the table it would not fit a terminal.
fn remarks(analysis: &CheckAnalysis, width: usize) -> String {
    let pace = |directory: &DirectoryAnalysis| {
        let partial = directory.partial_create.map(|partial| partial.to_string())?;
        let is_told = directory.verdict.sentence.contains(&partial);
        let row = Operation::TaskCreate;
        (!is_told).then(|| format!("`{row}` in {} made {partial}.", one_line(&directory.name)))
    };
    let paces = analysis.directories.iter().filter_map(pace);
    let remarks: Vec<String> = paces.chain(analysis.remarks.iter().cloned()).collect();
    if remarks.is_empty() {
        return String::new();
    }
    format!("\n{}\n", wrapped(&remarks.join(" "), width, "  "))
}

/// Whether any attempt took longer than the least threshold, or may have.
fn took_long(summary: &Summary) -> bool {
    summary.durations.shares.iter().any(|share| share.over + share.undecided > 0)
}

/// What the table leaves out: the operations that never took long.
fn never_long(directories: &[&DirectoryAnalysis]) -> String {
    let all = || directories.iter().flat_map(|directory| &directory.summaries);
    let Some(least) = all().find_map(|summary| summary.durations.shares.first()) else {
        return "No thresholds were asked for.".to_owned();
    };
    let seconds = least.threshold_ns.as_seconds();
    let long: BTreeSet<Operation> =
        all().filter(|summary| took_long(summary)).map(|summary| summary.key.operation).collect();
    if long.is_empty() {
        format!("Nothing took over {seconds} s.")
    } else if all().all(|summary| long.contains(&summary.key.operation)) {
        "Every operation took longer at times.".to_owned()
    } else {
        format!("Everything else stayed within {seconds} s in every directory.")
    }
}

type MakeTable<'a> = dyn Fn(&[&DirectoryAnalysis]) -> Table + 'a;

/// As many directories side by side as fit, the others below.
fn blocks(directories: &[&DirectoryAnalysis], width: usize, colour: Colour, make: &MakeTable<'_>) -> String {
    let mut text = String::new();
    let mut rest = directories;
    while !rest.is_empty() {
        let fitting =
            (1..=rest.len()).rev().find(|&count| make(&rest[..count]).width() <= width).unwrap_or(1);
        let (block, later) = rest.split_at(fitting);
        text.push_str(&make(block).render(colour));
        if !later.is_empty() {
            text.push('\n');
        }
        rest = later;
    }
    text
}

fn title(directory: &DirectoryAnalysis) -> String {
    let name = one_line(&directory.name);
    match directory.kind() {
        Some(kind) => format!("{name} ({kind})"),
        None => name,
    }
}

fn duration_table(directories: &[&DirectoryAnalysis], (rows, known): (CheckRows, &[Operation])) -> Table {
    let right = Side::Right;
    let mut names =
        columns([("n", right), ("median", right), ("p95", right), ("p99", right), ("max", right)]);
    if rows == CheckRows::Known {
        names.retain(|(name, _)| name != "p99");
    }
    let mut table = new_table(directories, &names);
    let shown = match rows {
        CheckRows::Known => Shown::Flat(known),
        CheckRows::All => Shown::BySection,
    };
    fill(&mut table, directories, shown, names.len(), &|_| true, &|directory, summary| {
        let durations = &summary.durations;
        let slow = |text: String, over: Nanoseconds, value: Option<Nanoseconds>| match value {
            Some(value) if value > over => Cell::toned(text, Tone::Serious),
            _ => Cell::new(text),
        };
        let second = Nanoseconds::from_seconds(1);
        let partial = directory.partial_create.filter(|_| summary.key.operation == Operation::TaskCreate);
        let median = quantile_with_interval(&durations.median);
        let median = match partial {
            Some(PartialCreate { files, of, .. }) => format!("{median} ({files} of {of})"),
            None => median,
        };
        let mut cells = vec![
            Cell::toned(format_count(summary.attempts), Tone::Faint),
            slow(median, second, durations.median.value.lower_bound()),
            slow(quantile(durations.p95.value), second, durations.p95.value.lower_bound()),
        ];
        if rows == CheckRows::All {
            cells.push(slow(quantile(durations.p99.value), second, durations.p99.value.lower_bound()));
        }
        cells.push(slow(quantile(durations.max), second, durations.max.lower_bound()));
        cells
    });
    table
}

fn share_table(directories: &[&DirectoryAnalysis]) -> Table {
    let thresholds: Vec<Nanoseconds> = directories
        .iter()
        .flat_map(|directory| &directory.summaries)
        .map(|summary| &summary.durations.shares)
        .max_by_key(|shares| shares.len())
        .map(|shares| shares.iter().map(|share| share.threshold_ns).collect())
        .unwrap_or_default();
    if thresholds.is_empty() {
        return Table::default();
    }
    let name = |threshold: &Nanoseconds| (Cow::Owned(format!("> {} s", threshold.as_seconds())), Side::Right);
    let names: Vec<(Cow<'static, str>, Side)> = thresholds.iter().map(name).collect();
    let mut table = new_table(directories, &names);
    fill(&mut table, directories, Shown::BySection, thresholds.len(), &took_long, &|_, summary| {
        let shares = &summary.durations.shares;
        let cell = |index: usize| match shares.get(index) {
            Some(over) => {
                let tone = if over.over > 0 { Tone::Warning } else { Tone::Plain };
                Cell::toned(share_of(summary, over), tone)
            }
            None => Cell::new(NOTHING),
        };
        (0..thresholds.len()).map(cell).collect()
    });
    table
}

/// A share; what iolag itself cut off before the threshold is not told as one that may have been over it.
fn share_of(summary: &Summary, over: &ShareOver) -> String {
    let count = summary.durations.count;
    match over.undecided {
        undecided if undecided == count => NOTHING.to_owned(),
        undecided if over.over == 0 && undecided <= summary.interrupted => none_of(over.interval.high),
        _ => share(over, count),
    }
}

fn new_table(directories: &[&DirectoryAnalysis], names: &[(Cow<'static, str>, Side)]) -> Table {
    let label = ColumnGroup { title: String::new(), columns: columns([("", Side::Left)]) };
    let group =
        |directory: &&DirectoryAnalysis| ColumnGroup { title: title(directory), columns: names.to_vec() };
    Table::new(std::iter::once(label).chain(directories.iter().map(group)).collect())
}

/// Which rows a table has.
#[derive(Clone, Copy)]
enum Shown<'a> {
    /// These.
    Flat(&'a [Operation]),
    /// All, under headings.
    BySection,
}

/// A row per operation that is to be shown for any of the directories, under the heading of its level if there are all.
fn fill(
    table: &mut Table,
    directories: &[&DirectoryAnalysis],
    rows: Shown<'_>,
    columns: usize,
    is_shown: &dyn Fn(&Summary) -> bool,
    cells_of: &dyn Fn(&DirectoryAnalysis, &Summary) -> Vec<Cell>,
) {
    let fill_row = |table: &mut Table, operation: Operation, heading: &mut Option<&str>, indent: &str| {
        let find = |directory: &DirectoryAnalysis| {
            directory.summaries.iter().find(|summary| summary.key.operation == operation).cloned()
        };
        let found: Vec<Option<Summary>> = directories.iter().map(|directory| find(directory)).collect();
        if !found.iter().flatten().any(is_shown) {
            return;
        }
        if let Some(heading) = heading.take() {
            table.section(heading);
        }
        let mut cells = vec![Cell::new(format!("{indent}{operation}"))];
        for (directory, summary) in directories.iter().zip(&found) {
            match summary {
                Some(summary) => cells.extend(cells_of(directory, summary)),
                None => cells.extend(std::iter::repeat_n(Cell::new(NOTHING), columns)),
            }
        }
        table.row(cells);
    };
    match rows {
        Shown::Flat(rows) => rows.iter().for_each(|operation| fill_row(table, *operation, &mut None, "")),
        Shown::BySection => {
            for (level, heading) in SECTIONS {
                let mut heading = Some(heading);
                for operation in Operation::ALL.iter().filter(|operation| operation.level() == level) {
                    fill_row(table, *operation, &mut heading, "  ");
                }
            }
        }
    }
}

/// How the directories feel: in one sentence beside each other, and each by itself.
fn verdicts(analysis: &CheckAnalysis, width: usize, colour: Colour) -> String {
    let mut text = String::new();
    if let Some(ranking) = &analysis.ranking {
        text.push_str(&colour.paint(Tone::Strong, &wrapped(&one_line(ranking), width, "  ")));
        text.push_str("\n\n");
    }
    text.push_str(&colour.paint(Tone::Strong, "Verdict"));
    text.push('\n');
    for directory in &analysis.directories {
        let tone = match directory.verdict.feeling {
            Feeling::Fast => Tone::Good,
            Feeling::Slower | Feeling::Noticeable | Feeling::Sluggish | Feeling::Unknown => Tone::Warning,
            Feeling::Slow | Feeling::Unreliable | Feeling::NotAnswering => Tone::Serious,
        };
        let sentence = one_line(&format!("  {}  {}", directory.name, directory.verdict.sentence));
        text.push_str(&colour.paint(tone, &wrapped(&sentence, width, "      ")));
        text.push('\n');
    }
    text
}

fn findings(analysis: &CheckAnalysis, width: usize, colour: Colour) -> String {
    let mut text = String::new();
    for FindingsOfDirectory { directory, mut findings } in findings_of_check(analysis) {
        // Sentences may have names of directories.
        for finding in &mut findings {
            finding.sentence = one_line(&finding.sentence);
        }
        text.push_str(&findings_text(directory, &findings, width, colour));
    }
    text
}
