//! `iolag bench metadata`: per stage rates, balance between clients, and what to think of it.

use super::stage::{StageAnalysis, stage_analysis};
use iolag_model::{Nanoseconds, Operation, Phase, RunRecord, RunState, TargetRecord, Trust, WorkloadSpec};
use serde::{Deserialize, Serialize};

use super::self_read::{SelfReadShare, self_read_share};
use super::stage_endings::{count_unfinished, cut_off};
use super::stage_findings::{clients_start_late, stage_cut_off, stages_are_short};
use super::working_set::{Aftermath, WorkingSet};
use crate::finding::run_kind::RunFindingKind;
use crate::finding::words::{factor_in_words, share_in_words};
use crate::finding::{EvidenceAmount, Finding, Severity};
use crate::run::any_workload::{common_sightings, footnotes};
use crate::run::sightings::{Kind, Sighting, merged};
use crate::run::stage_names::StageKey;
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};
use crate::run::sweep::{Repetition, RepetitionComparison, RepetitionJudgement, compare_repetitions};

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
