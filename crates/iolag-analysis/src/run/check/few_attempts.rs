//! What may be said of rows with few attempts, and that nothing is said twice.
//!
//! Of fewer than six attempts neither a share nor a median says anything: they are told as what they are.

use iolag_model::{Level, Operation};

use crate::finding::Severity;
use crate::finding::of_runs::{
    CloseSlow, CreateSlow, DurableSlow, FewButLong, NamesLookedUp, RemoveSlow, RunFinding, RunFound,
};
use crate::run::any_workload::patience;
use crate::run::summary::Summary;
use crate::statistics::quantile::censored::ATTEMPTS_LEAST;

/// Whether a finding is to be told: it does not rest on rows of `summaries` with few attempts, and the `verdict` does not say it
/// already.
pub(crate) fn is_said(finding: &RunFinding, summaries: &[Summary], verdict: &str) -> bool {
    let operations = durations_of(&finding.found);
    let concerned = summaries.iter().filter(|summary| operations.contains(&summary.key.operation));
    !concerned.into_iter().any(|summary| {
        let told = || verdict.contains(&format!("`{}` took over", summary.key.operation));
        is_few(summary) || (matches!(finding.found, RunFound::LongAttempts(_)) && told())
    })
}

/// The operations whose durations it rests on.
fn durations_of(found: &RunFound) -> Vec<Operation> {
    match found {
        RunFound::LongAttempts(found) => vec![found.operation],
        RunFound::NamesLookedUp(NamesLookedUp(pair))
        | RunFound::DurableSlow(DurableSlow(pair))
        | RunFound::CloseSlow(CloseSlow(pair))
        | RunFound::CreateSlow(CreateSlow(pair))
        | RunFound::RemoveSlow(RemoveSlow(pair)) => vec![pair.slow.0, pair.quick.0],
        _ => Vec::new(),
    }
}

/// The few attempts that took long and that the `verdict` does not name, as one finding.
pub(crate) fn told_few(summaries: &[Summary], verdict: &str) -> Option<RunFinding> {
    let is_long = |summary: &&Summary| {
        let longest = summary.durations.max.lower_bound();
        longest.is_some_and(|longest| longest > patience(summary.key.operation))
    };
    let is_told = |summary: &&Summary| verdict.contains(&format!("`{}`", summary.key.operation));
    let few = summaries.iter().filter(|summary| is_few(summary));
    let long: Vec<&Summary> = few.filter(is_long).filter(|summary| !is_told(summary)).collect();
    let longest = long.iter().filter_map(|summary| summary.durations.max.lower_bound()).max()?;
    let row = |summary: &Summary| (summary.key.operation, summary.durations.count, summary.durations.max);
    let found = RunFound::FewButLong(FewButLong { rows: long.into_iter().map(row).collect() });
    Some(RunFinding::new(found, Severity::Warning).sized(longest.as_seconds()))
}

/// Streams are not about feeling.
fn is_few(summary: &Summary) -> bool {
    let is_felt = matches!(summary.key.operation.level(), Level::Task | Level::Object | Level::Call);
    is_felt && (1..ATTEMPTS_LEAST).contains(&summary.durations.count)
}
