//! What is found in one directory of a check besides how it feels.

use iolag_model::{Nanoseconds, Operation};

use super::few_attempts::{is_said, told_few};
use crate::finding::Severity;
use crate::finding::of_runs::{
    CloseSlow, CreateSlow, DurableSlow, MeasuredInPart, NamesLookedUp, NotAnswering, NotEnded, RemoveSlow,
    RunFinding, RunFound, Silent, SlowerOperation,
};
use crate::run::any_workload::{common_sightings, median_ns, summary_of};
use crate::run::sightings::{Sighting, merged};
use crate::run::summary::Summary;

/// `ls -l` this many times slower than `ls -n` means that names are looked up somewhere slow.
const LOOKUP_FACTOR: f64 = 3.0;
/// Below this difference nobody feels the looking up.
const LOOKUP_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(5);
/// A shorter median is felt by nobody, however many times that of another it is.
const FELT_NS: f64 = 1e6;

/// Findings about one directory, in no promised order: what may be said of its rows, and what the `verdict` does not say already.
pub(crate) fn check_findings(
    summaries: &[Summary],
    (who, unanswered_ns): (Silent, Option<Nanoseconds>),
    verdict: &str,
) -> Vec<RunFinding> {
    let mut findings = Vec::new();
    findings.extend(unanswered_ns.map(|age_ns| not_answering(who, age_ns)));
    findings.extend(summaries.iter().filter_map(hung_operation));
    findings.extend(names_looked_up(summaries));
    findings.extend(fsync_dominates(summaries));
    findings.extend(close_flushes(summaries));
    findings.extend(create_slower_than_stat(summaries));
    findings.extend(remove_slower_than_create(summaries));
    findings.retain(|finding| is_said(finding, summaries, verdict));
    let measured: Vec<&Summary> = summaries.iter().collect();
    let mut sightings = common_sightings(&measured, None, |_, _| false);
    sightings
        .retain(|sighting| is_said(&sighting.finding, summaries, verdict) && !only_hung(sighting, summaries));
    findings.extend(merged(sightings, &[]));
    findings.extend(told_few(summaries, verdict));
    findings
}

fn not_answering(who: Silent, age_ns: Nanoseconds) -> RunFinding {
    let found = RunFound::NotAnswering(NotAnswering { age_ns, who });
    RunFinding::new(found, Severity::Serious).sized(age_ns.as_seconds())
}

/// Something could be measured, but not to the end.
pub(crate) fn measured_in_part(failure: &str) -> RunFinding {
    let found = RunFound::MeasuredInPart(MeasuredInPart { failure: failure.to_owned() });
    RunFinding::new(found, Severity::Serious)
}

fn hung_operation(summary: &Summary) -> Option<RunFinding> {
    let count = summary.hung + summary.timeout;
    if count == 0 {
        return None;
    }
    let longest_ns = summary.durations.max.lower_bound()?;
    let found = NotEnded { operation: summary.key.operation, count, of: summary.attempts, longest_ns };
    Some(RunFinding::new(RunFound::NotEnded(found), Severity::Serious).sized(longest_ns.as_seconds()))
}

/// Whether it is about long attempts of which none ended: another finding tells them.
fn only_hung(sighting: &Sighting, summaries: &[Summary]) -> bool {
    let RunFound::LongAttempts(found) = &sighting.finding.found else { return false };
    let summary = summaries.iter().find(|summary| summary.key.operation == found.operation);
    summary.is_some_and(|summary| found.over <= summary.hung + summary.timeout)
}

/// The medians of two operations, if the first is at least this long and so many times as long as the second.
fn slower(
    summaries: &[Summary],
    [slow, quick]: [Operation; 2],
    factor_least: f64,
) -> Option<SlowerOperation> {
    let (slow, quick) = (summary_of(summaries, slow)?, summary_of(summaries, quick)?);
    let (longer, shorter) = (median_ns(slow)?, median_ns(quick)?);
    let factor = longer / shorter.max(1.0);
    let median = |summary: &Summary| (summary.key.operation, summary.durations.median.value);
    let found = SlowerOperation { slow: median(slow), quick: median(quick), factor };
    (factor >= factor_least && longer >= FELT_NS).then_some(found)
}

/// Whether the intervals of both medians are known, and that of the slower one lies above the other.
fn is_apart(summaries: &[Summary], pair: &SlowerOperation) -> bool {
    let bounds = |(operation, _): (Operation, _)| {
        summary_of(summaries, operation).and_then(|summary| summary.durations.median.interval.bounds())
    };
    // Two medians whose intervals meet, or that have none, are no difference.
    bounds(pair.slow).zip(bounds(pair.quick)).is_some_and(|((low, _), (_, high))| low > high)
}

fn finding(found: RunFound, pair: &SlowerOperation, severity: Severity) -> RunFinding {
    RunFinding::new(found, severity).sized(pair.factor)
}

fn names_looked_up(summaries: &[Summary]) -> Option<RunFinding> {
    let pair = slower(summaries, [Operation::TaskList, Operation::TaskListNumeric], LOOKUP_FACTOR)?;
    let difference =
        median_ns(summary_of(summaries, pair.slow.0)?)? - median_ns(summary_of(summaries, pair.quick.0)?)?;
    let is_felt = difference >= LOOKUP_LEAST.0 as f64;
    let found = || finding(RunFound::NamesLookedUp(NamesLookedUp(pair)), &pair, Severity::Warning);
    (is_felt && is_apart(summaries, &pair)).then(found)
}

/// By what a program waits for: until a small file is written, and until it is safe.
fn fsync_dominates(summaries: &[Summary]) -> Option<RunFinding> {
    let pair = slower(summaries, [Operation::WriteDurably, Operation::Create], 5.0)?;
    Some(finding(RunFound::DurableSlow(DurableSlow(pair)), &pair, Severity::Note))
}

fn close_flushes(summaries: &[Summary]) -> Option<RunFinding> {
    let pair = slower(summaries, [Operation::CallCloseWritten, Operation::CallWrite], 5.0)?;
    Some(finding(RunFound::CloseSlow(CloseSlow(pair)), &pair, Severity::Note))
}

fn create_slower_than_stat(summaries: &[Summary]) -> Option<RunFinding> {
    let pair = slower(summaries, [Operation::Create, Operation::Stat], 100.0)?;
    Some(finding(RunFound::CreateSlow(CreateSlow(pair)), &pair, Severity::Note))
}

/// Removing is usually about as much work as creating.
fn remove_slower_than_create(summaries: &[Summary]) -> Option<RunFinding> {
    let pair = slower(summaries, [Operation::Delete, Operation::Create], 10.0)?;
    let found = || finding(RunFound::RemoveSlow(RemoveSlow(pair)), &pair, Severity::Note);
    is_apart(summaries, &pair).then(found)
}
