//! What is found in one directory of a check besides how it feels.

use iolag_model::{Nanoseconds, Operation};

use super::few_attempts::{is_said, told_few};
use crate::finding::run_kind::RunFindingKind;
use crate::finding::words::factor_in_words;
use crate::finding::{Finding, Severity};
use crate::run::any_workload::{common_sightings, median_ns, share_over, summary_of};
use crate::run::sightings::{Kind, Sighting, merged};
use crate::run::summary::Summary;

/// `ls -l` this many times slower than `ls -n` means that names are looked up somewhere slow.
const LOOKUP_FACTOR: f64 = 3.0;
/// Below this difference nobody feels the looking up.
const LOOKUP_LEAST: Nanoseconds = Nanoseconds::from_milliseconds(5);

/// Findings about one directory, in no promised order: what may be said of its rows, and what the `verdict` does not say already.
pub(crate) fn check_findings(
    summaries: &[Summary],
    unanswered_ns: Option<Nanoseconds>,
    verdict: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(unanswered_ns.map(not_answering));
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
    findings.extend(merged(sightings, &[]).into_iter().map(|(_, finding)| finding));
    findings.extend(told_few(summaries, verdict));
    findings
}

fn not_answering(age: Nanoseconds) -> Finding {
    let sentence = format!("The directory does not answer: the first contact has been waiting for {age}.");
    let advice = "Ask on the server side; on this host see `dmesg` and /proc/mounts. Programs that touch this mount \
                  will hang too.";
    Finding::new(RunFindingKind::NotAnswering, Severity::Serious, sentence, advice)
        .with("age", age.to_string(), age)
        .weighing(age.as_seconds())
}

/// Something could be measured, but not to the end.
pub(crate) fn measured_in_part(failure: &str) -> Finding {
    let sentence = format!("Not everything could be measured: {failure}.");
    Finding::new(
        RunFindingKind::MeasuredInPart,
        Severity::Serious,
        sentence,
        "Repeat the measurement when the cause is gone.",
    )
}

fn hung_operation(summary: &Summary) -> Option<Finding> {
    if summary.hung + summary.timeout == 0 {
        return None;
    }
    let operation = summary.key.operation;
    let age = summary.durations.max.lower_bound()?;
    let sentence = format!(
        "{} of {} `{operation}` did not end; the longest had been waiting for {age}.",
        summary.hung + summary.timeout,
        summary.attempts
    );
    let advice = "They count as \"at least\" this long. `iolag export` has each with its moment: ask on the server side, or see \
                  `dmesg`, what happened then.";
    Some(
        Finding::new(RunFindingKind::NotEnded, Severity::Serious, sentence, advice)
            .with("longest age", age.to_string(), age)
            .weighing(age.as_seconds()),
    )
}

/// Whether it is about long attempts of which none ended: another finding tells them.
fn only_hung(sighting: &Sighting, summaries: &[Summary]) -> bool {
    let Kind::Slow(limit) = sighting.kind else { return false };
    let summary = summaries.iter().find(|summary| Some(summary.key.operation) == sighting.operation);
    summary.is_some_and(|summary| {
        share_over(&summary.durations, limit).is_some_and(|(over, _)| over <= summary.hung + summary.timeout)
    })
}

fn names_looked_up(summaries: &[Summary]) -> Option<Finding> {
    let (names, numbers) =
        (summary_of(summaries, Operation::TaskList)?, summary_of(summaries, Operation::TaskListNumeric)?);
    let (with_names, without) = (median_ns(names)?, median_ns(numbers)?);
    let factor = with_names / without.max(1.0);
    // Two medians whose intervals meet, or that have none, are no difference.
    let (low, _) = names.durations.median.interval.bounds()?;
    let (_, high) = numbers.durations.median.interval.bounds()?;
    let apart = low > high;
    if factor < LOOKUP_FACTOR || with_names - without < LOOKUP_LEAST.0 as f64 || !apart {
        return None;
    }
    let sentence = format!(
        "`ls -l` is {} times slower than `ls -n`: looking up the names of users and groups takes the difference.",
        factor_in_words(factor)
    );
    let advice = "Enable a cache of the name service on this host (nscd, or sssd with caching) and check that its \
                  server answers quickly (`time getent passwd $USER`).";
    Some(
        Finding::new(RunFindingKind::NamesLookedUp, Severity::Warning, sentence, advice)
            .with_duration("median of", names.key.operation, names.durations.median.value)
            .with_duration("median of", numbers.key.operation, numbers.durations.median.value)
            .weighing(factor),
    )
}

/// By what a program waits for: until a small file is written, and until it is safe.
fn fsync_dominates(summaries: &[Summary]) -> Option<Finding> {
    let durable = summary_of(summaries, Operation::WriteDurably)?;
    let create = summary_of(summaries, Operation::Create)?;
    let (safe, written) = (median_ns(durable)?, median_ns(create)?);
    let factor = safe / written.max(1.0);
    if factor < 5.0 || safe < 1e6 {
        return None;
    }
    let sentence = format!(
        "Until a small file is safe takes {} (`write+fsync`), {} times as long as creating one.",
        Nanoseconds(safe as u64),
        factor_in_words(factor)
    );
    let advice = "Databases, editors and package managers wait for this. A device or server with a protected write \
                  cache would shorten it.";
    Some(
        Finding::new(RunFindingKind::DurableSlow, Severity::Note, sentence, advice)
            .with_duration("median of", durable.key.operation, durable.durations.median.value)
            .with_duration("median of", create.key.operation, create.durations.median.value)
            .weighing(factor),
    )
}

fn close_flushes(summaries: &[Summary]) -> Option<Finding> {
    let close = summary_of(summaries, Operation::CallCloseWritten)?;
    let write = summary_of(summaries, Operation::CallWrite)?;
    let (closing, writing) = (median_ns(close)?, median_ns(write)?);
    if closing < 5.0 * writing.max(1.0) || closing < 1e6 {
        return None;
    }
    let sentence = format!(
        "Closing a written file takes {}, {} times its write, as where data are sent to a server when a file is closed.",
        Nanoseconds(closing as u64),
        factor_in_words(closing / writing.max(1.0))
    );
    let advice = "NFS does that for close-to-open consistency. Each small file pays it: put scratch and build directories \
                  on local storage, or pack small files.";
    Some(
        Finding::new(RunFindingKind::CloseSlow, Severity::Note, sentence, advice)
            .with_duration("median of", close.key.operation, close.durations.median.value)
            .with_duration("median of", write.key.operation, write.durations.median.value)
            .weighing(closing / writing.max(1.0)),
    )
}

fn create_slower_than_stat(summaries: &[Summary]) -> Option<Finding> {
    let (create, stat) = (summary_of(summaries, Operation::Create)?, summary_of(summaries, Operation::Stat)?);
    let (creating, asking) = (median_ns(create)?, median_ns(stat)?);
    let factor = creating / asking.max(1.0);
    if factor < 100.0 || creating < 1e6 {
        return None;
    }
    let sentence = format!(
        "Creating a small file takes {}, {} times as long as asking for one's attributes.",
        Nanoseconds(creating as u64),
        factor_in_words(factor)
    );
    let advice = "Unpacking archives and building software will feel slow although browsing feels fast, as where attributes come \
                  from a cache and only creations go to a server.";
    Some(
        Finding::new(RunFindingKind::CreateSlow, Severity::Note, sentence, advice)
            .with_duration("median of", create.key.operation, create.durations.median.value)
            .with_duration("median of", stat.key.operation, stat.durations.median.value)
            .weighing(factor),
    )
}

/// Removing is usually about as much work as creating.
fn remove_slower_than_create(summaries: &[Summary]) -> Option<Finding> {
    let (create, delete) =
        (summary_of(summaries, Operation::Create)?, summary_of(summaries, Operation::Delete)?);
    let (creating, deleting) = (median_ns(create)?, median_ns(delete)?);
    let (_, create_high) = create.durations.median.interval.bounds()?;
    let (delete_low, _) = delete.durations.median.interval.bounds()?;
    let factor = deleting / creating.max(1.0);
    if factor < 10.0 || deleting < 1e6 || delete_low <= create_high {
        return None;
    }
    let sentence = format!(
        "Removing a small file takes {}, {} times as long as creating one.",
        Nanoseconds(deleting as u64),
        factor_in_words(factor)
    );
    let advice = "Cleaning up after builds and jobs takes longer than they took to write. A file system mounted with `discard` \
                  tells the device about every removed file at once: if it is (see /proc/mounts), a regular fstrim does that \
                  more cheaply.";
    Some(
        Finding::new(RunFindingKind::RemoveSlow, Severity::Note, sentence, advice)
            .with_duration("median of", delete.key.operation, delete.durations.median.value)
            .with_duration("median of", create.key.operation, create.durations.median.value)
            .weighing(factor),
    )
}
