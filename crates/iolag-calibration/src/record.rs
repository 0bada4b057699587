//! Records as a watch or a cron job leaves them: quarter-hourly with jitter, now and then a slot missing.

use std::ops::Range;

use iolag_analysis::{Engine, Grouping, Precision, Summary};
use iolag_model::{
    HistoryColumns, HistorySample, Nanoseconds, Operation, Outcome, ProbeId, Random, SampleColumns, Series,
    SeriesKey, SeriesKind, WallTime,
};

use crate::process::{COARSE_STEP_SECONDS, Course, Process};

/// Midnight of a Monday, UTC.
const BEGIN: i64 = 1_699_833_600;
const SLOT_SECONDS: i64 = 900;
/// A round begins up to so many seconds late.
const JITTER_SECONDS: f64 = 20.0;
/// Share of slots in which the machine was off.
const MISSING_SHARE: f64 = 0.005;
/// Rows that the engine of runs is given at once.
const BATCH_ROWS: usize = 4096;
/// The host of all series.
pub const HOST: &str = "login1";

/// The rounds of a record: which slots there are, and when each began, in whole seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rounds {
    slots: Vec<usize>,
    moments: Vec<i64>,
}

impl Rounds {
    /// As many rounds.
    pub fn new(count: usize, noise: &mut Random) -> Self {
        let mut rounds = Self::default();
        let mut slot = 0;
        while rounds.slots.len() < count {
            if noise.unit() >= MISSING_SHARE {
                rounds.slots.push(slot);
                let late = (noise.unit() * JITTER_SECONDS) as i64;
                rounds.moments.push(BEGIN + slot as i64 * SLOT_SECONDS + late);
            }
            slot += 1;
        }
        rounds
    }

    /// Slots from the first to the last, those without a round included.
    pub fn slots(&self) -> usize {
        self.slots.last().map_or(0, |last| last + 1)
    }

    /// When the rounds began, in seconds since 1970.
    pub fn moments(&self) -> &[i64] {
        &self.moments
    }

    /// The durations of these rounds.
    pub fn of_course<'a, T: Copy>(&'a self, course: &'a [T]) -> impl Iterator<Item = T> + 'a {
        self.slots.iter().map(|slot| course[*slot])
    }
}

/// One attempt as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// When it began, in seconds since 1970.
    pub at: i64,
    /// How long it took or was waited for, in seconds.
    pub seconds: f64,
    /// How it ended.
    pub outcome: Outcome,
}

/// What was recorded of a course: a deadline ends attempts, a coarse clock rounds down. Whole microseconds.
pub fn attempts(process: Process, rounds: &Rounds, course: &Course) -> Vec<Attempt> {
    let deadline = process.deadline_seconds();
    let durations = rounds.moments.iter().zip(rounds.of_course(&course.seconds));
    durations
        .map(|(at, seconds)| {
            let is_over = deadline.is_some_and(|deadline| seconds > deadline);
            let seconds = deadline.map_or(seconds, |deadline| seconds.min(deadline));
            let step = if process == Process::CoarseClock { COARSE_STEP_SECONDS } else { 1e-6 };
            // Half a unit in the last place: 0.3 by 0.1 is not three.
            let read = (seconds / step + 1e-9).floor() * step;
            let outcome = if is_over { Outcome::Timeout } else { Outcome::Ok };
            Attempt { at: *at, seconds: read, outcome }
        })
        .collect()
}

/// A series of a task on a target.
pub fn series(process: Process, task: &str, target: &str, kind: SeriesKind) -> Series {
    let (task, part) = task.split_once(':').unwrap_or((task, ""));
    let resolution = if process == Process::CoarseClock { COARSE_STEP_SECONDS } else { 0.0 };
    Series {
        key: SeriesKey {
            host: HOST.to_owned(),
            target: target.to_owned(),
            task: task.to_owned(),
            part: part.to_owned(),
        },
        kind,
        resolution_ns: nanoseconds(resolution),
        period_ns: Nanoseconds::from_seconds(SLOT_SECONDS as u64),
        deadline_ns: process.deadline_seconds().map_or(Nanoseconds::ZERO, nanoseconds),
        description: String::new(),
        unit: String::new(),
        described: WallTime(0),
    }
}

/// The columns of a history.
pub fn columns(series: &Series, attempts: &[Attempt]) -> HistoryColumns {
    let mut columns = HistoryColumns::default();
    for (row, attempt) in attempts.iter().enumerate() {
        let at = WallTime::from_seconds(attempt.at);
        columns.push(&HistorySample::new(
            series.key.clone(),
            ProbeId(row as u64 + 1),
            at,
            nanoseconds(attempt.seconds),
            attempt.outcome,
        ));
    }
    columns
}

/// What a run says of the same attempts, one after the other.
pub fn run_summary(attempts: &[Attempt], thresholds: &[Nanoseconds]) -> Option<Summary> {
    let duration_ns: Vec<i64> = attempts.iter().map(|one| nanoseconds(one.seconds).0 as i64).collect();
    let outcome_code: Vec<i32> = attempts.iter().map(|one| one.outcome as i32).collect();
    let operation_code = vec![Operation::Stat as i32; attempts.len()];
    let mut now = 0;
    let start_ns: Vec<i64> = duration_ns
        .iter()
        .map(|duration| {
            let start = now;
            now += duration + 1;
            start
        })
        .collect();
    let batches = (0..attempts.len()).step_by(BATCH_ROWS).map(|first| {
        let rows: Range<usize> = first..attempts.len().min(first + BATCH_ROWS);
        SampleColumns {
            operation_code: &operation_code[rows.clone()],
            outcome_code: &outcome_code[rows.clone()],
            start_ns: &start_ns[rows.clone()],
            duration_ns: &duration_ns[rows],
            ..SampleColumns::default()
        }
    });
    let mut engine = Engine::new(Grouping::default(), Precision::Exact).with_thresholds(thresholds);
    batches.clone().for_each(|batch| engine.batch(batch));
    let mut clustering = engine.clustering();
    batches.for_each(|batch| clustering.batch(batch));
    engine.finish_with(clustering).summaries.into_iter().next()
}

/// Seconds as whole nanoseconds.
pub fn nanoseconds(seconds: f64) -> Nanoseconds {
    Nanoseconds((seconds * 1e9).round().max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_late_and_now_and_then_missing() {
        let rounds = Rounds::new(2000, &mut Random::new(1));
        assert_eq!(rounds.moments().len(), 2000);
        assert!((2001..2030).contains(&rounds.slots()), "{}", rounds.slots());
        let late = rounds.moments().iter().map(|moment| (moment - BEGIN) % SLOT_SECONDS);
        assert!(late.clone().max() == Some(19) && late.min() == Some(0));
        assert!(Rounds::new(0, &mut Random::new(1)).slots() == 0);
    }

    #[test]
    fn deadlines_and_clocks_do_what_they_do() {
        let mut noise = Random::new(2);
        let rounds = Rounds::new(1000, &mut noise);
        let recorded = |process: Process, noise: &mut Random| {
            let course = process.course(rounds.slots(), noise);
            attempts(process, &rounds, &course)
        };
        let cut = recorded(Process::Censored(0.2), &mut noise);
        let ended = cut.iter().filter(|one| one.outcome == Outcome::Timeout).count();
        assert!((150..250).contains(&ended), "{ended}");
        let coarse = recorded(Process::CoarseClock, &mut noise);
        assert!(coarse.iter().all(|one| nanoseconds(one.seconds).0.is_multiple_of(100_000_000)));
        assert!(coarse.iter().any(|one| one.seconds == 0.0));
    }

    #[test]
    fn run_and_history_are_given_the_same() {
        let mut noise = Random::new(3);
        let rounds = Rounds::new(5000, &mut noise);
        let course = Process::Independent.course(rounds.slots(), &mut noise);
        let recorded = attempts(Process::Independent, &rounds, &course);
        let summary = run_summary(&recorded, &[Nanoseconds::from_milliseconds(250)]).unwrap();
        let series = series(Process::Independent, "list", "/home", SeriesKind::Task);
        let columns = columns(&series, &recorded);
        assert_eq!((summary.attempts, columns.len()), (5000, 5000));
        let longest = columns.duration_ns.iter().max().copied();
        assert_eq!(summary.durations.max.lower_bound(), longest);
    }
}
