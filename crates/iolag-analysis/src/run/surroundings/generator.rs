//! Whether it was the generator: the moments at which the host that measured was beyond limits of its own.

use std::collections::BTreeMap;

use iolag_model::{GeneratorLimit, GeneratorRecord, MarkedSpan, Nanoseconds};

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
    // Who does not tell how long they were knows how long they were at least.
    let time = |told: Nanoseconds, intervals: u64| {
        told.max(Nanoseconds(record.interval_ns.0.saturating_mul(intervals)))
    };
    let of_ns = time(record.time_ns, record.intervals);
    // What a damaged file says is no more than all there was.
    let longer = |sum: Nanoseconds, by: Nanoseconds| Nanoseconds(sum.0.saturating_add(by.0)).min(of_ns);
    let (mut intervals, mut time_ns, mut by_limit) = (0_u64, Nanoseconds::ZERO, BTreeMap::new());
    for span in &record.marked {
        let of_span = time(span.time_ns, span.intervals);
        intervals = intervals.saturating_add(span.intervals);
        time_ns = longer(time_ns, of_span);
        for limit in &span.beyond {
            let of_limit = by_limit.entry(*limit).or_insert(Nanoseconds::ZERO);
            *of_limit = longer(*of_limit, of_span);
        }
    }
    let share = time_ns.0 as f64 / of_ns.0.max(1) as f64;
    let mut limits: Vec<(GeneratorLimit, Nanoseconds)> = by_limit.into_iter().collect();
    limits.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let found = || GeneratorBusy { time_ns, of_ns, share, limits };
    (intervals >= INTERVALS_LEAST && share >= SHARE_LEAST).then(found)
}

/// The share of the time in which all processors that the run may use were busy; absent of a time that is too short to say.
pub(crate) fn processors_full(record: &GeneratorRecord) -> Option<f64> {
    if record.intervals < INTERVALS_LEAST {
        return None;
    }
    let is_full = |span: &&MarkedSpan| span.beyond.contains(&GeneratorLimit::Processors);
    let full: u64 = record.marked.iter().filter(is_full).map(|span| span.intervals).sum();
    Some((full as f64 / record.intervals as f64).min(1.0))
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
    use iolag_model::GeneratorLimit::{Lag, Measurer, Ports, Processors};
    use iolag_model::MonotonicTime;

    fn seconds(seconds: u64) -> Nanoseconds {
        Nanoseconds::from_seconds(seconds)
    }

    /// What is found of so many seconds, of which these were beyond limits.
    fn found(intervals: u64, marked: &[(u64, &[GeneratorLimit])]) -> Option<GeneratorBusy> {
        generator_busy(&recorded(intervals, marked))
    }

    /// Without how long the intervals were.
    fn recorded(intervals: u64, marked: &[(u64, &[GeneratorLimit])]) -> GeneratorRecord {
        let span = |(intervals, beyond): &(u64, &[GeneratorLimit])| MarkedSpan {
            begin: MonotonicTime(0),
            end: MonotonicTime(intervals.saturating_mul(1_000_000_000)),
            intervals: *intervals,
            time_ns: Nanoseconds::ZERO,
            beyond: beyond.to_vec(),
        };
        GeneratorRecord {
            interval_ns: seconds(1),
            intervals,
            time_ns: Nanoseconds::ZERO,
            heartbeats: Vec::new(),
            measurers: Vec::new(),
            marked: marked.iter().map(span).collect(),
        }
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
    fn it_is_known_how_long_processors_were_full_of_three_seconds_on() {
        let of = |intervals, marked| processors_full(&recorded(intervals, marked));
        assert_eq!(of(2, &[(2, &[Processors])]), None);
        assert_eq!(of(4, &[(1, &[Lag]), (2, &[Lag, Processors]), (1, &[Processors])]), Some(0.75));
        assert_eq!(of(9, &[]), Some(0.0));
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
    fn marks_of_a_damaged_file_are_no_more_than_all_the_time() {
        let busy = found(9, &[(u64::MAX, &[Lag]), (u64::MAX, &[Lag, Lag])]).unwrap();
        assert_eq!((busy.time_ns, busy.limits), (seconds(9), vec![(Lag, seconds(9))]));
        assert_eq!(found(0, &[(5, &[Lag])]), None);
    }

    #[test]
    fn intervals_are_as_long_as_they_were() {
        let mut record = recorded(60, &[(20, &[Lag]), (10, &[Measurer])]);
        record.time_ns = seconds(80);
        record.marked[0].time_ns = seconds(30);
        let busy = generator_busy(&record).unwrap();
        assert_eq!((busy.time_ns, busy.of_ns, busy.share), (seconds(40), seconds(80), 0.5));
        assert_eq!(busy.limits, [(Lag, seconds(30)), (Measurer, seconds(10))]);
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
