//! Whether it was the generator: the moments at which the host that measured was beyond limits of its own.

use std::collections::BTreeMap;

use iolag_model::{GeneratorLimit, GeneratorRecord, Nanoseconds};

use crate::finding::Severity;
use crate::finding::of_runs::{GeneratorBusy, RunFinding, RunFound};

/// Fewer intervals happen on any host, as when all clients begin.
const INTERVALS_LEAST: u64 = 3;
/// What is so in less of the time makes no p99.
const SHARE_LEAST: f64 = 0.01;
/// What is so in more of the time is in every p90.
const SHARE_GRAVE: f64 = 0.1;

/// What was seen of a generator, if it was beyond limits for a share of the time that matters.
pub(crate) fn generator_busy(record: &GeneratorRecord) -> Option<GeneratorBusy> {
    let (mut intervals, mut by_limit) = (0, BTreeMap::<GeneratorLimit, u64>::new());
    for span in &record.marked {
        intervals += span.intervals;
        for limit in &span.beyond {
            *by_limit.entry(*limit).or_default() += span.intervals;
        }
    }
    let time = |intervals: u64| Nanoseconds(record.interval_ns.0.saturating_mul(intervals));
    let share = intervals as f64 / record.intervals.max(1) as f64;
    let mut limits: Vec<_> = by_limit.into_iter().map(|(limit, count)| (limit, time(count))).collect();
    limits.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let found = || GeneratorBusy { time_ns: time(intervals), of_ns: time(record.intervals), share, limits };
    (intervals >= INTERVALS_LEAST && share >= SHARE_LEAST).then(found)
}

/// The finding of a run that is there to make load.
pub(crate) fn of_load(busy: GeneratorBusy) -> RunFinding {
    let severity = if busy.share >= SHARE_GRAVE { Severity::Warning } else { Severity::Note };
    RunFinding::new(RunFound::GeneratorBusy(busy), severity)
}

/// The finding of a run that tells how a host feels, which is also how busy it is.
pub(crate) fn of_a_look(busy: GeneratorBusy) -> RunFinding {
    RunFinding::new(RunFound::GeneratorBusy(busy), Severity::Note)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::GeneratorLimit::{Lag, Ports, Processors};
    use iolag_model::{MarkedSpan, MonotonicTime};

    fn seconds(seconds: u64) -> Nanoseconds {
        Nanoseconds::from_seconds(seconds)
    }

    /// What is found of so many seconds, of which these were beyond limits.
    fn found(intervals: u64, marked: &[(u64, &[GeneratorLimit])]) -> Option<GeneratorBusy> {
        let span = |(intervals, beyond): &(u64, &[GeneratorLimit])| MarkedSpan {
            begin: MonotonicTime(0),
            end: MonotonicTime(seconds(*intervals).0),
            intervals: *intervals,
            beyond: beyond.to_vec(),
        };
        let record = GeneratorRecord {
            interval_ns: seconds(1),
            intervals,
            heartbeats: Vec::new(),
            measurers: Vec::new(),
            marked: marked.iter().map(span).collect(),
        };
        generator_busy(&record)
    }

    #[test]
    fn it_takes_a_hundredth_of_the_time_and_three_seconds() {
        assert_eq!(found(100, &[]), None);
        assert_eq!(found(2, &[(2, &[Processors])]), None, "that is all of a short run, and says little");
        assert!(found(3, &[(3, &[Processors])]).is_some());
        assert!(found(300, &[(1, &[Lag]), (2, &[Ports])]).is_some());
        assert_eq!(found(301, &[(1, &[Lag]), (2, &[Ports])]), None, "that makes no p99");
    }

    #[test]
    fn each_limit_is_told_with_its_time_and_no_second_twice() {
        let marked: &[(u64, &[GeneratorLimit])] =
            &[(4, &[Lag]), (30, &[Lag, Processors]), (6, &[Processors])];
        let busy = found(80, marked).unwrap();
        assert_eq!((busy.time_ns, busy.of_ns, busy.share), (seconds(40), seconds(80), 0.5));
        assert_eq!(busy.limits, [(Processors, seconds(36)), (Lag, seconds(34))]);
    }

    #[test]
    fn under_a_tenth_of_the_time_it_is_a_note_and_of_a_check_always() {
        let severities = |seconds| {
            let busy = found(100, &[(seconds, &[Lag])]).unwrap();
            [of_load(busy.clone()).severity, of_a_look(busy).severity]
        };
        assert_eq!(severities(9), [Severity::Note; 2]);
        assert_eq!(severities(10), [Severity::Warning, Severity::Note]);
    }
}
