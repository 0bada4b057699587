//! What is recorded of a probe: one sample for each of its parts, from what its child stamped and what became of its process.
//!
//! | part | recorded as |
//! |---|---|
//! | ended within the deadline | `ok`, or `error` with its failure |
//! | ended by itself after it | `late` with its true duration, or `error` |
//! | in flight when the probe was ended at its deadline | `timeout` with its age at the first signal |
//! | the same because the watch stopped before its deadline | `interrupted` with its age at the first signal |
//! | in flight and not to be ended | `hung` with its age, again and again, until the next line |
//! | in flight, and the process could not be killed until later | `late` with its true duration, failure *abandoned* |
//! | in flight, and the process ended without saying how | `error`, failure *abandoned* |
//! | not begun because of the above | `skipped`; the blocker is this very probe |
//!
//! A program that fails because the watch signalled it did not fail: it was in flight. As long as the whole task has not begun,
//! the start of the process counts as its begin: opening the place, or preparing it, is what hangs then. It stays so if that took
//! longer than a second: who comes while a mount stalls meets the stall at the first directory, and a task that is quick afterwards
//! would hide it. A place that had to be made is the exception, since making thousands of files takes its time: there it stays so
//! beyond the deadline. Shorter preparation is not timed: the task is to find its place warm, and nothing else.

use iolag_keeper::Consumption;
use iolag_model::{
    ConfigurationKey, FailureCode, HistorySample, MonotonicTime, Nanoseconds, Outcome, ProbeId, SeriesKey,
    Surroundings, WallTime,
};
use iolag_workload::PartEnding;
use serde::{Deserialize, Serialize};

use crate::Stamps;
use iolag_directory::Origin;

/// What takes longer before the task begins is the task's time.
const PREPARATION_MAX: Nanoseconds = Nanoseconds::from_seconds(1);

/// What is known of a probe from its start on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeDescription {
    /// Which probe.
    pub probe: ProbeId,
    /// The series of its parts, that of the whole first.
    pub series: Vec<SeriesKey>,
    /// When its round was to begin.
    pub intended: WallTime,
    /// When its process was started.
    pub start: WallTime,
    /// The same by the monotonic clock.
    pub start_ns: MonotonicTime,
    /// After this long it is late.
    pub deadline: Nanoseconds,
    /// Under which configuration it runs.
    pub configuration: Option<ConfigurationKey>,
}

/// What became of a probe's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It ended by itself, or by somebody else's hand.
    Ended {
        /// When that was noticed.
        at: MonotonicTime,
    },
    /// It was ended at its deadline.
    TimedOut {
        /// When it was first sent a signal.
        terminated: MonotonicTime,
    },
    /// It was ended because the watch stopped.
    Aborted {
        /// When it was first sent a signal.
        terminated: MonotonicTime,
    },
    /// It is still there.
    Hung {
        /// When it was looked at.
        at: MonotonicTime,
        /// When it was first sent a signal, if it was.
        terminated: Option<MonotonicTime>,
    },
    /// It had been hung and has ended.
    Released {
        /// When that was noticed.
        at: MonotonicTime,
        /// When it was first sent a signal, if it was.
        terminated: Option<MonotonicTime>,
    },
    /// It had been hung and ended while nobody watched.
    Vanished {
        /// Until when it is known to have been there.
        seen: MonotonicTime,
    },
}

impl Fate {
    const fn terminated(self) -> Option<MonotonicTime> {
        match self {
            Self::Ended { .. } | Self::Vanished { .. } => None,
            Self::TimedOut { terminated } | Self::Aborted { terminated } => Some(terminated),
            Self::Hung { terminated, .. } | Self::Released { terminated, .. } => terminated,
        }
    }

    /// One that was aborted after its deadline, counted from `begin`, timed out all the same.
    const fn after_deadline(self, begin: MonotonicTime, deadline: Nanoseconds) -> Self {
        match self {
            Self::Aborted { terminated } if terminated.since(begin).0 >= deadline.0 => {
                Self::TimedOut { terminated }
            }
            other => other,
        }
    }

    /// For what was in flight: until when it is known to have been, how it counts, and why.
    const fn of_unfinished(self) -> (MonotonicTime, Outcome, FailureCode) {
        match self {
            Self::Ended { at } => (at, Outcome::Error, FailureCode::ABANDONED),
            Self::TimedOut { terminated } => (terminated, Outcome::Timeout, FailureCode::NONE),
            Self::Aborted { terminated } => (terminated, Outcome::Interrupted, FailureCode::NONE),
            Self::Hung { at, .. } | Self::Vanished { seen: at } => (at, Outcome::Hung, FailureCode::NONE),
            Self::Released { at, .. } => (at, Outcome::Late, FailureCode::ABANDONED),
        }
    }
}

/// The samples of all parts, that of the whole first. `consumption` is that of the process, for a whole that does not say itself.
pub fn samples(
    description: &ProbeDescription,
    stamps: &Stamps,
    fate: Fate,
    consumption: Option<Consumption>,
    surroundings: Option<Surroundings>,
) -> Vec<HistorySample> {
    let begin = begin_of_part(description, stamps, 0).unwrap_or(description.start_ns);
    let fate = fate.after_deadline(begin, description.deadline);
    let mut samples: Vec<HistorySample> = (0..description.series.len())
        .map(|part| sample_of_part(description, stamps, fate, part))
        .map(|sample| HistorySample {
            surroundings: surroundings.filter(|_| sample.outcome != Outcome::Skipped),
            ..sample
        })
        .collect();
    if let (Some(whole), Some(consumption)) = (samples.first_mut(), consumption)
        && whole.processor_ns.is_none()
        && whole.outcome != Outcome::Skipped
    {
        whole.processor_ns = Some(consumption.processor.map(|time| time.0));
        whole.resident_bytes_max = Some(consumption.resident_bytes_max);
    }
    samples
}

/// The sample of a part whose slot was skipped.
pub fn skipped(
    series: SeriesKey,
    probe: ProbeId,
    intended: WallTime,
    due: WallTime,
    blocker: Option<ProbeId>,
) -> HistorySample {
    HistorySample {
        intended,
        blocker,
        ..HistorySample::new(series, probe, due, Nanoseconds::ZERO, Outcome::Skipped)
    }
}

fn sample_of_part(description: &ProbeDescription, stamps: &Stamps, fate: Fate, part: usize) -> HistorySample {
    let stamp = stamps.part(part);
    let wall = |moment: MonotonicTime| description.start.after(moment.since(description.start_ns));
    let empty = |start| HistorySample {
        configuration: description.configuration,
        ..skipped(description.series[part].clone(), description.probe, description.intended, start, None)
    };
    let Some(begin) = begin_of_part(description, stamps, part) else {
        return HistorySample { blocker: Some(description.probe), ..empty(description.start) };
    };
    let sample = empty(wall(begin));
    if let Some((end, ending)) = stamp.end
        && !is_interrupted(fate, end, &ending)
    {
        return finished(sample, begin, end, ending, description.deadline);
    }
    if let (0, Some(failed)) = (part, stamps.preparation_failure()) {
        let (outcome, failure) = (Outcome::Error, failed.failure);
        return HistorySample { duration_ns: failed.at.since(begin), outcome, failure, ..sample };
    }
    let (until, outcome, failure) = fate.of_unfinished();
    HistorySample { duration_ns: until.since(begin), outcome, failure, ..sample }
}

/// When a part began as far as its duration is concerned; `None` if it did not.
fn begin_of_part(description: &ProbeDescription, stamps: &Stamps, part: usize) -> Option<MonotonicTime> {
    let quiet_max = match stamps.origin() {
        Origin::Found => PREPARATION_MAX.min(description.deadline),
        Origin::Made => description.deadline,
    };
    let is_hung_before = |begin: MonotonicTime| begin.since(description.start_ns) > quiet_max;
    match stamps.part(part).begin {
        Some(begin) if part == 0 && is_hung_before(begin) => Some(description.start_ns),
        None if part == 0 => Some(description.start_ns),
        begin => begin,
    }
}

fn is_interrupted(fate: Fate, end: MonotonicTime, ending: &PartEnding) -> bool {
    ending.failure != FailureCode::NONE && fate.terminated().is_some_and(|terminated| end >= terminated)
}

fn finished(
    sample: HistorySample,
    begin: MonotonicTime,
    end: MonotonicTime,
    ending: PartEnding,
    deadline: Nanoseconds,
) -> HistorySample {
    let duration_ns = end.since(begin);
    let outcome = match ending.failure {
        FailureCode::NONE if duration_ns <= deadline => Outcome::Ok,
        FailureCode::NONE => Outcome::Late,
        _ => Outcome::Error,
    };
    let processor = ending.processor.map(|time| time.0);
    let has_program = processor != [0, 0] || ending.resident_bytes_max > 0;
    HistorySample {
        duration_ns,
        outcome,
        failure: ending.failure,
        exit_status: ending.exit_status,
        value: ending.value,
        processor_ns: has_program.then_some(processor),
        resident_bytes_max: (ending.resident_bytes_max > 0).then_some(ending.resident_bytes_max),
        ..sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_model::{Clock, SimulatedClock};
    use iolag_workload::{PartRecorder, TaskError};

    const DEADLINE: Nanoseconds = Nanoseconds(100);

    fn description() -> ProbeDescription {
        let series =
            |part: &str| SeriesKey { part: part.into(), task: "list".into(), ..SeriesKey::default() };
        ProbeDescription {
            probe: ProbeId(7),
            series: ["", "ls -n", "never"].map(series).to_vec(),
            intended: WallTime(5000),
            start: WallTime(5050),
            start_ns: MonotonicTime(1000),
            deadline: DEADLINE,
            configuration: Some(ConfigurationKey(3)),
        }
    }

    /// The whole begins at 1010, its second part at 1020 and ends, if it does, `after` later with this failure.
    fn stamped(after: Option<u64>, failure: FailureCode) -> Stamps {
        let stamps = Stamps::new().unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(1010));
        let mut recorder = stamps.recorder(clock.clone());
        recorder.begin(0);
        clock.advance(Nanoseconds(10));
        recorder.begin(1);
        if let Some(after) = after {
            clock.advance(Nanoseconds(after));
            recorder.end(1, PartEnding { failure, ..PartEnding::default() });
            recorder.end(0, PartEnding { failure, exit_status: Some(0), ..PartEnding::default() });
        }
        stamps
    }

    fn told(stamps: &Stamps, fate: Fate) -> Vec<(Outcome, u64, FailureCode)> {
        let samples = samples(&description(), stamps, fate, None, None);
        assert!(samples.iter().all(|sample| sample.probe == ProbeId(7) && sample.intended == WallTime(5000)));
        assert_eq!(samples[2].blocker, Some(ProbeId(7)));
        samples.iter().map(|sample| (sample.outcome, sample.duration_ns.0, sample.failure)).collect()
    }

    const SKIPPED: (Outcome, u64, FailureCode) = (Outcome::Skipped, 0, FailureCode::NONE);

    #[test]
    fn what_ended_is_ok_an_error_or_late() {
        let ended = Fate::Ended { at: MonotonicTime(9999) };
        let none = FailureCode::NONE;
        let ok = told(&stamped(Some(30), none), ended);
        assert_eq!(ok, [(Outcome::Ok, 40, none), (Outcome::Ok, 30, none), SKIPPED]);
        let late = told(&stamped(Some(95), none), ended);
        assert_eq!(late, [(Outcome::Late, 105, none), (Outcome::Ok, 95, none), SKIPPED]);
        let stale = FailureCode::from_errno(116);
        let error = told(&stamped(Some(30), stale), ended);
        assert_eq!(error, [(Outcome::Error, 40, stale), (Outcome::Error, 30, stale), SKIPPED]);
    }

    #[test]
    fn what_is_in_flight_counts_by_the_fate_of_its_process() {
        let stamps = stamped(None, FailureCode::NONE);
        let at = MonotonicTime(1310);
        for (fate, outcome, failure) in [
            (Fate::TimedOut { terminated: at }, Outcome::Timeout, FailureCode::NONE),
            (Fate::Hung { at, terminated: None }, Outcome::Hung, FailureCode::NONE),
            (Fate::Vanished { seen: at }, Outcome::Hung, FailureCode::NONE),
            (Fate::Released { at, terminated: Some(at) }, Outcome::Late, FailureCode::ABANDONED),
            (Fate::Ended { at }, Outcome::Error, FailureCode::ABANDONED),
        ] {
            assert_eq!(told(&stamps, fate), [(outcome, 300, failure), (outcome, 290, failure), SKIPPED]);
        }
    }

    #[test]
    fn what_the_watch_breaks_off_is_interrupted_and_past_its_deadline_timed_out() {
        let stamps = stamped(None, FailureCode::NONE);
        let none = FailureCode::NONE;
        // The whole began at 1010, its second part at 1020; the deadline is 100.
        let before = Fate::Aborted { terminated: MonotonicTime(1109) };
        assert_eq!(
            told(&stamps, before),
            [(Outcome::Interrupted, 99, none), (Outcome::Interrupted, 89, none), SKIPPED]
        );
        let after = Fate::Aborted { terminated: MonotonicTime(1110) };
        assert_eq!(
            told(&stamps, after),
            [(Outcome::Timeout, 100, none), (Outcome::Timeout, 90, none), SKIPPED]
        );
        // A program that the signal made fail was interrupted as well.
        let failing =
            told(&stamped(Some(50), FailureCode::EXIT), Fate::Aborted { terminated: MonotonicTime(1060) });
        assert_eq!(failing[0], (Outcome::Interrupted, 50, none));
        // What ended before is what it is.
        let ended = told(&stamped(Some(30), none), Fate::Aborted { terminated: MonotonicTime(1060) });
        assert_eq!(ended[0], (Outcome::Ok, 40, none));
    }

    #[test]
    fn a_program_that_the_watch_ended_did_not_fail() {
        let fate = Fate::TimedOut { terminated: MonotonicTime(1110) };
        let interrupted = told(&stamped(Some(120), FailureCode::EXIT), fate);
        assert_eq!(interrupted[0], (Outcome::Timeout, 100, FailureCode::NONE));
        let in_the_end = told(&stamped(Some(120), FailureCode::NONE), fate);
        assert_eq!(in_the_end[0], (Outcome::Late, 130, FailureCode::NONE));
        let failed_before = told(&stamped(Some(20), FailureCode::EXIT), fate);
        assert_eq!(failed_before[0], (Outcome::Error, 30, FailureCode::EXIT));
    }

    #[test]
    fn before_the_task_begins_the_process_is_what_hangs() {
        let stamps = Stamps::new().unwrap();
        let hung = Fate::Hung { at: MonotonicTime(1500), terminated: None };
        assert_eq!(told(&stamps, hung), [(Outcome::Hung, 500, FailureCode::NONE), SKIPPED, SKIPPED]);
        let failure = FailureCode::from_errno(13);
        let clock = SimulatedClock::starting_at(MonotonicTime(1060));
        stamps.recorder(clock).failed(&TaskError { failure, message: String::new() });
        let ended = Fate::Ended { at: MonotonicTime(1070) };
        assert_eq!(told(&stamps, ended), [(Outcome::Error, 60, failure), SKIPPED, SKIPPED]);
    }

    #[test]
    fn a_hang_before_the_task_is_not_forgotten_when_the_task_is_quick() {
        let stamps = Stamps::new().unwrap();
        let clock = SimulatedClock::starting_at(MonotonicTime(1101));
        let mut recorder = stamps.recorder(clock.clone());
        recorder.begin(0);
        clock.advance(Nanoseconds(4));
        recorder.end(0, PartEnding::default());
        let late = told(&stamps, Fate::Ended { at: MonotonicTime(1200) });
        assert_eq!(late[0], (Outcome::Late, 105, FailureCode::NONE));
    }

    #[test]
    fn a_stall_before_the_task_is_the_tasks_unless_its_place_was_made() {
        const SECOND: u64 = 1_000_000_000;
        let description = ProbeDescription { deadline: Nanoseconds(60 * SECOND), ..description() };
        for (origin, before, expected) in [
            (Origin::Found, SECOND / 2, 4),
            (Origin::Found, 5 * SECOND, 5 * SECOND + 4),
            (Origin::Made, 5 * SECOND, 4),
            (Origin::Made, 61 * SECOND, 61 * SECOND + 4),
        ] {
            let stamps = Stamps::new().unwrap();
            let clock = SimulatedClock::starting_at(description.start_ns.after(Nanoseconds(before)));
            let mut recorder = stamps.recorder(clock.clone());
            recorder.opened(None, origin);
            recorder.begin(0);
            clock.advance(Nanoseconds(4));
            recorder.end(0, PartEnding::default());
            let ended = Fate::Ended { at: clock.now() };
            let whole = &samples(&description, &stamps, ended, None, None)[0];
            assert_eq!(whole.duration_ns.0, expected, "{origin:?} {before}");
            assert_eq!(whole.outcome == Outcome::Late, expected > 60 * SECOND);
        }
    }

    #[test]
    fn wall_times_count_from_the_start_of_the_process() {
        let samples = samples(
            &description(),
            &stamped(Some(5), FailureCode::NONE),
            Fate::Ended { at: MonotonicTime(2000) },
            Some(Consumption { processor: [Nanoseconds(1), Nanoseconds(2)], resident_bytes_max: 4096 }),
            Some(Surroundings::default()),
        );
        assert_eq!((samples[0].start, samples[1].start), (WallTime(5060), WallTime(5070)));
        assert_eq!((samples[0].processor_ns, samples[1].processor_ns), (Some([1, 2]), None));
        assert_eq!(samples[0].exit_status, Some(0));
        assert_eq!(samples[0].surroundings, Some(Surroundings::default()));
        assert_eq!(samples[2].surroundings, None);
        assert!(samples.iter().all(|sample| sample.configuration == Some(ConfigurationKey(3))));
    }
}
