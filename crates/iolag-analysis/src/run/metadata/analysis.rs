//! `iolag bench metadata`: per stage rates, balance between clients, and what to think of it.

use super::stage::{StageAnalysis, stage_analysis};
use iolag_model::{GeneratorLimit, Nanoseconds, Operation, Phase, RunRecord, RunState, TargetRecord, Trust};

use super::self_read::{SelfReadShare, self_read_share};
use super::stage_endings::{count_unfinished, cut_off};
use super::stage_findings::{clients_start_late, stage_cut_off, stages_are_short};
use super::working_set::{Aftermath, WorkingSet};
use crate::finding::Severity;
use crate::finding::of_runs::{
    Crew, LeftOut, ProcessorsBusy, RepetitionsDiffer, RingWaits, RunFinding, RunFound, Suspect, Unequal,
};
use crate::finding::words::share_in_words;
use crate::run::any_workload::{common_sightings, footnotes};
use crate::run::beside::analysis::{BesideAnalysis, analyse_beside};
use crate::run::sightings::{Sighting, merged};
use crate::run::stage_names::StageKey;
use crate::run::stage_rates::StageClock;
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};
use crate::run::surroundings::caches::caches_doubted;
use crate::run::surroundings::generator::{generator_busy, of_load};
use crate::run::surroundings::memory::{MemoryOfIterations, memory_during, memory_footnote, memory_of_host};
use crate::run::sweep::{Repetition, RepetitionComparison, RepetitionJudgement, compare_repetitions};

/// What a metadata run says.
#[derive(Debug, Clone, PartialEq)]
pub struct MetadataAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The stages in which something was done, in their order.
    pub stages: Vec<StageAnalysis>,
    /// Whether the working set stayed what it was.
    pub working_set: WorkingSet,
    /// Share of objects that are read by the client that wrote them; absent if the run is no metadata run.
    pub self_read: Option<SelfReadShare>,
    /// Whether the iterations of the benchmark phase agree; absent for fewer than two.
    pub repetitions: Option<RepetitionComparison>,
    /// What everybody else felt, if somebody measured that.
    pub beside: Option<BesideAnalysis>,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// Judges a metadata run by summaries that tell stages apart, but neither targets nor clients.
pub fn analyse_metadata(run: &RunRecord, summaries: &Summaries) -> MetadataAnalysis {
    let mut stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    count_unfinished(&mut stages, run, summaries);
    let spec = run.spec.workload.metadata();
    let self_read =
        spec.map(|spec| self_read_share(run.spec.clients, spec.datasets, spec.offset, spec.pattern));
    let repetitions = repetitions_of(&stages);
    let mut aftermath = Aftermath::of(&stages, spec, run.spec.clients);
    if matches!(run.state, RunState::Recovered { .. })
        && matches!(aftermath.working_set, WorkingSet::Constant | WorkingSet::Unfinished { .. })
    {
        aftermath.working_set = WorkingSet::Unrecorded;
    }
    let mut findings = Vec::new();
    findings.extend(aftermath.finding(&stages));
    findings.extend(found_in_stages(&stages, &aftermath));
    let memory = memory_of_iterations(&stages, run, summaries);
    findings
        .extend(repetitions.as_ref().and_then(|repetitions| repetitions_differ(repetitions, memory, run)));
    findings.extend(host_busy(run));
    findings.extend(clients_start_late(&stages));
    findings.extend(stages_are_short(&stages));
    findings.extend(stage_cut_off(&stages, run.spec.clients));
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    let is_as_it_is = run.spec.caches.is_asis();
    footnotes.extend(self_read.filter(|_| has_other_caches(run) && is_as_it_is).and_then(caches_warm));
    footnotes.extend(memory_footnote(run));
    let trust = run.trust.iter().cloned().chain(caches_doubted(run, &StageAnalysis::with_caches(&stages)));
    let trust = trust.chain(summaries.unknown.trust()).collect();
    MetadataAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        working_set: aftermath.working_set,
        beside: analyse_beside(run, summaries),
        stages,
        self_read,
        repetitions,
        findings,
        footnotes,
        trust,
    }
}

/// What was found in single stages, told once for all that are alike.
fn found_in_stages(stages: &[StageAnalysis], aftermath: &Aftermath) -> Vec<RunFinding> {
    let mut sightings = Vec::new();
    for (index, stage) in stages.iter().enumerate() {
        let is_explained = |operation, class| aftermath.explains(index, operation, class);
        let rows: Vec<&Summary> = stage.rows.iter().map(|row| &row.summary).collect();
        sightings.extend(common_sightings(&rows, Some(stage.key()), is_explained));
        sightings.extend(working_set_changed(stage));
        sightings.extend(clients_unbalanced(stage));
    }
    let keys: Vec<StageKey> = stages.iter().map(StageAnalysis::key).collect();
    let cause = sightings.iter().find_map(|sighting| {
        let (stage, operation) = sighting.stage.zip(sighting.operation)?;
        let RunFound::FailedAttempts(found) = &sighting.finding.found else { return None };
        aftermath.is_cause(stages, stage, operation).then_some(found.class)
    });
    let is_cause = |finding: &&mut RunFinding| matches!(&finding.found, RunFound::FailedAttempts(found) if Some(found.class) == cause);
    let mut findings = merged(sightings, &keys);
    let led_to = aftermath.consequences(stages);
    if led_to.is_empty() {
        return findings;
    }
    // What a failure led to is told with it; what operations led to that did not end, by itself.
    match findings.iter_mut().find(is_cause) {
        Some(finding) => finding.led_to = led_to,
        None => {
            let found = RunFound::LeftOut(LeftOut { followed: led_to });
            findings.push(RunFinding::new(found, Severity::Note));
        }
    }
    findings
}

/// The iterations of the benchmark phase that were not cut off.
fn iterations(stages: &[StageAnalysis]) -> impl Iterator<Item = &StageAnalysis> {
    let cut = cut_off(stages).map(|cut| cut.stage);
    stages.iter().filter(move |stage| stage.phase == Phase::Benchmark && cut != Some(stage.stage))
}

/// Iterations as repetitions; a part's result is the time per object, summed over operations.
fn repetitions_of(stages: &[StageAnalysis]) -> Option<RepetitionComparison> {
    let repetitions: Vec<Repetition> = iterations(stages).map(StageAnalysis::repetition).collect();
    (repetitions.len() > 1).then(|| compare_repetitions(&repetitions))
}

/// What memory had while the fastest iteration ran, and the slowest of those that have a rate.
fn memory_of_iterations(
    stages: &[StageAnalysis],
    run: &RunRecord,
    summaries: &Summaries,
) -> Option<MemoryOfIterations> {
    let course = memory_of_host(run)?;
    let rate = |stage: &StageAnalysis| stage.operations_per_second;
    let by_rate = |one: &&StageAnalysis, other: &&StageAnalysis| rate(one).total_cmp(&rate(other));
    let rated = || iterations(stages).filter(|stage| rate(stage) > 0.0);
    let during =
        |stage: &StageAnalysis| memory_during(course, StageClock::of(stage.stage, &summaries.summaries)?);
    Some(MemoryOfIterations {
        fastest: during(rated().max_by(by_rate)?)?,
        slowest: during(rated().min_by(by_rate)?)?,
    })
}

/// What lies in memory has nothing behind its caches.
fn has_other_caches(run: &RunRecord) -> bool {
    let in_memory = |kind: &str| matches!(kind, "tmpfs" | "ramfs");
    let on_file_system = |target: &TargetRecord| {
        target.file_system.as_ref().is_some_and(|file_system| !in_memory(&file_system.kind))
    };
    run.targets.iter().any(on_file_system)
}

fn caches_warm(share: SelfReadShare) -> Option<String> {
    let worst = share.precreated.max(share.steady_state);
    (worst >= 0.1).then(|| {
        format!(
            "Caches are likely warm: clients read {} of the precreated objects and {} of later ones that they wrote themselves \
             (`--offset`, and a working set larger than the memory, change that).",
            share_in_words(share.precreated),
            share_in_words(share.steady_state)
        )
    })
}

fn repetitions_differ(
    comparison: &RepetitionComparison,
    memory: Option<MemoryOfIterations>,
    run: &RunRecord,
) -> Option<RunFinding> {
    match comparison.judgement {
        RepetitionJudgement::Differ | RepetitionJudgement::DifferUntested => {}
        RepetitionJudgement::Alike | RepetitionJudgement::TooFew => return None,
    }
    let suspect = match (load_above_processors(run), has_other_caches(run)) {
        (Some(_), _) => Suspect::Load,
        (None, true) => Suspect::Storage,
        (None, false) => Suspect::Programs,
    };
    let found = RunFound::RepetitionsDiffer(RepetitionsDiffer { comparison: *comparison, suspect, memory });
    Some(RunFinding::new(found, Severity::Warning))
}

/// That the host was busy. A load that says no more than what was seen second by second is not told beside it.
pub(crate) fn host_busy(run: &RunRecord) -> impl Iterator<Item = RunFinding> {
    let busy = run.generator.as_ref().and_then(generator_busy);
    let is_processors = |(limit, _): &(GeneratorLimit, Nanoseconds)| *limit == GeneratorLimit::Processors;
    let is_told = busy.as_ref().is_some_and(|busy| busy.limits.iter().any(is_processors));
    let by_load = if is_told { None } else { processors_busy(run) };
    by_load.into_iter().chain(busy.map(of_load))
}

fn processors_busy(run: &RunRecord) -> Option<RunFinding> {
    let load = load_above_processors(run)?;
    let found =
        RunFound::ProcessorsBusy(ProcessorsBusy { load, cpus: run.environment.cpus, crew: Crew::of(run) });
    Some(RunFinding::new(found, Severity::Warning))
}

/// The load of a host that had more to do than processors.
fn load_above_processors(run: &RunRecord) -> Option<f64> {
    let load = run.after.as_ref()?.load?[0];
    let cpus = f64::from(run.environment.cpus);
    (cpus >= 1.0 && load >= cpus).then_some(load)
}

fn working_set_changed(stage: &StageAnalysis) -> Option<Sighting> {
    let change = stage.working_set;
    let rows = [Operation::Create, Operation::CallCreate, Operation::Delete, Operation::CallUnlink];
    let rows = rows.into_iter().filter_map(|operation| stage.row(operation));
    let failed: u64 = rows.map(|row| row.summary.failures() + row.summary.censored()).sum();
    // What failed is told as that, and so is who stopped between the two.
    let explained = failed + stage.unfinished.clients;
    if stage.phase != Phase::Benchmark || change.created.abs_diff(change.deleted) <= explained {
        return None;
    }
    let finding = RunFinding::new(RunFound::WorkingSetChanged(change), Severity::Serious)
        .sized(change.created.abs_diff(change.deleted) as f64);
    Some(Sighting { operation: None, stage: Some(stage.key()), finding })
}

fn clients_unbalanced(stage: &StageAnalysis) -> Option<Sighting> {
    let balance = stage.times.balance_percent.filter(|balance| *balance < 50.0)?;
    let (first, last) = stage.times.first_done_ns.zip(stage.times.last_done_ns)?;
    if last < Nanoseconds::from_seconds(1) {
        return None;
    }
    let found = RunFound::Unequal(Unequal { first_ns: first, last_ns: last, balance_percent: balance });
    let finding = RunFinding::new(found, Severity::Warning).sized(100.0 - balance);
    Some(Sighting { operation: None, stage: Some(stage.key()), finding })
}

/// Told if they take more than a hundredth of the clients' time: less changes no figure.
pub(crate) fn ring_waits(summaries: &Summaries) -> Option<RunFinding> {
    const SHARE_WORTH_TELLING: f64 = 0.01;
    let of = |operation| summaries.summaries.iter().filter(move |summary| summary.key.operation == operation);
    let waited_ns: f64 = of(Operation::RingWait).map(time_of_all_ns).sum();
    let measured_ns: f64 = of(Operation::Stage).map(time_of_all_ns).sum();
    if waited_ns <= SHARE_WORTH_TELLING * measured_ns {
        return None;
    }
    let count: u64 = of(Operation::RingWait).map(|summary| summary.attempts).sum();
    let longest_ns =
        of(Operation::RingWait).filter_map(|summary| summary.durations.max.lower_bound()).max()?;
    let share = if measured_ns > 0.0 { waited_ns / measured_ns } else { 1.0 };
    let found = RunFound::RingWaits(RingWaits { count, share, longest_ns });
    Some(RunFinding::new(found, Severity::Warning))
}

/// The durations of all attempts together. Of a stage that was interrupted only the whole is known.
fn time_of_all_ns(summary: &Summary) -> f64 {
    let whole = || {
        let (first, last) = summary.first_start_ns.zip(summary.last_end_ns)?;
        Some(last.since(first).0 as f64)
    };
    summary.attempts as f64 * summary.durations.mean_ns.or_else(whole).unwrap_or(0.0)
}
