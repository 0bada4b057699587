//! `iolag bench tree` in words, and on a terminal.

use iolag_analysis::{PhaseEnding, StageAnalysis, TreeAnalysis, TreePhase, stage_name};
use iolag_model::{Phase, TreeRecord, TreeStage, counted, format_bytes, format_count, format_duration};

use crate::finding::run::in_words_each;
use crate::text::findings::{findings_text, footnotes_text, trust_text};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, columns, wrapped};
use crate::words::estimates::{quantile, quantile_with_interval};
use crate::words::numbers::{NOTHING, at_share, processor_share, rate, throughput};
use crate::workload::metadata::text::operations_table;
use crate::workload::stream::text::stage_headline;

/// Renders a tree for a terminal of `width` columns.
pub(super) fn tree_text(analysis: &TreeAnalysis, width: usize, colour: Colour) -> String {
    let mut lines = vec![sentence(analysis)];
    lines.extend(analysis.tree.iter().flat_map(found));
    lines.extend(analysis.phases.iter().filter_map(|phase| summed(phase, analysis)));
    lines.extend(analysis.tree.iter().flat_map(|tree| left_out(tree, &analysis.phases)));
    let mut text: String = lines.iter().map(|line| format!("{}\n", wrapped(line, width, "  "))).collect();
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

/// `The tree has 120 000 files, 9 100 directories, 3 symbolic links.`
fn found(tree: &TreeRecord) -> Option<String> {
    let found = tree.found;
    let parts = [
        (found.files, "file", "files"),
        (found.directories, "directory", "directories"),
        (found.links, "symbolic link", "symbolic links"),
        (found.special, "special file", "special files"),
    ];
    let told: Vec<String> = parts
        .iter()
        .filter(|part| part.0 > 0)
        .map(|(number, one, many)| counted(*number, one, many))
        .collect();
    (!told.is_empty()).then(|| format!("The tree has {} below it.", told.join(", ")))
}

/// `Sum: 120 000 files of 7.50 GiB, checksum 4f0c….`
fn summed(phase: &TreePhase, analysis: &TreeAnalysis) -> Option<String> {
    let done = analysis.done(phase.stage).filter(|done| done.files > 0)?;
    let mut line = format!(
        "{} read {} of {}, checksum {:016x}.",
        capital(&phase_name(phase)),
        counted(done.files, "file", "files"),
        format_bytes(done.bytes),
        done.checksum
    );
    if done.changed > 0 {
        let were = if done.changed == 1 { "was" } else { "were" };
        line.push_str(&format!(
            " {} {were} longer or shorter than said when opened.",
            counted(done.changed, "file", "files")
        ));
    }
    Some(line)
}

/// What was found and not asked for, not read, or not done to the end.
fn left_out(tree: &TreeRecord, phases: &[TreePhase]) -> Vec<String> {
    let (found, mut lines) = (tree.found, Vec::new());
    let reads = phases.iter().any(|phase| matches!(phase.phase, Phase::Sum | Phase::Combined));
    let mut parts = vec![
        (found.mount_points, "mount point below", "mount points below"),
        (found.unread_directories, "directory that could not be read", "directories that could not be read"),
    ];
    if reads {
        parts.push((found.links, "symbolic link (not followed)", "symbolic links (not followed)"));
        parts.push((found.special, "special file (not opened)", "special files (not opened)"));
    }
    let told: Vec<String> = parts
        .iter()
        .filter(|part| part.0 > 0)
        .map(|(number, one, many)| counted(*number, one, many))
        .collect();
    if !told.is_empty() {
        lines.push(format!("Left out: {}.", told.join(", ")));
    }
    for phase in phases {
        let done = tree.stages.iter().find(|done| done.stage == phase.stage).copied().unwrap_or_default();
        lines.extend(not_done(phase, tree, &done));
    }
    let times: u64 = tree.stages.iter().map(|done| done.access_times).sum();
    if times > 0 {
        let files = if times == 1 { "file that belongs" } else { "files that belong" };
        lines.push(format!(
            "Reading may have set the time of the last access of {} {files} to others: only who owns a file may do without.",
            format_count(times)
        ));
    }
    lines
}

/// `Sum succeeded for 118 of 120; 2 were gone since the walk.`
fn not_done(phase: &TreePhase, tree: &TreeRecord, done: &TreeStage) -> Option<String> {
    let (all, of) = match phase.phase {
        Phase::Stat | Phase::Combined => (tree.found.asked(), done.names),
        Phase::Sum => (tree.found.files, done.files),
        _ if phase.ending == PhaseEnding::TimeLimit => {
            return Some(format!(
                "The walk read {} until its time was up: the tree has more than what is told here.",
                counted(phase.handled, "directory", "directories")
            ));
        }
        _ => return None,
    };
    let name = capital(&phase_name(phase));
    let until = if phase.ending == PhaseEnding::TimeLimit { " until its time was up" } else { "" };
    let gone = match phase.gone {
        0 => String::new(),
        1 => "; 1 was gone since the walk".to_owned(),
        several => format!("; {} were gone since the walk", format_count(several)),
    };
    (of < all)
        .then(|| format!("{name} succeeded for {} of {}{until}{gone}.", format_count(of), format_count(all)))
}

/// What each phase came to.
fn phases_table(analysis: &TreeAnalysis) -> Table {
    let right = Side::Right;
    let columns = columns([
        ("", Side::Left),
        ("n", right),
        ("bytes", right),
        ("time", right),
        ("per s", right),
        ("throughput", right),
        ("processor", right),
        ("median", right),
        ("p99", right),
        ("max", right),
    ]);
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for phase in &analysis.phases {
        // Of a combined phase that of the files: what is read takes the time.
        let stage = analysis.stages.iter().find(|stage| stage.stage == phase.stage);
        let row = stage.and_then(|stage: &StageAnalysis| stage.rows.last());
        let of_row = |of: &dyn Fn(&iolag_analysis::DurationSummary) -> String| {
            Cell::new(row.map_or_else(|| NOTHING.to_owned(), |row| of(&row.summary.durations)))
        };
        let is_read = phase.bytes_per_second.is_some();
        let or_nothing = |text: Option<String>| Cell::new(text.unwrap_or_else(|| NOTHING.to_owned()));
        table.row(vec![
            Cell::new(phase_name(phase)),
            Cell::new(format_count(phase.handled)),
            or_nothing(is_read.then(|| format_bytes(phase.bytes))),
            Cell::new(format_duration(phase.time_ns)),
            or_nothing(phase.handled_per_second.map(rate)),
            or_nothing(phase.bytes_per_second.map(throughput)),
            Cell::new(processor_share(phase.processors, phase.processor_time_ns)),
            of_row(&|durations| quantile_with_interval(&durations.median)),
            of_row(&|durations| quantile(durations.p99.value)),
            of_row(&|durations| quantile(durations.max)),
        ]);
    }
    table
}

fn phase_name(phase: &TreePhase) -> String {
    match phase.iteration {
        0 => phase.phase.to_string(),
        iteration => stage_name(phase.phase, iteration),
    }
}

fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    text[..1].make_ascii_uppercase();
    text
}

/// `Stat 210 000 names/s, sum 12 000 files/s (1.20 GiB/s) at 98 % of one processor.`
pub(super) fn sentence(analysis: &TreeAnalysis) -> String {
    let told: Vec<String> = analysis
        .phases
        .iter()
        .filter(|phase| phase.phase != Phase::Walk && phase.handled > 0)
        .filter_map(|phase| {
            let what = if phase.phase == Phase::Sum { "files/s" } else { "names/s" };
            let speed =
                phase.bytes_per_second.map_or_else(String::new, |speed| format!(" ({})", throughput(speed)));
            let of_one = at_share(phase.processors);
            Some(format!("{} {} {what}{speed}{of_one}", phase_name(phase), rate(phase.handled_per_second?)))
        })
        .collect();
    if told.is_empty() {
        return "Nothing was asked for or read.".to_owned();
    }
    let is_known = analysis.phases.iter().any(|phase| phase.processors.is_some());
    capital(&format!("{}{}.", told.join(", "), if is_known { " of one processor" } else { "" }))
}
