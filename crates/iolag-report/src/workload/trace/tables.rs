//! The tables of a trace, once for terminal and page.

use std::collections::BTreeMap;

use iolag_analysis::TraceAnalysis;
use iolag_model::{
    FailureCode, Nanoseconds, TraceCounts, TraceDirectory, TraceMount, TraceSummary, format_count,
    format_duration,
};

use crate::text::table::Side;

/// A table: what is told, and the rows, those that matter most first.
pub(crate) struct TraceTable {
    pub(crate) title: &'static str,
    /// What its columns are called.
    pub(crate) columns: Vec<(&'static str, Side)>,
    pub(crate) rows: Vec<Vec<TraceCell>>,
}

/// What stands in a column of a row.
pub(crate) struct TraceCell {
    /// For people.
    pub(crate) text: String,
    /// By which rows are sorted; nothing of names.
    pub(crate) value: Option<u64>,
}

impl TraceCell {
    pub(crate) fn name(text: impl Into<String>) -> Self {
        Self { text: text.into(), value: None }
    }

    /// Nothing where there is none.
    pub(crate) fn count(count: u64) -> Self {
        let text = if count == 0 { String::new() } else { format_count(count) };
        Self { text, value: Some(count) }
    }

    fn time(time: Nanoseconds) -> Self {
        let text = if time.0 == 0 { String::new() } else { format_duration(time) };
        Self { text, value: Some(time.0) }
    }
}

const LEFT: Side = Side::Left;
const RIGHT: Side = Side::Right;

/// All of them, without those that have no row.
pub(crate) fn tables(analysis: &TraceAnalysis) -> Vec<TraceTable> {
    let summary = &*analysis.summary;
    let mut tables = vec![
        calls(summary),
        mounts(summary, &analysis.about.mounts),
        directories(summary),
        in_vain(summary),
        search_paths(summary),
        again(summary),
        slowest(summary),
        processes(summary),
    ];
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn calls(summary: &TraceSummary) -> TraceTable {
    let rows = summary.kinds.iter().map(|kind| {
        vec![
            TraceCell::name(&kind.name),
            TraceCell::count(kind.calls),
            TraceCell::count(kind.errors),
            TraceCell::time(kind.time_ns),
            TraceCell::time(kind.longest_ns),
        ]
    });
    TraceTable {
        title: "Calls by kind",
        columns: vec![
            ("call", LEFT),
            ("calls", RIGHT),
            ("failed", RIGHT),
            ("time", RIGHT),
            ("longest", RIGHT),
        ],
        rows: rows.collect(),
    }
}

pub(super) fn of_place(counts: TraceCounts, name: String) -> Vec<TraceCell> {
    vec![
        TraceCell::count(counts.calls),
        TraceCell::count(counts.errors),
        TraceCell::time(counts.time_ns),
        TraceCell::name(name),
    ]
}

/// By the mount that a directory is on: the one with the longest path in front of it.
fn mounts(summary: &TraceSummary, mounts: &[TraceMount]) -> TraceTable {
    let mut all: BTreeMap<&str, (TraceCounts, &TraceMount)> = BTreeMap::new();
    for directory in &summary.directories {
        let on = mounts.iter().filter(|mount| is_below(&directory.path, &mount.point));
        let Some(mount) = on.max_by_key(|mount| mount.point.len()) else { continue };
        let (sum, _) = all.entry(&mount.point).or_insert_with(|| (TraceCounts::default(), mount));
        sum.add(counts(directory));
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|(sum, _)| std::cmp::Reverse((sum.time_ns, sum.calls)));
    let rows = all.iter().map(|(sum, mount)| of_place(*sum, format!("{} ({})", mount.point, mount.kind)));
    TraceTable {
        title: "Mounts",
        columns: vec![("calls", RIGHT), ("failed", RIGHT), ("time", RIGHT), ("mount", LEFT)],
        rows: rows.collect(),
    }
}

const fn counts(directory: &TraceDirectory) -> TraceCounts {
    let &TraceDirectory { path: _, calls, errors, time_ns } = directory;
    TraceCounts { calls, errors, time_ns }
}

fn is_below(path: &str, point: &str) -> bool {
    let rest = path.strip_prefix(point.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn directories(summary: &TraceSummary) -> TraceTable {
    TraceTable {
        title: "Directories, by the time of calls on what lies in them",
        columns: vec![("calls", RIGHT), ("failed", RIGHT), ("time", RIGHT), ("directory", LEFT)],
        rows: summary.directories.iter().map(|own| of_place(counts(own), own.path.clone())).collect(),
    }
}

fn in_vain(summary: &TraceSummary) -> TraceTable {
    let rows = summary.in_vain.most.iter().map(|directory| {
        vec![
            TraceCell::count(directory.calls),
            TraceCell::time(directory.time_ns),
            TraceCell::name(match directory.exists {
                Some(true) => "yes",
                Some(false) => "no",
                None => "unknown",
            }),
            TraceCell::name(directory.looked_for.clone().unwrap_or_default()),
            TraceCell::name(&directory.path),
        ]
    });
    TraceTable {
        title: "Directories in which nothing was ever found",
        columns: vec![
            ("calls", RIGHT),
            ("time", RIGHT),
            ("exists", LEFT),
            ("e.g.", LEFT),
            ("directory", LEFT),
        ],
        rows: rows.collect(),
    }
}

/// Each list of directories by what is looked for along it, with its directories in their order.
fn search_paths(summary: &TraceSummary) -> TraceTable {
    let rows = summary.search_paths.iter().zip(1..).flat_map(|(path, number)| {
        path.directories.iter().map(move |directory| {
            vec![
                TraceCell::count(number),
                TraceCell::count(directory.asked),
                TraceCell::count(directory.found),
                TraceCell::name(path.examples.first().cloned().unwrap_or_default()),
                TraceCell::name(&directory.path),
            ]
        })
    });
    TraceTable {
        title: "Search paths, with most failed look-ups first",
        columns: vec![
            ("list", RIGHT),
            ("asked", RIGHT),
            ("found", RIGHT),
            ("e.g.", LEFT),
            ("directory", LEFT),
        ],
        rows: rows.collect(),
    }
}

fn again(summary: &TraceSummary) -> TraceTable {
    let rows = summary.repeats.most.iter().map(|question| {
        vec![
            TraceCell::count(question.asked),
            TraceCell::name(&question.name),
            TraceCell::name(&question.path),
        ]
    });
    TraceTable {
        title: "Asked again, though nothing had changed",
        columns: vec![("asked", RIGHT), ("call", LEFT), ("of", LEFT)],
        rows: rows.collect(),
    }
}

fn slowest(summary: &TraceSummary) -> TraceTable {
    let rows = summary.slowest.iter().map(|call| {
        let end = match call.errno {
            _ if summary.never_back.longest.iter().any(|told| told.call.call == call.call) => {
                "never back".to_owned()
            }
            0 => String::new(),
            errno => FailureCode::from_errno(errno.into()).class().to_string(),
        };
        vec![
            TraceCell::time(call.duration_ns),
            TraceCell { text: format_duration(call.start_ns), value: Some(call.start_ns.0) },
            TraceCell { text: call.task.to_string(), value: Some(call.task.into()) },
            TraceCell::name(&call.name),
            TraceCell::name(end),
            TraceCell::name(call.path.clone().unwrap_or_default()),
        ]
    });
    TraceTable {
        title: "Slowest calls",
        columns: vec![
            ("time", RIGHT),
            ("after", RIGHT),
            ("task", RIGHT),
            ("call", LEFT),
            ("failed", LEFT),
            ("of", LEFT),
        ],
        rows: rows.collect(),
    }
}

fn processes(summary: &TraceSummary) -> TraceTable {
    let rows = summary.programs.iter().map(|program| {
        vec![
            TraceCell { text: program.process.to_string(), value: Some(program.process.into()) },
            TraceCell::count(program.calls),
            TraceCell::count(program.errors),
            TraceCell::time(program.storage_ns),
            TraceCell::name(program.program.clone().unwrap_or_default()),
        ]
    });
    TraceTable {
        title: "Processes, in the order in which they began",
        columns: vec![
            ("process", RIGHT),
            ("calls", RIGHT),
            ("failed", RIGHT),
            ("in storage", RIGHT),
            ("program", LEFT),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_on_the_mount_that_is_nearest() {
        let mount = |point: &str, kind: &str| TraceMount {
            point: point.to_owned(),
            kind: kind.to_owned(),
            ..TraceMount::default()
        };
        let directory =
            |path: &str, calls| TraceDirectory { path: path.to_owned(), calls, ..TraceDirectory::default() };
        let summary = TraceSummary {
            directories: vec![
                directory("/home/a", 2),
                directory("/home", 4),
                directory("/homes", 5),
                directory("relative", 7),
            ],
            ..TraceSummary::default()
        };
        let table = mounts(&summary, &[mount("/", "ext4"), mount("/home", "nfs4")]);
        let told: Vec<_> = table.rows.iter().map(|row| (row[0].value, row[3].text.as_str())).collect();
        assert_eq!(told, [(Some(6), "/home (nfs4)"), (Some(5), "/ (ext4)")]);
    }
}
