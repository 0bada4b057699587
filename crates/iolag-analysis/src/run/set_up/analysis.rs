//! `iolag bench setup`: the time of a copy, its calls, and what to think of it.

use iolag_model::{Operation, Phase, RunRecord, SetUpSpec, StageIndex, Trust};

use crate::finding::of_runs::RunFinding;
use crate::run::any_workload::footnotes;
use crate::run::beside::analysis::{BesideAnalysis, analyse_beside};
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

/// The stage in which copies make their calls.
pub(super) const BENCHMARK: StageIndex = StageIndex(1);

/// What a set-up says.
#[derive(Debug, Clone, PartialEq)]
pub struct SetUpAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The target.
    pub target: String,
    /// stat and open calls that all copies made.
    pub calls: SetUpCalls,
    /// Each copy that began to make its calls.
    pub copies: Vec<CopyTime>,
    /// What a copy took; absent if none began.
    pub time: Option<CopiesTime>,
    /// What they took of the processors meanwhile, if that is known.
    pub processors: Option<ProcessorShare>,
    /// What they did with their time.
    pub work: CopiesAtWork,
    /// What each computed then, if that was really run.
    pub payload: Option<PayloadTimes>,
    /// Whether that is too long, if the user said what is.
    pub judgement: Option<CopiesJudgement>,
    /// The stages in which something was done, in their order.
    pub stages: Vec<StageAnalysis>,
    /// What each copy did that nobody has counted.
    pub assumed: Vec<String>,
    /// What everybody else felt, if somebody measured that.
    pub beside: Option<BesideAnalysis>,
    /// What was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What is to be known of nearly every result, each in a sentence; told in one line.
    pub footnotes: Vec<String>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
}

/// Calls that were made, whatever became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct SetUpCalls {
    /// stat.
    pub stats: u64,
    /// open.
    pub opens: u64,
}

/// Judges a set-up by summaries that tell stages apart, but neither targets nor clients.
pub(super) fn analyse_set_up(run: &RunRecord, spec: &SetUpSpec, summaries: &Summaries) -> SetUpAnalysis {
    let stages: Vec<StageAnalysis> =
        run.stages.iter().filter_map(|record| stage_analysis(record, summaries)).collect();
    let payload = PayloadTimes::of(BENCHMARK, summaries);
    let copies = copies_in(BENCHMARK, spec.kill_after_ns, summaries);
    let mut findings = found_of_copies(&stages);
    // Who computes is to keep processors busy.
    findings.extend(payload.is_none().then(|| host_busy(run)).into_iter().flatten());
    findings.extend(ring_waits(summaries));
    findings.sort_by_key(|finding| finding.severity);
    let rows = stages.iter().flat_map(|stage| &stage.rows).map(|row| &row.summary);
    let trust = run.trust.iter().cloned().chain(caches_doubted(run, &StageAnalysis::with_caches(&stages)));
    let mut footnotes = footnotes(rows, run.calibration.overhead_per_sample_ns);
    footnotes.extend(memory_footnote(run));
    SetUpAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        target: run.targets.first().map_or_else(String::new, |target| target.name.clone()),
        calls: calls(&stages),
        beside: analyse_beside(run, summaries),
        time: median_of_copies(&copies),
        processors: ProcessorShare::of_copies(run, BENCHMARK, summaries),
        work: CopiesAtWork::of(run, BENCHMARK, summaries),
        payload,
        judgement: spec.terms.judge_ns.map(|limit_ns| judge(&copies, run.spec.clients, limit_ns)),
        copies,
        assumed: spec.assumed(),
        findings,
        footnotes,
        trust: trust.chain(summaries.unknown.trust()).collect(),
        stages,
    }
}

fn calls(stages: &[StageAnalysis]) -> SetUpCalls {
    let benchmark = stages.iter().find(|stage| stage.phase == Phase::Benchmark);
    let made = |operation| Some(benchmark?.row(operation)?.summary.attempts);
    SetUpCalls {
        stats: made(Operation::CallStat).unwrap_or_default(),
        opens: made(Operation::CallOpen).unwrap_or_default(),
    }
}
