//! What any workload may give: slow attempts, failures, two modes; and what is to be known of nearly every result.

use iolag_model::{ErrorClass, Nanoseconds, Operation, counted, format_count};

use super::sightings::Sighting;
use super::stage_names::StageKey;
use super::summary::{DurationSummary, ErrorCount, Summary};
use crate::finding::Severity;
use crate::finding::of_runs::{FailedAttempts, LongAttempts, RunFinding, RunFound, TwoModesFound};
use crate::finding::words::share_in_words;
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

/// Whether some attempts were cut off before a threshold, so that more than were counted may have been over it.
pub(crate) fn is_at_least(durations: &DurationSummary, threshold: Nanoseconds) -> bool {
    let share = durations.shares.iter().find(|share| share.threshold_ns == threshold);
    share.is_some_and(|share| share.undecided > 0)
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
        let mut sight = |finding| {
            sightings.push(Sighting { operation: Some(summary.key.operation), stage, finding });
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
        // As long as the bytes take that are waited for.
        Operation::StreamFsync
        | Operation::StreamCloseWritten
        | Operation::StreamAllocate
        | Operation::StreamCp
        | Operation::StreamCompare
        | Operation::TreeRead => Nanoseconds(u64::MAX),
        _ => Nanoseconds::from_seconds(1),
    }
}

fn over_one_second(summary: &Summary) -> Option<RunFinding> {
    let operation = summary.key.operation;
    let patience_ns = patience(operation);
    let (over, share) = share_over(&summary.durations, patience_ns)?;
    if over == 0 || summary.hung == summary.durations.count {
        return None;
    }
    let severity = if share >= 0.01 { Severity::Serious } else { Severity::Warning };
    let found = RunFound::LongAttempts(LongAttempts {
        operation,
        patience_ns,
        over,
        is_at_least: is_at_least(&summary.durations, patience_ns),
        of: summary.durations.count,
        longest: summary.durations.max,
    });
    Some(RunFinding::new(found, severity).sized(share))
}

fn failed(summary: &Summary, ErrorCount { class, count }: ErrorCount) -> RunFinding {
    let of = summary.attempts;
    let found = FailedAttempts { operation: summary.key.operation, class, count, of };
    RunFinding::new(RunFound::FailedAttempts(found), Severity::Serious).sized(count as f64 / of.max(1) as f64)
}

fn two_modes(summary: &Summary) -> Option<RunFinding> {
    let modes = summary.durations.modes?;
    // Two modes below what anyone feels are of interest to nobody but the cache's author.
    // Files of a tree are short and long.
    if modes.slow_ns < Nanoseconds::from_milliseconds(10) || summary.key.operation == Operation::TreeRead {
        return None;
    }
    let found = RunFound::TwoModes(TwoModesFound { operation: summary.key.operation, modes });
    Some(RunFinding::new(found, Severity::Warning).sized(modes.slow_ns.0 as f64))
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
