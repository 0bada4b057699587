//! `iolag ping`: what became of the probes of one directory.

use iolag_model::{Level, Nanoseconds, Operation, RunRecord, Trust, WorkloadSpec, counted};
use serde::{Deserialize, Serialize};

use super::summary::{Precision, SUMMARY_SCHEMA, Summaries, Summary};
use crate::finding::run_kind::RunFindingKind;
use crate::finding::{Finding, Severity};

/// What `iolag ping` found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    pub findings: Vec<Finding>,
    /// What to know before trusting the numbers.
    pub trust: Vec<Trust>,
    /// How the numbers came about.
    pub remarks: Vec<String>,
}

/// Probes by what became of them. Each is in one count only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PingCounts {
    /// All that came to be due.
    pub due: u64,
    /// Answered within the deadline.
    pub answered: u64,
    /// Answered after it.
    pub late: u64,
    /// Ended at it: programs only.
    pub timeout: u64,
    /// Had not been answered when iolag ended.
    pub hung: u64,
    /// Answered with an error.
    pub failed: u64,
    /// Not sent, because of an earlier one, or of the removal of its file, that passed the deadline.
    pub skipped: u64,
    /// Not sent, because the one before took longer than the interval, though it was not lost. Neither answered nor lost.
    #[serde(default)]
    pub outrun: u64,
    /// Not sent, because iolag was still removing the file of the one before, though that was not lost. Neither answered nor lost.
    #[serde(default)]
    pub held_up: u64,
    /// Cut short by the end of iolag, or not sent because iolag itself stood still. Neither answered nor lost.
    pub interrupted: u64,
}

impl PingCounts {
    /// Those that were not answered as they should have been.
    pub const fn lost(self) -> u64 {
        self.late + self.timeout + self.hung + self.failed + self.skipped
    }
}

impl From<&Summary> for PingCounts {
    fn from(probe: &Summary) -> Self {
        // Of the interrupted ones only those that were not sent for want of time have a bound.
        let bounds = probe.durations.censored;
        let held_up = probe.held_up;
        let of_others = probe.timeout + probe.hung + probe.skipped - held_up.skipped;
        let interrupted = probe.interrupted - held_up.interrupted;
        let outrun = bounds.saturating_sub(of_others).min(interrupted);
        Self {
            due: probe.attempts,
            answered: probe.ok,
            late: probe.late,
            timeout: probe.timeout,
            hung: probe.hung,
            failed: probe.failures(),
            skipped: probe.skipped,
            outrun,
            held_up: held_up.interrupted,
            interrupted: interrupted - outrun,
        }
    }
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
    let every_ns = match &run.spec.workload {
        WorkloadSpec::Ping(spec) => spec.every_ns,
        WorkloadSpec::Check(_) | WorkloadSpec::Metadata(_) => Nanoseconds::ZERO,
    };
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

fn lost(probes: PingCounts, deadline_ns: Nanoseconds) -> Option<Finding> {
    let unanswered = probes.late + probes.timeout + probes.hung;
    if probes.lost() == 0 {
        return None;
    }
    let mut causes = Vec::new();
    if unanswered > 0 {
        causes.push(format!("{unanswered} without an answer within {deadline_ns}"));
    }
    if probes.skipped > 0 {
        // Nobody but a removal can have been in the way if every probe that was sent was answered in time.
        let when = if unanswered > 0 { "meanwhile" } else { "while the removal of a file waited" };
        causes.push(format!("{} skipped {when}", probes.skipped));
    }
    if probes.failed > 0 {
        causes.push(format!("{} with an error", probes.failed));
    }
    let due = counted(probes.due, "probe", "probes");
    let sentence = format!("{} of {due} went lost: {}.", probes.lost(), causes.join(", "));
    let advice = "`iolag export` gives every probe with its moment: compare them with what the server, the network and other \
                  jobs did then. `iolag watch` keeps looking.";
    Some(Finding::new(RunFindingKind::ProbesLost, Severity::Serious, sentence, advice))
}

/// Not sent, though nothing was lost: why, and what to do.
fn not_sent(probes: PingCounts, every_ns: Nanoseconds) -> impl Iterator<Item = Finding> {
    let due = counted(probes.due, "probe", "probes");
    let causes = [
        (
            probes.outrun,
            format!("the one before took longer than the {every_ns} from one to the next"),
            "They count as at least as long as that one still took. Take a longer `--every`, and compare what was sent.",
        ),
        (
            probes.held_up,
            "removing the file of the one before was not done".to_owned(),
            "That is no part of a probe, so they are in no duration; the row `remove` says how long it took. Take a longer `--every`.",
        ),
    ];
    causes.into_iter().filter(|(count, ..)| *count > 0).map(move |(count, why, advice)| {
        let were = if count == 1 { "was" } else { "were" };
        Finding::new(
            RunFindingKind::ProbesNotSent,
            Severity::Note,
            format!("{count} of {due} {were} not sent: {why}."),
            advice,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_name_the_cause_that_lines_and_summary_name() {
        let second = Nanoseconds::from_seconds(1);
        let held_up = PingCounts { due: 9, answered: 6, outrun: 1, held_up: 2, ..PingCounts::default() };
        let said: Vec<_> = not_sent(held_up, second).map(|finding| finding.sentence).collect();
        let expected = [
            "1 of 9 probes was not sent: the one before took longer than the 1.00 s from one to the next.",
            "2 of 9 probes were not sent: removing the file of the one before was not done.",
        ];
        assert_eq!(said, expected);
        let skipped = PingCounts { due: 9, answered: 6, skipped: 3, ..PingCounts::default() };
        let said = lost(skipped, second).map(|finding| finding.sentence);
        let expected = "3 of 9 probes went lost: 3 skipped while the removal of a file waited.";
        assert_eq!(said.as_deref(), Some(expected));
    }
}
