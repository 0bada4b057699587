//! `iolag bench stream`: the throughput of each phase, and what to think of it.

use iolag_model::{Nanoseconds, Phase, RunRecord, StageIndex, StreamSpec, Trust};
use serde::Serialize;

use super::copies::StreamCopies;
use super::from_cache::read_from_cache;
use crate::finding::of_runs::RunFinding;
use crate::run::any_workload::footnotes;
use crate::run::beside::analysis::{BesideAnalysis, analyse_beside};
use crate::run::metadata::analysis::{host_busy, ring_waits};
use crate::run::metadata::stage::{StageAnalysis, stage_analysis};
use crate::run::metadata::stage_endings::count_unfinished;
use crate::run::metadata::stage_findings::{clients_start_late, found_in_stages, stage_cut_off};
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries};
use crate::run::surroundings::caches::caches_doubted;
use crate::run::surroundings::memory::memory_footnote;
use crate::run::surroundings::processor_time::{processor_time, share};

/// What a stream says.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The target.
    pub target: String,
    /// The phases in which blocks were moved, in their order.
    pub phases: Vec<StreamPhase>,
    /// What is known of the copies, where a phase made some.
    pub copies: Option<StreamCopies>,
    /// The stages in which something was done, in their order.
    pub stages: Vec<StageAnalysis>,
    /// What everybody else felt, if somebody measured that.
    pub beside: Option<BesideAnalysis>,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// A phase of all clients together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamPhase {
    /// Its stage.
    pub stage: StageIndex,
    /// What it did.
    pub phase: Phase,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// Bytes of the blocks that were moved whole.
    pub bytes: u64,
    /// From the first open to the last close.
    pub time_ns: Nanoseconds,
    /// Bytes by that time; absent if it took none.
    pub bytes_per_second: Option<f64>,
    /// What all processors together did for the clients and the programs that they started, and in the kernel on their behalf; not what threads of the kernel did by
    /// themselves, such as writing back. Absent if it was not recorded.
    pub processor_time_ns: Option<Nanoseconds>,
    /// That time by the phase's: 1 is one processor all the time. Absent if the phase was too short to say.
    pub processors: Option<f64>,
}

/// Judges a stream by summaries that tell stages apart, but neither targets nor clients.
pub(super) fn analyse_stream(run: &RunRecord, spec: &StreamSpec, summaries: &Summaries) -> StreamAnalysis {
    let mut stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    count_unfinished(&mut stages, run, summaries);
    for stage in &mut stages {
        // In the order in which they were done: what opens the file first.
        stage.rows.sort_by_key(|row| row.summary.first_start_ns);
        for row in &mut stage.rows {
            row.place = run.spec.place_of(stage.phase, row.summary.key.operation);
        }
    }
    let phases: Vec<StreamPhase> = stages.iter().filter_map(|stage| phase(stage, spec, summaries)).collect();
    let mut findings = found_in_stages(&stages);
    findings.extend(host_busy(run));
    findings.extend(clients_start_late(&stages));
    findings.extend(stage_cut_off(&stages, run.spec.clients));
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(memory_footnote(run));
    let copies = StreamCopies::of(spec, summaries);
    footnotes.extend(copies.and_then(|copies| copies.footnote(run)));
    let trust = run.trust.iter().cloned().chain(copies.and_then(StreamCopies::trust));
    let trust = trust.chain(read_from_cache(run, spec));
    let trust = trust.chain(caches_doubted(run, &StageAnalysis::with_caches(&stages)));
    StreamAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        target: run.targets.first().map_or_else(String::new, |target| target.name.clone()),
        phases,
        beside: analyse_beside(run, summaries),
        copies,
        findings,
        footnotes,
        stages,
        trust: trust.chain(summaries.unknown.trust()).collect(),
    }
}

fn phase(stage: &StageAnalysis, spec: &StreamSpec, summaries: &Summaries) -> Option<StreamPhase> {
    let blocks = &stage.row(spec.block_of(stage.phase)?)?.summary;
    let time_ns = stage.times.phase_time_ns;
    let by_time = |amount: f64| (time_ns.0 > 0).then(|| amount / time_ns.as_seconds());
    let processor_time_ns = processor_time(stage.stage, summaries);
    Some(StreamPhase {
        stage: stage.stage,
        phase: stage.phase,
        iteration: stage.iteration,
        bytes: blocks.bytes,
        time_ns,
        bytes_per_second: by_time(blocks.bytes as f64),
        processor_time_ns,
        processors: processor_time_ns.and_then(|taken| share(taken.as_seconds(), time_ns.as_seconds())),
    })
}
