//! Payloads that were really run, in words.

use iolag_analysis::{PayloadTimes, Recommendation};
use iolag_model::{Nanoseconds, counted, format_count, format_duration};

/// `Of 96 payloads 3 failed, and their jobs are not done.`
pub(super) fn failed_payloads(told: &Recommendation) -> Option<String> {
    let payloads = || told.levels.iter().filter_map(|level| level.payload);
    let failed: u64 = payloads().map(|payload| payload.failed).sum();
    let all = failed + payloads().map(|payload| payload.done).sum::<u64>();
    let jobs = if failed == 1 { "its job is" } else { "their jobs are" };
    let payloads = counted(all, "payload", "payloads");
    (failed > 0).then(|| format!("Of {payloads} {} failed, and {jobs} not done.", format_count(failed)))
}

/// `Then each that was set up ran its payload, for a mean of 2.01 s, which took 1.99 s of processors; 1 of 4 failed.`
pub(crate) fn payload_sentence(payload: &PayloadTimes) -> String {
    let all = payload.done + payload.failed;
    let each = if all == 1 {
        "it ran its payload, for"
    } else {
        "each that was set up ran its payload, for a mean of"
    };
    let failed = match (payload.failed, all) {
        (0, _) => String::new(),
        (1, 1) => ", and it failed".to_owned(),
        (failed, all) => format!("; {} of {} failed", format_count(failed), format_count(all)),
    };
    format!(
        "Then {each} {}, which took {} of processors{failed}.",
        duration_in_words(payload.mean_ns),
        duration_in_words(payload.processor_mean_ns)
    )
}

pub(super) fn duration_in_words(ns: f64) -> String {
    format_duration(Nanoseconds(ns.max(0.0) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_run_it_is_told_what_payloads_took() {
        let times = |done, failed| PayloadTimes { done, failed, mean_ns: 2e9, processor_mean_ns: 5e7 };
        for (payload, expected) in [
            (times(1, 0), "Then it ran its payload, for 2.00 s, which took 50.0 ms of processors."),
            (
                times(0, 1),
                "Then it ran its payload, for 2.00 s, which took 50.0 ms of processors, and it failed.",
            ),
            (
                times(3, 1),
                "Then each that was set up ran its payload, for a mean of 2.00 s, which took 50.0 ms of processors; 1 of 4 failed.",
            ),
        ] {
            assert_eq!(payload_sentence(&payload).replace(['\u{202f}', '\u{a0}'], " "), expected);
        }
    }
}
