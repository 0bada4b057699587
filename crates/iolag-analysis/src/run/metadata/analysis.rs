//! `iolag bench metadata`: per stage rates, balance between clients, and what to think of it.

use iolag_model::{
    Level, Nanoseconds, Operation, Phase, RunRecord, RunState, StageIndex, StageRecord, TargetRecord, Trust,
    WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use super::self_read::{SelfReadShare, self_read_share};
use super::stage_endings::{Unfinished, count_unfinished, cut_off};
use super::stage_findings::{clients_start_late, stage_cut_off, stages_are_short};
use super::working_set::{Aftermath, WorkingSet};
use crate::finding::run_kind::RunFindingKind;
use crate::finding::{
    EvidenceAmount, Finding, Severity, common_sightings, factor_in_words, footnotes, share_in_words,
};
use crate::run::sightings::{Kind, Sighting, StageKey, merged};
use crate::run::stage_clock::{StageClock, StageTimes};
use crate::run::summary::{ErrorCount, Precision, SUMMARY_SCHEMA, StageClient, Summaries, Summary};
use crate::run::sweep::{Repetition, RepetitionComparison, RepetitionJudgement, compare_repetitions};

const MEBIBYTE: f64 = 1_048_576.0;

/// What a metadata run says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageAnalysis {
    /// Its number.
    pub stage: StageIndex,
    /// What it did.
    pub phase: Phase,
    /// Which iteration, from 0.
    pub iteration: u32,
    /// How long it took, together and each client.
    #[serde(flatten)]
    pub times: StageTimes,
    /// Objects that were handled completely.
    pub objects: u64,
    /// Objects by the phase time.
    pub objects_per_second: f64,
    /// Operations that succeeded.
    pub operations: u64,
    /// Operations that succeeded, by the phase time.
    pub operations_per_second: f64,
    /// Bytes moved, in MiB, by the phase time.
    pub mebibytes_per_second: f64,
    /// Failures of all operations by kind.
    pub errors: Vec<ErrorCount>,
    /// Objects created and deleted; in the benchmark phase they must be equal.
    pub working_set: WorkingSetChange,
    /// Summaries of the operations, with the rate by the phase time.
    pub rows: Vec<OperationRow>,
    /// Each client's time.
    pub clients: Vec<StageClient>,
    /// Clients that did not finish it.
    #[serde(default, skip_serializing_if = "Unfinished::is_none")]
    pub unfinished: Unfinished,
}

/// One operation within a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperationRow {
    /// Attempts that succeeded, by the phase time.
    pub per_second: f64,
    /// The summary.
    pub summary: Summary,
}

/// How a stage changed the number of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSetChange {
    /// Objects created.
    pub created: u64,
    /// Objects deleted.
    pub deleted: u64,
}

impl WorkingSetChange {
    /// Whether as many objects are there as before.
    pub const fn is_constant(self) -> bool {
        self.created == self.deleted
    }
}

/// Judges a metadata run by summaries that tell stages apart, but neither targets nor clients.
pub fn analyse_metadata(run: &RunRecord, summaries: &Summaries) -> MetadataAnalysis {
    let mut stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    count_unfinished(&mut stages, run, summaries);
    let spec = match &run.spec.workload {
        WorkloadSpec::Metadata(spec) => Some(spec),
        WorkloadSpec::Check(_) | WorkloadSpec::Ping(_) => None,
    };
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
    findings.extend(repetitions.as_ref().and_then(|repetitions| repetitions_differ(repetitions, run)));
    findings.extend(processors_busy(run));
    findings.extend(clients_start_late(&stages));
    findings.extend(stages_are_short(&stages));
    findings.extend(stage_cut_off(&stages, run.spec.clients));
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(self_read.filter(|_| has_other_caches(run)).and_then(caches_warm));
    MetadataAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        working_set: aftermath.working_set,
        stages,
        self_read,
        repetitions,
        findings,
        footnotes,
        trust: run.trust.iter().cloned().chain(summaries.unknown.trust()).collect(),
    }
}

/// What was found in single stages, told once for all that are alike.
fn found_in_stages(stages: &[StageAnalysis], aftermath: &Aftermath) -> Vec<Finding> {
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
        let is_cause =
            matches!(sighting.kind, Kind::Failed(_)) && aftermath.is_cause(stages, stage, operation);
        is_cause.then_some(sighting.kind)
    });
    let mut findings = merged(sightings, &keys);
    // What a failure led to is told with it.
    if let Some(consequences) = aftermath.consequences(stages) {
        match findings.iter_mut().find(|(kind, _)| Some(*kind) == cause) {
            Some((_, finding)) => {
                let statement = finding.sentence.trim_end_matches('.');
                finding.sentence = format!("{statement}; and, because of that, {consequences}.");
            }
            None => findings.push((Kind::LeftOut, left_out(&consequences))),
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// What operations led to that did not end: they are told with the state of the run.
fn left_out(consequences: &str) -> Finding {
    let sentence = format!("Because operations before did not end, {consequences}.");
    let advice =
        "iolag does nothing more with an object after that, so others are missing or in the way later.";
    Finding::new(RunFindingKind::LeftOut, Severity::Note, sentence, advice)
}

/// A stage as in `precreate`, `benchmark 2`, `batch-stat 3`: what may be repeated has a number.
pub fn stage_name(phase: Phase, iteration: u32) -> String {
    match phase {
        Phase::Precreate | Phase::Cleanup => phase.to_string(),
        _ => format!("{phase} {}", iteration + 1),
    }
}

fn stage_analysis(record: &StageRecord, summaries: &Summaries) -> Option<StageAnalysis> {
    let of_stage = |summary: &&Summary| summary.key.stage == Some(record.stage);
    let measured: Vec<&Summary> = summaries
        .summaries
        .iter()
        .filter(of_stage)
        .filter(|summary| summary.key.operation.level() != Level::Harness)
        .collect();
    let clients: Vec<StageClient> =
        summaries.stage_clients.iter().filter(|client| client.stage == record.stage).copied().collect();
    if measured.is_empty() && clients.is_empty() {
        return None;
    }
    // Without operations, or without their starts, the clients' own samples are all that is known.
    let clock = StageClock::of(record.stage, &summaries.summaries).or_else(|| clock_of_clients(&clients))?;
    let per_second = |amount: f64| clock.per_second(amount).unwrap_or_default();
    let count = |operations: &[Operation]| -> u64 {
        let wanted = measured.iter().filter(|summary| operations.contains(&summary.key.operation));
        wanted.map(|summary| summary.succeeded()).sum()
    };
    let created = count(&[Operation::Create, Operation::CallCreate]);
    let deleted = count(&[Operation::Delete, Operation::CallUnlink]);
    let objects = match record.phase {
        Phase::Precreate | Phase::BatchCreate => created,
        Phase::Cleanup | Phase::BatchRemove => deleted,
        Phase::BatchStat => count(&[Operation::Stat, Operation::CallStat]),
        Phase::TreeCreate => count(&[Operation::MakeDirectory, Operation::CallMkdir]),
        Phase::TreeRemove => count(&[Operation::RemoveDirectory, Operation::CallRmdir]),
        Phase::Benchmark | Phase::BatchRead | Phase::Check | Phase::Ping => {
            count(&[Operation::Read, Operation::CallRead])
        }
    };
    let operations: u64 = measured.iter().map(|summary| summary.succeeded()).sum();
    let bytes: u64 = measured.iter().map(|summary| summary.bytes).sum();
    Some(StageAnalysis {
        stage: record.stage,
        phase: record.phase,
        iteration: record.iteration,
        times: clock.times(&clients),
        objects,
        objects_per_second: per_second(objects as f64),
        operations,
        operations_per_second: per_second(operations as f64),
        mebibytes_per_second: per_second(bytes as f64 / MEBIBYTE),
        errors: errors_of(&measured),
        working_set: WorkingSetChange { created, deleted },
        rows: measured
            .into_iter()
            .map(|summary| OperationRow {
                per_second: per_second(summary.succeeded() as f64),
                summary: summary.clone(),
            })
            .collect(),
        clients,
        unfinished: Unfinished::default(),
    })
}

fn clock_of_clients(clients: &[StageClient]) -> Option<StageClock> {
    let spans = clients.iter().map(|client| StageClock { begin: client.start_ns, end: client.end() });
    spans.reduce(StageClock::and)
}

fn errors_of(summaries: &[&Summary]) -> Vec<ErrorCount> {
    let mut errors: Vec<ErrorCount> = Vec::new();
    for error in summaries.iter().flat_map(|summary| &summary.errors) {
        match errors.iter_mut().find(|known| known.class == error.class) {
            Some(known) => known.count += error.count,
            None => errors.push(*error),
        }
    }
    errors.sort_unstable_by_key(|error| error.class);
    errors
}

/// Iterations of the benchmark phase as repetitions; a part's result is the time per object, summed over
/// operations.
fn repetitions_of(stages: &[StageAnalysis]) -> Option<RepetitionComparison> {
    let is_whole = |stage: &&StageAnalysis| cut_off(stages).is_none_or(|cut| cut.stage != stage.stage);
    let repetitions: Vec<Repetition> = stages
        .iter()
        .filter(|stage| stage.phase == Phase::Benchmark)
        .filter(is_whole)
        .map(StageAnalysis::repetition)
        .collect();
    (repetitions.len() > 1).then(|| compare_repetitions(&repetitions))
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

fn repetitions_differ(comparison: &RepetitionComparison, run: &RunRecord) -> Option<Finding> {
    let factor = factor_in_words(comparison.factor);
    let reason = match comparison.judgement {
        RepetitionJudgement::Differ => "differ by more than chance",
        RepetitionJudgement::DifferUntested => "differ a lot",
        RepetitionJudgement::Alike | RepetitionJudgement::TooFew => return None,
    };
    let sentence = format!("Iterations {reason}: the fastest is {factor} times as fast as the slowest.");
    let cause = match (load_above_processors(run), has_other_caches(run)) {
        (Some(_), _) => "The load, told below, may do that",
        (None, true) => "Write-back timers, garbage collection or other users may do that",
        (None, false) => "Other programs on this host may do that",
    };
    let advice = format!("{cause}: use more and longer iterations, and report their range, not one number.");
    let finding = Finding::new(RunFindingKind::RepetitionsDiffer, Severity::Warning, sentence, advice).with(
        "fastest by slowest",
        factor,
        EvidenceAmount::Factor(comparison.factor),
    );
    Some(match comparison.p {
        Some(p) => finding.with("probability by chance", format!("{p:.2e}"), EvidenceAmount::Probability(p)),
        None => finding,
    })
}

fn processors_busy(run: &RunRecord) -> Option<Finding> {
    let load = load_above_processors(run)?;
    let cpus = run.environment.cpus;
    let sentence =
        format!("The load was {load:.1} on {cpus} processors: the clients may have waited for them.");
    let advice = "Use fewer clients per host, or more hosts, and compare: if the rate per client rises, this host was \
                  the limit, not the storage.";
    Some(Finding::new(RunFindingKind::ProcessorsBusy, Severity::Warning, sentence, advice).with(
        "load, 1 min",
        format!("{load:.2}"),
        EvidenceAmount::Load(load),
    ))
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
    let sentence =
        format!("the working set changed: {} objects created, {} deleted.", change.created, change.deleted);
    let advice = "Later iterations work on another number of objects; see the errors of create and delete.";
    Some(Sighting {
        kind: Kind::WorkingSetChanged,
        operation: None,
        stage: Some(stage.key()),
        weight: change.created.abs_diff(change.deleted) as f64,
        finding: Finding::new(RunFindingKind::WorkingSetChanged, Severity::Serious, sentence, advice),
    })
}

fn clients_unbalanced(stage: &StageAnalysis) -> Option<Sighting> {
    let balance = stage.times.balance_percent.filter(|balance| *balance < 50.0)?;
    let (first, last) = stage.times.first_done_ns.zip(stage.times.last_done_ns)?;
    if last < Nanoseconds::from_seconds(1) {
        return None;
    }
    let sentence =
        format!("clients are served unequally: the first was done after {first}, the last after {last}.");
    let advice = "Rates are of the whole time, in which some clients had nothing to do; use `--time-limit`.";
    let finding = Finding::new(RunFindingKind::Unequal, Severity::Warning, sentence, advice).with(
        "balance",
        format!("{balance:.0} %"),
        EvidenceAmount::Share(balance / 100.0),
    );
    Some(Sighting {
        kind: Kind::Unequal,
        operation: None,
        stage: Some(stage.key()),
        weight: 100.0 - balance,
        finding,
    })
}

/// Told if they take more than a hundredth of the clients' time: less changes no figure.
fn ring_waits(summaries: &Summaries) -> Option<Finding> {
    const SHARE_WORTH_TELLING: f64 = 0.01;
    let of = |operation| summaries.summaries.iter().filter(move |summary| summary.key.operation == operation);
    let waited_ns: f64 = of(Operation::RingWait).map(time_of_all_ns).sum();
    let measured_ns: f64 = of(Operation::Stage).map(time_of_all_ns).sum();
    if waited_ns <= SHARE_WORTH_TELLING * measured_ns {
        return None;
    }
    let count: u64 = of(Operation::RingWait).map(|summary| summary.attempts).sum();
    let longest = of(Operation::RingWait).filter_map(|summary| summary.durations.max.lower_bound()).max()?;
    let share = if measured_ns > 0.0 { waited_ns / measured_ns * 100.0 } else { 100.0 };
    let sentence = format!(
        "Clients waited {count} times for room in the recording rings, {share:.0} % of their time (longest {longest}); nothing \
         was lost, but they paused."
    );
    let advice = "Enlarge the rings (`--buffer`), put the store on something faster, or use fewer clients.";
    Some(Finding::new(RunFindingKind::RingWaits, Severity::Warning, sentence, advice))
}

/// The durations of all attempts together. Of a stage that was interrupted only the whole is known.
fn time_of_all_ns(summary: &Summary) -> f64 {
    let whole = || {
        let (first, last) = summary.first_start_ns.zip(summary.last_end_ns)?;
        Some(last.since(first).0 as f64)
    };
    summary.attempts as f64 * summary.durations.mean_ns.or_else(whole).unwrap_or(0.0)
}

impl StageAnalysis {
    /// The stage as one repetition among others: its rate, and the mean time of an object in equal parts of
    /// it.
    pub fn repetition(&self) -> Repetition {
        let parts = self.rows.iter().map(|row| &row.summary.durations.part_means_ns);
        let length = parts.clone().map(Vec::len).min().unwrap_or(0);
        let sum = |index: usize| parts.clone().map(|means| means[index]).sum();
        Repetition { rate_per_second: self.operations_per_second, parts: (0..length).map(sum).collect() }
    }

    /// Its phase and iteration.
    pub(crate) const fn key(&self) -> StageKey {
        (self.phase, self.iteration)
    }

    /// What it is called: see [`stage_name`].
    pub fn name(&self) -> String {
        stage_name(self.phase, self.iteration)
    }

    /// The row of this operation.
    pub fn row(&self, operation: Operation) -> Option<&OperationRow> {
        self.rows.iter().find(|row| row.summary.key.operation == operation)
    }
}
