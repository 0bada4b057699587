//! What any workload may give: slow attempts, failures, two modes; and what is to be known of nearly every result.

use iolag_model::{ErrorClass, Nanoseconds, Operation, counted, format_count};

use super::sightings::{Kind, Sighting};
use super::stage_names::StageKey;
use super::summary::{DurationSummary, ErrorCount, Summary};
use crate::finding::run_kind::RunFindingKind;
use crate::finding::words::{capitalised, share_in_words};
use crate::finding::{EvidenceAmount, Finding, Severity};
use crate::statistics::quantile::censored::QuantileValue;

/// The median in ns, or its lower bound.
pub(crate) fn median_ns(summary: &Summary) -> Option<f64> {
    summary.durations.median.value.lower_bound().map(|median| median.0 as f64)
}

/// The summary of this operation, if it was attempted.
pub(crate) fn summary_of(summaries: &[Summary], operation: Operation) -> Option<&Summary> {
    summaries.iter().find(|summary| summary.key.operation == operation && summary.durations.count > 0)
}

/// Share of attempts over a threshold, if that threshold was counted.
pub(crate) fn share_over(durations: &DurationSummary, threshold: Nanoseconds) -> Option<(u64, f64)> {
    let share = durations.shares.iter().find(|share| share.threshold_ns == threshold)?;
    (durations.count > 0).then(|| (share.over, share.over as f64 / durations.count as f64))
}

/// What stands before a number of attempts over a threshold if some were cut off before it.
pub(crate) fn at_least(durations: &DurationSummary, threshold: Nanoseconds) -> &'static str {
    let share = durations.shares.iter().find(|share| share.threshold_ns == threshold);
    if share.is_some_and(|share| share.undecided > 0) { "at least " } else { "" }
}

/// What any workload may give in one place: slow attempts, failures, two modes. `is_explained` says which failures only follow
/// from others.
pub(crate) fn common_sightings(
    summaries: &[&Summary],
    stage: Option<StageKey>,
    is_explained: impl Fn(Operation, ErrorClass) -> bool,
) -> Vec<Sighting> {
    let mut sightings = Vec::new();
    for summary in summaries {
        let mut sight = |(kind, weight, finding): (Kind, f64, Finding)| {
            let operation = Some(summary.key.operation);
            sightings.push(Sighting { kind, operation, stage, weight, finding });
        };
        over_one_second(summary).into_iter().for_each(&mut sight);
        let own = |error: &&ErrorCount| !is_explained(summary.key.operation, error.class);
        summary.errors.iter().filter(own).map(|error| failed(summary, *error)).for_each(&mut sight);
        two_modes(summary).into_iter().for_each(&mut sight);
    }
    sightings
}

/// Whoever compiles or makes 500 files expects to wait; whoever lists a directory does not.
pub(crate) const fn patience(operation: Operation) -> Nanoseconds {
    match operation {
        Operation::TaskCompile | Operation::TaskCreate => Nanoseconds::from_seconds(10),
        _ => Nanoseconds::from_seconds(1),
    }
}

fn over_one_second(summary: &Summary) -> Option<(Kind, f64, Finding)> {
    let operation = summary.key.operation;
    let patience = patience(operation);
    let (over, share) = share_over(&summary.durations, patience)?;
    if over == 0 || summary.hung == summary.durations.count {
        return None;
    }
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let count = summary.durations.count;
    let at_least = at_least(&summary.durations, patience);
    let sentence = format!(
        "{at_least}{over} of {count} `{operation}` ({}) took over {patience}.",
        share_in_words(share)
    );
    let sentence = capitalised(&sentence);
    let advice = "Repeat the measurement at different times of the day to see when this happens, and look at server load, \
                  network and quota scans at these times.";
    let finding = Finding::new(RunFindingKind::Slow, severity, sentence, advice).with_duration(
        "longest",
        summary.key.operation,
        summary.durations.max,
    );
    Some((Kind::Slow(patience), share, finding))
}

fn failed(summary: &Summary, error: ErrorCount) -> (Kind, f64, Finding) {
    let ErrorCount { class, count } = error;
    let sentence = format!(
        "{} of {} `{}` failed: {class}.",
        format_count(count),
        format_count(summary.attempts),
        summary.key.operation
    );
    let advice = "Failed attempts are in no quantile; repeat after the cause is gone.";
    let finding = Finding::new(RunFindingKind::Failed, Severity::Serious, sentence, advice);
    (Kind::Failed(class), count as f64 / summary.attempts.max(1) as f64, finding)
}

fn two_modes(summary: &Summary) -> Option<(Kind, f64, Finding)> {
    let modes = summary.durations.modes?;
    let (fast, slow) = (modes.fast_ns, modes.slow_ns);
    // Two modes below what anyone feels are of interest to nobody but the cache's author.
    if slow < Nanoseconds::from_milliseconds(10) {
        return None;
    }
    let share = share_in_words(modes.fast_share);
    let sentence = format!(
        "`{}` is either fast or slow: {share} take about {fast}, the others about {slow}, with hardly anything between.",
        summary.key.operation
    );
    let advice = "That is what a cache and the price of missing it look like: find out what the slow ones have in \
                  common (`iolag export` gives every attempt with its time).";
    let finding = Finding::new(RunFindingKind::TwoModes, Severity::Warning, sentence, advice).with(
        "share of the fast",
        share,
        EvidenceAmount::Share(modes.fast_share),
    );
    Some((Kind::TwoModes, slow.0 as f64, finding))
}

/// What is to be known of nearly every result, each in a few words: it is no finding. `summaries` are the rows of all tables.
pub(crate) fn footnotes<'a>(
    summaries: impl Iterator<Item = &'a Summary> + Clone,
    overhead_ns: f64,
) -> Vec<String> {
    let mut told: Vec<String> = too_few_for_p99(summaries.clone()).into_iter().collect();
    told.extend(in_few_stretches(summaries.clone()));
    told.extend(overhead_matters(summaries, overhead_ns));
    told
}

fn too_few_for_p99<'a>(summaries: impl Iterator<Item = &'a Summary>) -> Option<String> {
    let (mut rows, mut few, mut most, mut alike) = (0_u64, 0_u64, 0, "");
    for summary in summaries.filter(|summary| summary.durations.count > 0) {
        rows += 1;
        if let QuantileValue::TooFew { needed, .. } = summary.durations.p99.value {
            (few, most) = (few + 1, needed.max(most));
            // There are enough, but they resemble each other.
            if summary.durations.count >= needed {
                alike = "independent ";
            }
        }
    }
    (few > 0).then(|| {
        format!(
            "{} of {} {} too few {alike}attempts for a p99 ({most} are needed).",
            format_count(few),
            counted(rows, "row", "rows"),
            if few == 1 { "has" } else { "have" }
        )
    })
}

/// Of which operation the slowest attempts came in fewest stretches of time: how often such times come is not known.
fn in_few_stretches<'a>(summaries: impl Iterator<Item = &'a Summary>) -> Option<String> {
    let few = |summary: &'a Summary| {
        let durations = &summary.durations;
        let tails = [&durations.p90, &durations.p95, &durations.p99].into_iter();
        let tail = tails.filter_map(|tail| match tail.value {
            QuantileValue::FewStretches { stretches } => Some((stretches, tail.q, summary.key.operation)),
            _ => None,
        });
        tail.min_by_key(|tail| tail.0)
    };
    let (stretches, q, operation) = summaries.filter_map(few).min_by_key(|tail| tail.0)?;
    let (share, percent) = (100.0 * (1.0 - q), 100.0 * q);
    Some(match stretches {
        1 => format!(
            "The slowest of `{operation}` lie in a single stretch of time: too few for a p{percent:.0}."
        ),
        _ => format!(
            "The slowest {share:.0} % of `{operation}` lie in {stretches} stretches of time: too few for a p{percent:.0}."
        ),
    })
}

fn overhead_matters<'a>(
    summaries: impl Iterator<Item = &'a Summary> + Clone,
    overhead_ns: f64,
) -> Option<String> {
    let shortest = summaries.clone().filter_map(|summary| match summary.durations.min {
        QuantileValue::Exactly(min) => Some(min),
        _ => None,
    });
    // What a duration has of it is in the shortest one, too.
    let overhead_ns = overhead_ns.min(shortest.min()?.0 as f64);
    let (summary, share) = summaries
        .filter_map(|summary| Some((summary, overhead_ns / median_ns(summary)?)))
        .filter(|(_, share)| share.is_finite())
        .max_by(|left, right| left.1.total_cmp(&right.1))?;
    (share > 0.05).then(|| {
        format!(
            "Measuring itself adds at most {overhead_ns:.0} ns to a duration, up to {} of a median (`{}`).",
            share_in_words(share),
            summary.key.operation
        )
    })
}
