//! Tallies: what the probes of a history have counted up to, for monitoring systems that read counters and histograms.
//!
//! They are counted up sample by sample, in the order in which a history changed, so that following it costs what is new. A sample
//! that supersedes another is told from a new one, and no count ever falls:
//!
//! - A probe that was not over at its deadline counts once, as a time-out, whatever became of it: ended there, hung, or over later.
//!   It is observed once, at its deadline; the true duration is observed apart when it comes ([`SeriesTally::late`]).
//! - A probe that failed before its deadline counts as an error and has no duration.
//! - A probe that was ended because its watch stopped tells nothing and is not counted.
//!
//! Which counts a sample leads to depends on its last state only, so that a new count over the whole history gives what the old
//! count had come to, and a restart looks like none. Limits: after a change of deadlines a new count observes former time-outs at the new
//! deadline; a probe that hung when its watch stopped and was over before its deadline all the same counts as a time-out for who saw both.
//!
//! Only whole tasks and controls are tallied: parts, covariates and imports are for the analysis.

use std::collections::BTreeSet;

use iolag_model::{
    FailureCode, HistoryRecord, HistorySample, LastSample, Nanoseconds, Outcome, ProbeId, Series, SeriesKey,
    SeriesKind, WallTime,
};
use serde::{Deserialize, Serialize};

use super::durations::DurationTally;

/// How a run counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// It succeeded within its deadline.
    Ok,
    /// It failed within its deadline.
    Error,
    /// It was not over at its deadline.
    Timeout,
    /// It was due and not started.
    Skipped,
}

impl RunOutcome {
    /// All of them, in the order of [`SeriesTally::runs`].
    pub const ALL: [Self; 4] = [Self::Ok, Self::Error, Self::Timeout, Self::Skipped];

    /// The name in labels.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }
}

/// The counts of all series.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tallies {
    /// By key.
    series: Vec<SeriesTally>,
}

/// The counts of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeriesTally {
    /// Which series.
    pub key: SeriesKey,
    /// What its samples are.
    pub kind: SeriesKind,
    /// Deadline of its probes, zero if unknown.
    pub deadline_ns: Nanoseconds,
    /// Length of time between intended starts, zero if unknown.
    pub period_ns: Nanoseconds,
    runs: [u64; 4],
    /// What probes took that succeeded, and at its deadline each one that was not over then.
    pub durations: DurationTally,
    /// What those took in truth that were over after their deadline.
    pub late: DurationTally,
    /// The sample that started last and was not skipped.
    pub last: Option<LastSample>,
    /// When the latest success was over, in time or late.
    pub last_success: Option<WallTime>,
    described: WallTime,
    /// Those that are counted as time-outs and whose end has not come.
    unended: BTreeSet<ProbeId>,
}

impl Tallies {
    /// Counts whatever concerns tallies of a record.
    pub fn record(&mut self, record: &HistoryRecord) {
        match record {
            HistoryRecord::Series(series) => self.describe(series),
            HistoryRecord::Sample(sample) => self.count(sample),
            _ => {}
        }
    }

    /// Takes note of how a series is measured. The latest description holds.
    pub fn describe(&mut self, series: &Series) {
        if !series.key.part.is_empty() {
            return;
        }
        let tally = self.tally_of(&series.key);
        if series.described >= tally.described {
            (tally.kind, tally.deadline_ns) = (series.kind, series.deadline_ns);
            (tally.period_ns, tally.described) = (series.period_ns, series.described);
        }
    }

    /// Counts a sample that is new or superseded the one of the same probe that was counted before. Series are described first.
    pub fn count(&mut self, sample: &HistorySample) {
        if sample.series.part.is_empty() {
            self.tally_of(&sample.series).count(sample);
        }
    }

    /// The series of tasks and controls, by key.
    pub fn series(&self) -> impl Iterator<Item = &SeriesTally> {
        self.series.iter().filter(|tally| matches!(tally.kind, SeriesKind::Task | SeriesKind::Control))
    }

    fn tally_of(&mut self, key: &SeriesKey) -> &mut SeriesTally {
        let at = match self.series.binary_search_by(|tally| tally.key.cmp(key)) {
            Ok(at) => at,
            Err(at) => {
                self.series.insert(at, SeriesTally::new(key.clone()));
                at
            }
        };
        &mut self.series[at]
    }
}

impl SeriesTally {
    const fn new(key: SeriesKey) -> Self {
        Self {
            key,
            kind: SeriesKind::Task,
            deadline_ns: Nanoseconds::ZERO,
            period_ns: Nanoseconds::ZERO,
            runs: [0; 4],
            durations: DurationTally::new(),
            late: DurationTally::new(),
            last: None,
            last_success: None,
            described: WallTime(i64::MIN),
            unended: BTreeSet::new(),
        }
    }

    /// How many runs there were with this outcome.
    pub const fn runs(&self, outcome: RunOutcome) -> u64 {
        self.runs[outcome as usize]
    }

    fn count(&mut self, sample: &HistorySample) {
        self.note_last(sample);
        let is_over_late = match sample.outcome {
            Outcome::Late => true,
            Outcome::Error => self.deadline_ns > Nanoseconds::ZERO && sample.duration_ns >= self.deadline_ns,
            _ => false,
        };
        if self.unended.contains(&sample.probe) {
            if sample.outcome != Outcome::Hung {
                self.unended.remove(&sample.probe);
            }
        } else {
            self.count_first(sample, is_over_late);
        }
        if is_over_late {
            self.late.observe(sample.duration_ns);
        }
    }

    fn count_first(&mut self, sample: &HistorySample, is_over_late: bool) {
        let outcome = match sample.outcome {
            Outcome::Interrupted | Outcome::Retried => return,
            Outcome::Ok => RunOutcome::Ok,
            Outcome::Error if !is_over_late => RunOutcome::Error,
            Outcome::Error | Outcome::Timeout | Outcome::Hung | Outcome::Late => RunOutcome::Timeout,
            Outcome::Skipped => RunOutcome::Skipped,
        };
        self.runs[outcome as usize] += 1;
        match outcome {
            RunOutcome::Ok => self.durations.observe(sample.duration_ns),
            RunOutcome::Timeout if self.deadline_ns > Nanoseconds::ZERO => {
                self.durations.observe(self.deadline_ns);
            }
            RunOutcome::Timeout => self.durations.observe(sample.duration_ns),
            RunOutcome::Error | RunOutcome::Skipped => {}
        }
        if sample.outcome == Outcome::Hung {
            self.unended.insert(sample.probe);
        }
    }

    fn note_last(&mut self, sample: &HistorySample) {
        let is_success =
            matches!(sample.outcome, Outcome::Ok | Outcome::Late) && sample.failure == FailureCode::NONE;
        if is_success {
            self.last_success = self.last_success.max(Some(sample.start.after(sample.duration_ns)));
        }
        let is_last = self.last.as_ref().is_none_or(|last| sample.start >= last.start);
        if sample.outcome != Outcome::Skipped && is_last {
            self.last = Some(LastSample {
                series: sample.series.clone(),
                start: sample.start,
                duration_ns: sample.duration_ns,
                value: sample.value,
                outcome: sample.outcome,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iolag_fixtures::made_up_series::series_of;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn sample(probe: u64, outcome: Outcome, seconds: u64) -> HistorySample {
        let failure = match outcome {
            Outcome::Error => FailureCode::EXIT,
            _ => FailureCode::NONE,
        };
        HistorySample {
            failure,
            ..HistorySample::new(
                series_of("/home", "list").key,
                ProbeId(probe),
                WallTime::from_seconds(900 * probe as i64),
                Nanoseconds(seconds * SECOND),
                outcome,
            )
        }
    }

    fn described() -> Tallies {
        let mut tallies = Tallies::default();
        tallies.describe(&series_of("/home", "list"));
        tallies
    }

    fn tallied(samples: impl IntoIterator<Item = HistorySample>) -> Tallies {
        let mut tallies = described();
        samples.into_iter().for_each(|sample| tallies.count(&sample));
        tallies
    }

    fn runs(tallies: &Tallies) -> [u64; 4] {
        RunOutcome::ALL.map(|outcome| tallies.series().map(|tally| tally.runs(outcome)).sum())
    }

    #[test]
    fn a_hang_is_a_time_out_once_and_its_end_is_apart() {
        let hung = [sample(1, Outcome::Hung, 60), sample(1, Outcome::Hung, 120)];
        let tallies = tallied(hung.clone());
        assert_eq!(runs(&tallies), [0, 0, 1, 0]);
        let tally = tallies.series().next().unwrap();
        assert_eq!((tally.durations.count(), tally.durations.sum_ns()), (1, 60 * SECOND));
        assert_eq!(tally.late.count(), 0);
        let released = tallied(hung.into_iter().chain([sample(1, Outcome::Late, 500)]));
        let tally = released.series().next().unwrap();
        assert_eq!(runs(&released), [0, 0, 1, 0]);
        assert_eq!((tally.durations.count(), tally.durations.sum_ns()), (1, 60 * SECOND));
        assert_eq!((tally.late.count(), tally.late.sum_ns()), (1, 500 * SECOND));
        assert_eq!(tally.last_success, Some(WallTime::from_seconds(900 + 500)));
        assert_eq!(released, tallied([sample(1, Outcome::Late, 500)]));
    }

    #[test]
    fn every_outcome_has_its_count() {
        let aborted = sample(7, Outcome::Interrupted, 3);
        let part = HistorySample {
            series: SeriesKey { part: "ls -n".into(), ..series_of("/home", "list").key },
            ..sample(8, Outcome::Ok, 1)
        };
        let tallies = tallied([
            sample(1, Outcome::Ok, 2),
            sample(2, Outcome::Error, 1),
            sample(3, Outcome::Error, 90),
            sample(4, Outcome::Timeout, 59),
            sample(5, Outcome::Skipped, 0),
            aborted,
            part,
        ]);
        assert_eq!(runs(&tallies), [1, 1, 2, 1]);
        let tally = tallies.series().next().unwrap();
        assert_eq!((tally.durations.count(), tally.durations.sum_ns()), (3, 122 * SECOND));
        assert_eq!((tally.late.count(), tally.late.sum_ns()), (1, 90 * SECOND));
        assert_eq!(tally.last_success, Some(WallTime::from_seconds(902)));
        assert_eq!(tally.last.as_ref().unwrap().outcome, Outcome::Interrupted);
        assert_eq!(tallies.series().count(), 1);
    }

    #[test]
    fn only_tasks_and_controls_are_shown() {
        let mut tallies = described();
        tallies.describe(&Series { kind: SeriesKind::Covariate, ..series_of("", "jobs") });
        tallies.describe(&Series { kind: SeriesKind::Control, ..series_of("host memory", "list") });
        let older =
            Series { described: WallTime(-1), deadline_ns: Nanoseconds(1), ..series_of("/home", "list") };
        tallies.record(&HistoryRecord::Series(older));
        let shown: Vec<_> = tallies.series().map(|tally| tally.key.target.as_str()).collect();
        assert_eq!(shown, ["/home", "host memory"]);
        assert_eq!(tallies.series().next().unwrap().deadline_ns, Nanoseconds::from_seconds(60));
    }

    /// What the watch records of one probe over time, with the states that a follower may miss.
    fn life(probe: u64) -> impl Strategy<Value = Vec<HistorySample>> {
        let over = prop_oneof![
            (0_u64..60).prop_map(move |seconds| vec![sample(probe, Outcome::Ok, seconds)]),
            (0_u64..90).prop_map(move |seconds| vec![sample(probe, Outcome::Error, seconds)]),
            Just(vec![sample(probe, Outcome::Timeout, 60)]),
            Just(vec![sample(probe, Outcome::Skipped, 0)]),
        ];
        let end = prop_oneof![Just(None), Just(Some(Outcome::Late)), Just(Some(Outcome::Error))];
        let hung = (1_u64..5, end).prop_map(move |(ages, end)| {
            let ages = (1..=ages).map(|age| sample(probe, Outcome::Hung, 60 * age));
            ages.chain(end.map(|outcome| sample(probe, outcome, 1000))).collect()
        });
        prop_oneof![over, hung]
    }

    fn lives() -> impl Strategy<Value = Vec<Vec<HistorySample>>> {
        (1_usize..12).prop_flat_map(|probes| (1..=probes as u64).map(life).collect::<Vec<_>>())
    }

    /// The lives one after the other in rounds, each step of them told or missed.
    fn interleaved(lives: &[Vec<HistorySample>], missed: u64) -> Vec<HistorySample> {
        let steps = lives.iter().map(Vec::len).max().unwrap_or(0);
        let mut told = Vec::new();
        for step in 0..steps {
            for life in lives.iter().filter(|life| step < life.len()) {
                let is_told = missed >> ((step * 7 + told.len()) % 64) & 1 == 0 || step + 1 == life.len();
                told.extend(is_told.then(|| life[step].clone()));
            }
        }
        told
    }

    proptest! {
        #[test]
        fn following_comes_to_what_a_new_count_comes_to(lives in lives(), missed in any::<u64>()) {
            let last = lives.iter().filter_map(|life| life.last().cloned());
            prop_assert_eq!(tallied(interleaved(&lives, missed)), tallied(last));
        }

        #[test]
        fn no_count_ever_falls_and_no_run_counts_twice(lives in lives(), missed in any::<u64>()) {
            let mut tallies = described();
            let mut before = ([0; 4], 0, 0, 0);
            for sample in interleaved(&lives, missed) {
                tallies.count(&sample);
                let tally = tallies.series().next().unwrap();
                let now = (runs(&tallies), tally.durations.count(), tally.durations.sum_ns(), tally.late.count());
                prop_assert!(before.0.iter().zip(now.0).all(|(before, now)| *before <= now));
                prop_assert!(before.1 <= now.1 && before.2 <= now.2 && before.3 <= now.3);
                before = now;
            }
            prop_assert_eq!(before.0.iter().sum::<u64>(), lives.len() as u64);
        }

        #[test]
        fn they_come_back_from_text(lives in lives()) {
            let tallies = tallied(interleaved(&lives, 0));
            let text = serde_json::to_string(&tallies).unwrap();
            prop_assert_eq!(serde_json::from_str::<Tallies>(&text).unwrap(), tallies);
        }
    }
}
