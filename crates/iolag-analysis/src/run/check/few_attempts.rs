//! What may be said of rows with few attempts, and that nothing is said twice.
//!
//! Of fewer than six attempts neither a share nor a median says anything: they are told as what they are.

use iolag_model::Level;

use crate::finding::run_kind::RunFindingKind;
use crate::finding::words::duration_in_words;
use crate::finding::{Finding, Severity};
use crate::run::any_workload::patience;
use crate::run::summary::Summary;
use crate::statistics::quantile::censored::ATTEMPTS_LEAST;

/// Whether a finding is to be told: it does not rest on rows of `summaries` with few attempts, and the `verdict` does not say it
/// already.
pub(crate) fn is_said(finding: &Finding, summaries: &[Summary], verdict: &str) -> bool {
    let concerned = summaries.iter().filter(|summary| finding.durations_of.contains(&summary.key.operation));
    !concerned.into_iter().any(|summary| {
        let told = || verdict.contains(&format!("`{}` took over", summary.key.operation));
        is_few(summary) || (finding.kind == RunFindingKind::Slow && told())
    })
}

/// The few attempts that took long and that the `verdict` does not name, in one sentence.
pub(crate) fn told_few(summaries: &[Summary], verdict: &str) -> Option<Finding> {
    let is_long = |summary: &&Summary| {
        let longest = summary.durations.max.lower_bound();
        longest.is_some_and(|longest| longest > patience(summary.key.operation))
    };
    let is_told = |summary: &&Summary| verdict.contains(&format!("`{}`", summary.key.operation));
    let few = summaries.iter().filter(|summary| is_few(summary));
    let long: Vec<&Summary> = few.filter(is_long).filter(|summary| !is_told(summary)).collect();
    let longest = long.iter().filter_map(|summary| summary.durations.max.lower_bound()).max()?;
    let words: Vec<String> = long.into_iter().map(words).collect();
    let sentence = format!("Few attempts, but long: {}.", words.join(", "));
    let advice =
        "Give it more time (`--budget`), or watch it (`iolag watch`): so few attempts may be an accident.";
    Some(
        Finding::new(RunFindingKind::FewButLong, Severity::Warning, sentence, advice)
            .weighing(longest.as_seconds()),
    )
}

/// Streams are not about feeling.
fn is_few(summary: &Summary) -> bool {
    let is_felt = matches!(summary.key.operation.level(), Level::Task | Level::Object | Level::Call);
    is_felt && (1..ATTEMPTS_LEAST).contains(&summary.durations.count)
}

fn words(summary: &Summary) -> String {
    let longest = duration_in_words(summary.durations.max);
    match summary.durations.count {
        1 => format!("the one `{}` took {longest}", summary.key.operation),
        count => format!("the longest of {count} `{}` took {longest}", summary.key.operation),
    }
}
