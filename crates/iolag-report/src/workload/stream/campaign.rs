//! The streams of a campaign side by side, for a terminal: a line for each run.

use iolag_analysis::{StreamAnalysis, StreamPhase};
use iolag_model::{Nanoseconds, Phase, exact_bytes, format_duration};

use crate::text::table::{Cell, Colour, ColumnGroup, Side, Table, Tone, columns};
use crate::words::numbers::{NOTHING, percentage, throughput};

/// A run of a campaign of streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamRun<'a> {
    /// Its name.
    pub id: &'a str,
    /// Its side or target, secrets removed.
    pub target: &'a str,
    /// Clients.
    pub clients: u32,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// What was found out.
    pub analysis: &'a StreamAnalysis,
}

/// Throughput of each phase, what the processors took of its time, and how long caches were made ready for it.
pub fn streams_text(runs: &[StreamRun<'_>], colour: Colour) -> String {
    let heading = colour.paint(Tone::Strong, "All runs of this campaign");
    format!(
        "{heading}\n(bytes per second; processor time of the time that passed)\n\n{}\n",
        table(runs).render(colour)
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
    let has_caches = runs.iter().any(|run| drop_time(run.analysis).is_some());
    let mut names = columns([
        ("  run", left),
        ("target", left),
        ("clients", right),
        ("block", right),
        ("repetition", right),
    ]);
    names.extend(columns([("caches took", right)]).into_iter().filter(|_| has_caches));
    let of_phase = |phase: &Phase| ColumnGroup {
        title: phase.to_string(),
        columns: columns([("throughput", right), ("processor", right)]),
    };
    let first = ColumnGroup { title: String::new(), columns: names };
    let mut table = Table::new(std::iter::once(first).chain(phases.iter().map(of_phase)).collect());
    for run in runs {
        let mut cells = vec![
            Cell::new(format!("  {}", run.id)),
            Cell::new(run.target),
            Cell::new(run.clients.to_string()),
            Cell::new(exact_bytes(run.block_bytes)),
            Cell::new(run.repetition.to_string()),
        ];
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
        told(own.and_then(|own| own.processors).map(|taken| format!("{} %", percentage(taken * 100.0)))),
    ]
}

/// The longest of a run: what the first time writes back and drops is the most.
fn drop_time(analysis: &StreamAnalysis) -> Option<Nanoseconds> {
    analysis.stages.iter().filter_map(|stage| Some(stage.caches?.time_ns)).max()
}
