//! `iolag bench tree`: what each phase came to, and what to think of it.

use iolag_model::{
    ErrorClass, Nanoseconds, Operation, Phase, RunRecord, StageIndex, TreeRecord, TreeStage, Trust,
    WorkloadSpec, format_bytes,
};
use serde::Serialize;

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

/// What a tree says.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The target.
    pub target: String,
    /// What was found in it; absent if nobody got to say so.
    pub tree: Option<TreeRecord>,
    /// The phases, in their order.
    pub phases: Vec<TreePhase>,
    /// The stages in which something was done, in their order.
    pub stages: Vec<StageAnalysis>,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// What everybody else felt meanwhile, if somebody measured that.
    pub beside: Option<BesideAnalysis>,
}

/// A phase of all clients together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreePhase {
    /// Its stage.
    pub stage: StageIndex,
    /// What it did.
    pub phase: Phase,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// How it ended.
    pub ending: PhaseEnding,
    /// What it did that with and succeeded: directories of a walk, names whose attributes were told, else files that were read.
    pub handled: u64,
    /// That by the phase's time; absent if it took none.
    pub handled_per_second: Option<f64>,
    /// What had been found and was not found any more when it was asked for.
    pub gone: u64,
    /// Bytes that were read of files.
    pub bytes: u64,
    /// From the first request to the end of the last one.
    pub time_ns: Nanoseconds,
    /// Bytes by that time; absent if it took none, or no files were read.
    pub bytes_per_second: Option<f64>,
    /// What all processors together did for the clients, and in the kernel on their behalf. Absent if it was not recorded.
    pub processor_time_ns: Option<Nanoseconds>,
    /// That time by the phase's: 1 is one processor all the time. Absent if the phase was too short to say.
    pub processors: Option<f64>,
}

/// How a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseEnding {
    /// All that was there was asked for.
    Done,
    /// Its time was up before.
    TimeLimit,
    /// The run ended in it, or what it asked for did not come back.
    BrokenOff,
}

/// Judges a tree by summaries that tell stages apart, but neither targets nor clients.
pub(super) fn analyse_tree(run: &RunRecord, summaries: &Summaries) -> TreeAnalysis {
    let mut stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    count_unfinished(&mut stages, run, summaries);
    stages.iter_mut().for_each(|stage| stage.rows.sort_by_key(|row| row.summary.first_start_ns));
    let phases: Vec<TreePhase> = stages.iter().filter_map(|stage| phase(stage, run, summaries)).collect();
    let mut findings = found_in_stages(&stages);
    findings.extend(host_busy(run));
    findings.extend(clients_start_late(&stages));
    findings.extend(stage_cut_off(&stages, run.spec.clients));
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(memory_footnote(run));
    // Of directories no kernel tells how much of them is in memory.
    let walked = stages.iter().take_while(|stage| stage.phase == Phase::Walk).count();
    let doubted = caches_doubted(run, &StageAnalysis::with_caches(&stages[walked..]));
    let trust = run.trust.iter().cloned().chain(read_from_cache(run)).chain(doubted);
    TreeAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        target: run.targets.first().map_or_else(String::new, |target| target.name.clone()),
        tree: run.tree.clone(),
        phases,
        findings,
        footnotes,
        stages,
        trust: trust.chain(summaries.unknown.trust()).collect(),
        beside: analyse_beside(run, summaries),
    }
}

impl TreeAnalysis {
    /// What came of a stage.
    pub fn done(&self, stage: StageIndex) -> Option<&TreeStage> {
        self.tree.as_ref()?.stages.iter().find(|done| done.stage == stage)
    }
}

fn phase(stage: &StageAnalysis, run: &RunRecord, summaries: &Summaries) -> Option<TreePhase> {
    let own = &stage.row(operation_of(stage.phase)?)?.summary;
    let handled = own.succeeded();
    let gone = own.errors.iter().filter(|errors| errors.class == ErrorClass::NotFound);
    let reads = stage.row(Operation::TreeRead);
    let time_ns = stage.times.phase_time_ns;
    let by_time = |amount: f64| (time_ns.0 > 0).then(|| amount / time_ns.as_seconds());
    let bytes = reads.map_or(0, |row| row.summary.bytes);
    let processor_time_ns = processor_time(stage.stage, summaries);
    Some(TreePhase {
        stage: stage.stage,
        phase: stage.phase,
        iteration: stage.iteration,
        ending: ending(stage, own.attempts, run),
        handled,
        handled_per_second: by_time(handled as f64),
        gone: gone.map(|errors| errors.count).sum(),
        bytes,
        time_ns,
        bytes_per_second: reads.and_then(|_| by_time(bytes as f64)),
        processor_time_ns,
        processors: processor_time_ns.and_then(|taken| share(taken.as_seconds(), time_ns.as_seconds())),
    })
}

fn ending(stage: &StageAnalysis, attempts: u64, run: &RunRecord) -> PhaseEnding {
    let all = run.tree.as_ref().map(|tree| match stage.phase {
        // The tree itself is one, and what is mounted below is looked at, too.
        Phase::Walk => tree.found.directories + tree.found.mount_points + 1,
        Phase::Sum => tree.found.files,
        _ => tree.found.asked(),
    });
    let has_limit = matches!(&run.spec.workload, WorkloadSpec::Tree(spec) if spec.time_limit_ns.is_some());
    match all {
        Some(all) if attempts >= all => PhaseEnding::Done,
        Some(_) if has_limit && stage.unfinished.clients == 0 => PhaseEnding::TimeLimit,
        _ => PhaseEnding::BrokenOff,
    }
}

/// What a phase does with each directory, name or file.
pub(super) const fn operation_of(phase: Phase) -> Option<Operation> {
    match phase {
        Phase::Walk => Some(Operation::TreeList),
        Phase::Stat | Phase::Combined => Some(Operation::TreeStat),
        Phase::Sum => Some(Operation::TreeRead),
        _ => None,
    }
}

/// A doubt where what was read may have been in memory before: nobody knows what others have read.
fn read_from_cache(run: &RunRecord) -> Option<Trust> {
    let memory_bytes = run.environment.memory_bytes?;
    let bytes = run.tree.as_ref()?.stages.iter().map(|stage| stage.bytes).max()?;
    (run.spec.caches.is_asis() && 0 < bytes && bytes < memory_bytes).then(|| Trust {
        doubt: format!(
            "caches were as they were, and what was read ({}) fits into a memory of {}: it may have come from the page cache, and not from the \
             storage",
            format_bytes(bytes),
            format_bytes(memory_bytes)
        ),
        advice: "drop the caches before each phase, which takes the superuser (--caches cold)".to_owned(),
    })
}
