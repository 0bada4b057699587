//! `iolag baseline`: what a baseline holds.

use std::collections::BTreeSet;

use iolag_analysis::joined;
use iolag_model::{RunId, RunRecord, counted, format_count, one_line};

use super::list::{campaigns, labels, started, targets};
use super::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::{NOTHING, utc};

/// A baseline, and what is left of it.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineContent {
    /// Its name.
    pub name: String,
    /// When it was set, in ns since 1970.
    pub set_ns: u64,
    /// The runs that it names.
    pub runs: Vec<RunId>,
    /// Those of them that are there and can be read.
    pub left: Vec<RunRecord>,
}

/// A line per baseline: name, when it was set in UTC, how many runs are left, their targets, their campaigns, if one has some, and the labels
/// that all of them have.
pub fn baselines_text(baselines: &[BaselineContent], colour: Colour) -> String {
    const CAMPAIGNS_TOLD_MOST: usize = 2;
    let left = Side::Left;
    let has_campaigns = baselines.iter().any(|baseline| !campaigns(&baseline.left).is_empty());
    let mut columns = columns([
        ("baseline", left),
        ("set (UTC)", left),
        ("runs", Side::Right),
        ("targets", left),
        ("campaign", left),
        ("labels", left),
    ]);
    columns.retain(|(name, _)| has_campaigns || name != "campaign");
    let mut table = Table::new(vec![ColumnGroup { title: String::new(), columns }]);
    for baseline in baselines {
        let known = |text: String| if text.is_empty() { NOTHING.to_owned() } else { one_line(&text) };
        let all = format_count(baseline.runs.len() as u64);
        let runs = match baseline.left.len() == baseline.runs.len() {
            true => Cell::new(all),
            false => Cell::toned(format!("{} of {all}", baseline.left.len()), Tone::Warning),
        };
        let campaigns = campaigns(&baseline.left);
        let campaigns = match campaigns.len() {
            ..=CAMPAIGNS_TOLD_MOST => campaigns.into_iter().map(RunId::as_str).collect::<Vec<_>>().join(" "),
            several => format!("{several} campaigns"),
        };
        let mut row = vec![
            Cell::toned(baseline.name.as_str(), Tone::Strong),
            Cell::new(utc(baseline.set_ns)),
            runs,
            Cell::new(known(distinct(&baseline.left, targets).join(" "))),
        ];
        row.extend(has_campaigns.then(|| Cell::new(known(campaigns))));
        row.push(Cell::new(known(labels_of_all(&baseline.left))));
        table.row(row);
    }
    table.render(colour)
}

/// What was set: `baseline nightly: 9 runs of 2026-11-28, on /scratch, 1 client`.
pub fn baseline_sentence(name: &str, runs: &[RunRecord]) -> String {
    let mut days = distinct(runs, |run| started(run).chars().take(10).collect());
    days.sort();
    let when = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("from {first} to {last}"),
        (Some(day), _) => format!("of {day}"),
        _ => String::new(),
    };
    let clients: BTreeSet<u32> = runs.iter().map(|run| run.spec.clients).collect();
    let most = clients.last().copied().unwrap_or_default();
    let numbers = clients.iter().map(|clients| format_count(u64::from(*clients))).collect();
    format!(
        "baseline {name}: {} {when}, on {}, {} {}",
        counted(runs.len() as u64, "run", "runs"),
        one_line(&joined(distinct(runs, targets))),
        joined(numbers),
        if most == 1 { "client" } else { "clients" }
    )
}

/// What is told of the runs, each once, in their order.
fn distinct(runs: &[RunRecord], of: impl Fn(&RunRecord) -> String) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for text in runs.iter().map(of) {
        if !told.contains(&text) {
            told.push(text);
        }
    }
    told
}

fn labels_of_all(runs: &[RunRecord]) -> String {
    let Some((first, others)) = runs.split_first() else { return String::new() };
    let mut common = first.labels.clone();
    common.retain(|name, value| others.iter().all(|run| run.labels.get(name) == Some(value)));
    labels(&common)
}
