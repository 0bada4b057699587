//! `iolag ping`: what became of the probes of one directory.

use iolag_model::{Level, Nanoseconds, Operation, RunRecord, Trust};

use super::counts::PingCounts;
use crate::finding::Severity;
use crate::finding::of_runs::{NotSentBecause, ProbesLost, ProbesNotSent, RunFinding, RunFound};
use crate::run::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};

/// What `iolag ping` found out.
#[derive(Debug, Clone, PartialEq)]
pub struct PingAnalysis {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// How quantiles were found.
    pub precision: Precision,
    /// The directory.
    pub target: String,
    /// Kind of its file system, if known.
    pub file_system: Option<String>,
    /// From the intended start of one probe to that of the next.
    pub every_ns: Nanoseconds,
    /// After this long a whole probe is lost.
    pub deadline_ns: Nanoseconds,
    /// What became of the probes.
    pub probes: PingCounts,
    /// Whole probes first, then the operations that they consist of; iolag's own are left out.
    pub summaries: Vec<Summary>,
    /// What else was found, the gravest first.
    pub findings: Vec<RunFinding>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about.
    pub remarks: Vec<String>,
}

/// Judges a run of `iolag ping` by summaries that tell nothing apart, found with [`crate::Censoring::Informative`].
pub fn analyse_ping(run: &RunRecord, summaries: &Summaries) -> PingAnalysis {
    let mut measured: Vec<Summary> = summaries
        .summaries
        .iter()
        .filter(|summary| summary.key.operation.level() != Level::Harness)
        .cloned()
        .collect();
    measured.sort_by_key(|summary| order(summary.key.operation));
    let whole = measured.iter().find(|summary| summary.key.operation == Operation::Probe);
    let probes = whole.map(PingCounts::from).unwrap_or_default();
    let target = run.targets.first();
    let every_ns = run.spec.workload.ping().map_or(Nanoseconds::ZERO, |spec| spec.every_ns);
    PingAnalysis {
        schema: SUMMARY_SCHEMA,
        precision: summaries.precision,
        target: target.map_or_else(String::new, |target| target.name.clone()),
        file_system: target.and_then(|target| Some(target.file_system.as_ref()?.kind.clone())),
        every_ns,
        deadline_ns: run.spec.deadline_ns,
        probes,
        findings: lost(probes, run.spec.deadline_ns).into_iter().chain(not_sent(probes, every_ns)).collect(),
        summaries: measured,
        trust: run.trust.iter().cloned().chain(summaries.unknown.trust()).collect(),
        remarks: run.remarks.clone(),
    }
}

/// In the order in which they happen: a user reads down the column as a probe goes.
const fn order(operation: Operation) -> u8 {
    match operation {
        Operation::Probe => 0,
        Operation::Stat => 1,
        Operation::Read => 2,
        Operation::Create => 3,
        Operation::Delete => 5,
        _ => 4,
    }
}

fn lost(probes: PingCounts, deadline_ns: Nanoseconds) -> Option<RunFinding> {
    let found = RunFound::ProbesLost(ProbesLost { probes, deadline_ns });
    (probes.lost() > 0).then(|| RunFinding::new(found, Severity::Serious))
}

/// Not sent, though nothing was lost.
fn not_sent(probes: PingCounts, every_ns: Nanoseconds) -> impl Iterator<Item = RunFinding> {
    let causes =
        [(probes.outrun, NotSentBecause::Outrun(every_ns)), (probes.held_up, NotSentBecause::HeldUp)];
    causes.into_iter().filter(|(count, _)| *count > 0).map(move |(count, because)| {
        let found = RunFound::ProbesNotSent(ProbesNotSent { count, due: probes.due, because });
        RunFinding::new(found, Severity::Note)
    })
}
