//! The streams of a campaign side by side, for a terminal: a line for each run.

use std::collections::BTreeSet;

use iolag_analysis::{RunAnalysis, StreamAnalysis, StreamCopies, StreamPhase};
use iolag_model::{Nanoseconds, Phase, RunRecord, RunState, counted, exact_bytes, format_duration};

use super::matrix::{Copied, CopyKind, CopyMatrix};
use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::{NOTHING, processor_share, throughput};

/// A run of a campaign of streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamRun<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its side or target, secrets removed.
    pub target: &'a str,
    /// Where copies were made, if a run tells that from others of the campaign.
    pub copy_to: Option<&'a str>,
    /// How it ended.
    pub state: &'a RunState,
    /// Clients.
    pub clients: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// What was found out.
    pub analysis: &'a StreamAnalysis,
}

impl<'a> StreamRun<'a> {
    /// That of a stored run, by what tells it from others of its campaign; nothing of another workload.
    pub(crate) fn of(record: &'a RunRecord, analysis: &'a RunAnalysis) -> Option<Self> {
        let (RunAnalysis::Stream(analysis), Some(spec)) = (analysis, record.spec.workload.stream()) else {
            return None;
        };
        let side = ["side", "target"].into_iter().find_map(|name| record.coordinates.get(name));
        Some(Self {
            id: record.id.as_str(),
            target: side.unwrap_or(&analysis.target),
            copy_to: record.copy_to(),
            state: &record.state,
            clients: record.spec.clients,
            block_bytes: spec.block_bytes,
            repetition: record.repetition,
            analysis,
        })
    }
}

/// Throughput of each phase, what the processors took of its time, and how long caches were made ready for it.
pub fn streams_text(runs: &[StreamRun<'_>], colour: Colour) -> String {
    let heading = colour.paint(Tone::Strong, "All runs of this campaign");
    format!(
        "{heading}\n(bytes per second; processor time of the time that passed)\n\n{}\n{}",
        table(runs).render(colour),
        copies_text(runs, colour)
    )
}

/// The phases that any run has, in the order of the first that has them.
fn phases(runs: &[StreamRun<'_>]) -> Vec<Phase> {
    let mut phases = Vec::new();
    for phase in runs.iter().flat_map(|run| &run.analysis.phases).map(|phase| phase.phase) {
        if phase != Phase::Precreate && !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}

fn table(runs: &[StreamRun<'_>]) -> Table {
    let (left, right) = (Side::Left, Side::Right);
    let phases = phases(runs);
    let has_copies = runs.iter().any(|run| run.copy_to.is_some());
    let has_caches = runs.iter().any(|run| drop_time(run.analysis).is_some());
    let mut names = columns([
        ("  run", left),
        ("target", left),
        ("copied to", left),
        ("clients", right),
        ("block", right),
        ("repetition", right),
    ]);
    names.retain(|(name, _)| has_copies || name != "copied to");
    names.extend(columns([("caches took", right)]).into_iter().filter(|_| has_caches));
    let of_phase = |phase: &Phase| ColumnGroup {
        title: phase.to_string(),
        columns: columns([("throughput", right), ("processor", right)]),
    };
    let first = ColumnGroup { title: String::new(), columns: names };
    let mut table = Table::new(std::iter::once(first).chain(phases.iter().map(of_phase)).collect());
    for run in runs {
        let mut cells = vec![Cell::new(format!("  {}", run.id)), Cell::new(run.target)];
        cells.extend(has_copies.then(|| Cell::new(run.copy_to.unwrap_or(NOTHING))));
        cells.extend([
            Cell::new(run.clients.to_string()),
            Cell::new(exact_bytes(run.block_bytes)),
            Cell::new(run.repetition.to_string()),
        ]);
        let took = || drop_time(run.analysis).map_or_else(|| NOTHING.to_owned(), format_duration);
        cells.extend(has_caches.then(|| Cell::new(took())));
        cells.extend(phases.iter().flat_map(|phase| of_run(run.analysis, *phase)).map(Cell::new));
        table.row(cells);
    }
    table
}

/// Of a phase that comes several times, the first time.
fn of_run(analysis: &StreamAnalysis, phase: Phase) -> [String; 2] {
    let own: Option<&StreamPhase> = analysis.phases.iter().find(|one| one.phase == phase);
    let told = |told: Option<String>| told.unwrap_or_else(|| NOTHING.to_owned());
    [
        told(own.and_then(|own| own.bytes_per_second).map(throughput)),
        told(own.map(|own| processor_share(own.processors, own.processor_time_ns))),
    ]
}

/// The longest of a run: what the first time writes back and drops is the most.
fn drop_time(analysis: &StreamAnalysis) -> Option<Nanoseconds> {
    analysis.stages.iter().filter_map(|stage| Some(stage.caches?.time_ns)).max()
}

fn copies_text(runs: &[StreamRun<'_>], colour: Colour) -> String {
    let told = |copies: &CopyMatrix| {
        let (heading, unit, table) = (CopyMatrix::HEADING, CopyMatrix::UNIT, copies.table().render(colour));
        format!("\n{heading}, in {unit}: {}\n\n{table}", copies.of)
    };
    copy_matrices(runs).iter().map(told).collect()
}

/// A matrix for each number of clients and size of blocks; nothing of a campaign without copies between targets.
pub(crate) fn copy_matrices(runs: &[StreamRun<'_>]) -> Vec<CopyMatrix> {
    let between: Vec<&StreamRun<'_>> = runs.iter().filter(|run| run.copy_to.is_some()).collect();
    let variants: BTreeSet<(u32, u64)> = between.iter().map(|run| (run.clients, run.block_bytes)).collect();
    let of_variant = |(clients, block_bytes): (u32, u64)| {
        let own = between.iter().filter(|run| (run.clients, run.block_bytes) == (clients, block_bytes));
        let copies: Vec<Copied<'_>> = own.flat_map(|run| copied(run)).collect();
        let clients = counted(u64::from(clients), "client", "clients");
        CopyMatrix::new(format!("{clients}, blocks of {}", exact_bytes(block_bytes)), &copies)
    };
    variants.into_iter().map(of_variant).collect()
}

fn copied<'a>(run: &'a StreamRun<'_>) -> impl Iterator<Item = Copied<'a>> {
    let are_clones = run.analysis.copies.as_ref().is_some_and(StreamCopies::are_clones);
    let kind = if are_clones { CopyKind::Clone } else { CopyKind::Moved };
    let copies = run.analysis.phases.iter().filter(|phase| phase.phase == Phase::Copy);
    // What failed or hung on its way is not how fast it is.
    copies.filter(|_| *run.state == RunState::Complete).filter_map(move |phase| {
        let bytes_per_second = phase.bytes_per_second?;
        Some(Copied { from: run.target, to: run.copy_to?, bytes_per_second, kind })
    })
}
