//! Whether the target itself failed while it was measured: filled up, turned read-only, vanished; or somebody removed what was
//! measured.
//!
//! A failed operation is data, and a run with some of them is complete. But when the place that was to be measured is no
//! longer there, or takes nothing any more, or its working set is gone, what was to be measured was not: such a run is incomplete,
//! and says why.

use std::collections::BTreeMap;

use iolag_analysis::{LostObjects, Summaries, Summary, WorkingSet, analyse_metadata};
use iolag_model::{ErrorClass, Level, Operation, RunRecord, counted, ending::TARGET_FAILED, format_count};

/// Marks the record of a run whose target failed. Returns whether anything was changed.
pub fn note_in(record: &mut RunRecord, summaries: &Summaries) -> bool {
    // Of a program that is repeated only what it found was there, and that is told as a share.
    if record.spec.workload.replay().is_some() {
        return false;
    }
    let lost = match analyse_metadata(record, summaries).working_set {
        WorkingSet::Lost(lost) if lost.is_destroyed() => Some(lost),
        _ => None,
    };
    let unmistakable = |class| lost.is_none() || class != ErrorClass::NotFound;
    let reasons = [lost.as_ref().map(LostObjects::in_words), reason(&summaries.summaries, unmistakable)];
    let mut is_changed = false;
    for reason in reasons.into_iter().flatten() {
        record.state.add_reason(reason);
        is_changed = true;
    }
    is_changed
}

/// Marks the record of a check that measured nothing in a directory whose failure is not told yet. Returns whether anything was changed.
pub fn note_unmeasured(record: &mut RunRecord, summaries: &Summaries) -> bool {
    if record.spec.workload.check().is_none() {
        return false;
    }
    let directories = record.spec.targets.len();
    let is_measured = |index: usize| {
        summaries.summaries.iter().map(|summary| summary.key).any(|key| {
            key.target.is_none_or(|target| usize::from(target.0) == index)
                && key.operation.level() != Level::Harness
        })
    };
    let unmeasured = record.targets.iter().take(directories).enumerate();
    let count = unmeasured.filter(|(index, target)| target.failure.is_none() && !is_measured(*index)).count();
    if count > 0 {
        let all = counted(directories as u64, "directory", "directories");
        record.state.add_reason(format!("nothing was measured in {count} of {all}"));
    }
    count > 0
}

/// How the target failed. `counts` leaves out what is told otherwise.
fn reason(summaries: &[Summary], counts: impl Fn(ErrorClass) -> bool) -> Option<String> {
    // A probe fails with the operation that it fails in: that is one failure.
    let is_ping = summaries.iter().any(|summary| summary.key.operation == Operation::Probe);
    let (one, many) = if is_ping { ("probe", "probes") } else { ("operation", "operations") };
    let failed = summaries
        .iter()
        .filter(|summary| !is_ping || summary.key.operation == Operation::Probe)
        .filter(|summary| {
            !summary.key.operation.is_of_caches() && summary.key.operation != Operation::Payload
        })
        .filter(|summary| target_failed(summary, &counts));
    let (mut attempts, mut failures) = (0, 0);
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    for summary in failed {
        attempts += summary.attempts;
        for error in summary.errors.iter().filter(|error| counts(error.class)) {
            failures += error.count;
            *classes.entry(error.class.to_string()).or_default() += error.count;
        }
    }
    if failures == 0 {
        return None;
    }
    let mut classes: Vec<_> = classes.into_iter().collect();
    classes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names: Vec<_> = classes.into_iter().map(|(name, _)| name).collect();
    Some(format!(
        "{TARGET_FAILED}: {} of {} ended with {}",
        format_count(failures),
        counted(attempts, one, many),
        names.join(", ")
    ))
}

/// Some failures speak for themselves; others do if nothing of the kind succeeded.
fn target_failed(summary: &Summary, counts: impl Fn(ErrorClass) -> bool) -> bool {
    let all_failed = summary.failures() == summary.attempts;
    summary.errors.iter().filter(|error| counts(error.class)).any(|error| match error.class {
        ErrorClass::NoSpace | ErrorClass::ReadOnly | ErrorClass::Stale | ErrorClass::Connection => true,
        ErrorClass::NotFound | ErrorClass::InputOutput | ErrorClass::Permission => all_failed,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_analysis::{Engine, Grouping};
    use iolag_model::{FailureCode, Outcome, SampleColumns};

    /// What is said of 10 reads of which `failed` ended with `errno`.
    fn said(failed: usize, errno: i32) -> Option<String> {
        let or = |bad: i32, good: i32| -> Vec<i32> {
            (0..10).map(|number| if number < failed { bad } else { good }).collect()
        };
        let outcomes = or(Outcome::Error as i32, Outcome::Ok as i32);
        let codes = or(i32::from(FailureCode::from_errno(errno).0), 0);
        let columns = SampleColumns {
            client: &[0; 10],
            stage: &[0; 10],
            target: &[0; 10],
            operation_code: &[Operation::Read as i32; 10],
            outcome_code: &outcomes,
            failure_code: &codes,
            start_ns: &[1; 10],
            duration_ns: &[5; 10],
            bytes: &[0; 10],
            ..SampleColumns::default()
        };
        let mut engine = Engine::for_samples(10, 1 << 20, Grouping::default());
        engine.batch(columns);
        reason(&engine.finish().summaries, |_| true)
    }

    #[test]
    fn a_full_target_failed_and_a_faulty_one_did_not() {
        let full = said(1, libc::ENOSPC).unwrap();
        assert!(full.ends_with("1 of 10 operations ended with no space left"), "{full}");
        assert_eq!(said(9, libc::ENOENT), None);
        assert!(said(10, libc::ENOENT).unwrap().contains("not found"));
        assert_eq!(said(10, libc::EBUSY), None);
        assert_eq!(said(0, libc::ENOSPC), None);
    }
}
