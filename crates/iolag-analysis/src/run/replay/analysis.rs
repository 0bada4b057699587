//! `iolag replay`: the time of a copy, whether it did what the program did, and what to think of it.

use super::disagreements::Disagreement;
use crate::finding::FollowedFailure;
use crate::finding::of_runs::{RunFinding, RunFound};
use crate::run::any_workload::footnotes;
use crate::run::copies::at_work::CopiesAtWork;
use crate::run::copies::payload::PayloadTimes;
use crate::run::copies::time::{CopiesJudgement, CopiesTime, CopyTime, copies_in, judge, median_of_copies};
use crate::run::metadata::analysis::{host_busy, ring_waits};
use crate::run::metadata::stage::{StageAnalysis, stage_analysis};
use crate::run::metadata::stage_findings::found_of_copies;
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries};
use crate::run::surroundings::caches::caches_doubted;
use crate::run::surroundings::memory::memory_footnote;
use crate::run::surroundings::processor_time::ProcessorShare;
use crate::run::void::{Agreement, Void, void};
use iolag_model::{
    ErrorClass, Nanoseconds, Operation, ReplayCoverage, ReplaySpec, RunRecord, StageIndex, Trust,
};

/// The stage in which copies make their calls.
pub(super) const BENCHMARK: StageIndex = StageIndex(0);

/// What a replay says.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The target.
    pub target: String,
    /// What was traced, if it is known.
    pub program: Option<String>,
    /// How long that took, without what tracing cost.
    pub traced_ns: Nanoseconds,
    /// What tracing cost.
    pub tracing_ns: Nanoseconds,
    /// Tasks that it had.
    pub tasks: u32,
    /// Each copy that began to make its calls.
    pub copies: Vec<CopyTime>,
    /// What they took of the processors meanwhile, if that is known.
    pub processors: Option<ProcessorShare>,
    /// What they did with their time.
    pub work: CopiesAtWork,
    /// What a copy took; absent if none began.
    pub time: Option<CopiesTime>,
    /// What each computed then, if that was really run.
    pub payload: Option<PayloadTimes>,
    /// Whether that is too long, if the user said what is.
    pub judgement: Option<CopiesJudgement>,
    /// How many calls came back as they did when they were traced.
    pub agreement: Agreement,
    /// Some of those that did not.
    pub disagreements: Vec<Disagreement>,
    /// How much of the trace a copy repeats.
    pub coverage: ReplayCoverage,
    /// Why the run says nothing of the program, if it does not.
    pub void: Vec<Void>,
    /// The stages in which something was done, in their order.
    pub stages: Vec<StageAnalysis>,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// Judges a replay by summaries that tell stages apart, but neither targets nor clients.
pub(super) fn analyse_replay(run: &RunRecord, spec: &ReplaySpec, summaries: &Summaries) -> ReplayAnalysis {
    let stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    let payload = PayloadTimes::of(BENCHMARK, summaries);
    let copies = copies_in(BENCHMARK, spec.kill_after_ns, summaries);
    let agreement = Agreement::of(summaries);
    let mut findings = found_of_copies(&stages);
    tell_with_opens(&mut findings, &stages);
    // Who computes is to keep processors busy.
    findings.extend(payload.is_none().then(|| host_busy(run)).into_iter().flatten());
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let trust = run.trust.iter().cloned().chain(caches_doubted(run, &StageAnalysis::with_caches(&stages)));
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(memory_footnote(run));
    ReplayAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        target: run.targets.first().map_or_else(String::new, |target| target.name.clone()),
        program: spec.program.clone(),
        traced_ns: spec.traced_ns,
        tracing_ns: spec.tracing_ns,
        tasks: spec.tasks,
        time: median_of_copies(&copies),
        payload,
        judgement: spec.terms.judge_ns.map(|limit_ns| judge(&copies, run.spec.clients, limit_ns)),
        void: void(agreement, &spec.coverage),
        processors: ProcessorShare::of_copies(run, BENCHMARK, summaries),
        work: CopiesAtWork::of(run, BENCHMARK, summaries),
        copies,
        agreement,
        disagreements: Vec::new(),
        coverage: spec.coverage.clone(),
        findings,
        footnotes,
        trust: trust.chain(summaries.unknown.trust()).collect(),
        stages,
    }
}

/// What is asked of a descriptor fails if nothing could be opened under it: that is told of the open calls, and not by itself.
fn tell_with_opens(findings: &mut Vec<RunFinding>, stages: &[StageAnalysis]) {
    use Operation::{CallClose, CallFcntl, CallFstat, CallGetdents, CallMmap, CallOpen, CallRead, CallSeek};
    const OF_DESCRIPTORS: [Operation; 7] =
        [CallRead, CallFstat, CallClose, CallMmap, CallSeek, CallGetdents, CallFcntl];
    let is_of_open = |finding: &&mut RunFinding| match &finding.found {
        RunFound::FailedAttempts(found) => found.operation == CallOpen || finding.also.contains(&CallOpen),
        _ => false,
    };
    let Some(of_open) = findings.iter_mut().find(is_of_open) else { return };
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let of_descriptors = rows.filter(|summary| OF_DESCRIPTORS.contains(&summary.key.operation));
    of_open.led_to = of_descriptors
        .flat_map(|summary| {
            let bad = summary.errors.iter().filter(|error| error.class == ErrorClass::Other);
            bad.map(|error| FollowedFailure {
                operation: summary.key.operation,
                class: error.class,
                count: error.count,
            })
        })
        .collect();
    findings.retain(|finding| match &finding.found {
        RunFound::FailedAttempts(found) => {
            found.class != ErrorClass::Other || !OF_DESCRIPTORS.contains(&found.operation)
        }
        _ => true,
    });
}
