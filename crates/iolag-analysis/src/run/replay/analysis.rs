//! `iolag replay`: the time of a copy, whether it did what the program did, and what to think of it.

use crate::finding::of_runs::RunFinding;
use crate::run::any_workload::footnotes;
use crate::run::copies::payload::PayloadTimes;
use crate::run::copies::time::{CopiesJudgement, CopiesTime, CopyTime, copies_in, judge, median_of_copies};
use crate::run::metadata::analysis::{host_busy, ring_waits};
use crate::run::metadata::stage::{StageAnalysis, stage_analysis};
use crate::run::metadata::stage_findings::found_in_stages;
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries};
use crate::run::surroundings::caches::caches_doubted;
use crate::run::surroundings::memory::memory_footnote;
use crate::run::surroundings::processor_time::ProcessorShare;
use crate::run::void::{Agreement, Void, void};
use iolag_model::{Nanoseconds, ReplayCoverage, ReplaySpec, RunRecord, StageIndex, Trust};

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
    /// How long that took.
    pub traced_ns: Nanoseconds,
    /// Tasks that it had.
    pub tasks: u32,
    /// Each copy that began to make its calls.
    pub copies: Vec<CopyTime>,
    /// What they took of the processors meanwhile, if that is known.
    pub processors: Option<ProcessorShare>,
    /// What a copy took; absent if none began.
    pub time: Option<CopiesTime>,
    /// What each computed then, if that was really run.
    pub payload: Option<PayloadTimes>,
    /// Whether that is too long, if the user said what is.
    pub judgement: Option<CopiesJudgement>,
    /// How many calls came back as they did when they were traced.
    pub agreement: Agreement,
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
    let mut findings = found_in_stages(&stages);
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
        tasks: spec.tasks,
        time: median_of_copies(&copies),
        payload,
        judgement: spec.terms.judge_ns.map(|limit_ns| judge(&copies, run.spec.clients, limit_ns)),
        void: void(agreement, &spec.coverage),
        processors: ProcessorShare::of_copies(run, BENCHMARK, summaries),
        copies,
        agreement,
        coverage: spec.coverage.clone(),
        findings,
        footnotes,
        trust: trust.chain(summaries.unknown.trust()).collect(),
        stages,
    }
}
