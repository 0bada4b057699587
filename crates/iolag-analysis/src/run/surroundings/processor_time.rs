//! What the processors did for a stage.

use iolag_model::{Nanoseconds, Operation, RunRecord, StageIndex};
use serde::{Deserialize, Serialize};

use crate::run::stage_rates::StageClock;
use crate::run::summary::{Summaries, Summary};

/// From this share of what they can do on, processors set the pace, and not the storage.
const AT_PROCESSOR_SPEED: f64 = 0.95;

/// A stage that took less says no share of it: who was woken late, read clocks and touched memory for the first time is much of that, and older
/// records have clients that waited for each other in it.
const SHORTEST: Nanoseconds = Nanoseconds::from_milliseconds(5);

/// What the processors did of the time of some stages together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProcessorShare {
    /// 1 is one processor all the time.
    pub processors: f64,
    /// How many could have been at work: one for each client, as far as there are so many.
    pub most: u32,
}

impl ProcessorShare {
    /// Of these stages; absent if it was not recorded of all of them, or if they were too short.
    pub(crate) fn of(record: &RunRecord, stages: &[StageIndex], summaries: &Summaries) -> Option<Self> {
        let (mut taken, mut passed) = (0.0, 0.0);
        for stage in stages {
            taken += processor_time(*stage, summaries)?.as_seconds();
            passed += StageClock::of(*stage, &summaries.summaries)?.time().as_seconds();
        }
        let processors = share(taken, passed)?;
        Some(Self { processors, most: most_of(record) })
    }

    /// Of copies in a stage: each is a process, and says what was taken for itself. Absent as above.
    pub(crate) fn of_copies(record: &RunRecord, stage: StageIndex, summaries: &Summaries) -> Option<Self> {
        let taken = &of_stage(stage, summaries)?.durations;
        let passed = StageClock::of(stage, &summaries.summaries)?.time().as_seconds();
        let processors = share(taken.mean_ns? * taken.count as f64 / 1e9, passed)?;
        Some(Self { processors, most: most_of(record) })
    }

    /// Whether a faster storage would change little.
    pub fn is_at_processor_speed(self) -> bool {
        self.processors >= AT_PROCESSOR_SPEED * f64::from(self.most)
    }
}

fn most_of(record: &RunRecord) -> u32 {
    let present = if record.environment.cpus == 0 { u32::MAX } else { record.environment.cpus };
    record.spec.clients.min(present).max(1)
}

/// What was taken of the time that passed, both in seconds: 1 is one processor all the time. Absent if too little passed to say.
pub(crate) fn share(taken: f64, passed: f64) -> Option<f64> {
    (passed >= SHORTEST.as_seconds()).then(|| taken / passed)
}

/// What all of them together did for the clients; absent if it was not recorded. Each client says what had been taken for all that were done
/// when it was: the last one says all.
pub(crate) fn processor_time(stage: StageIndex, summaries: &Summaries) -> Option<Nanoseconds> {
    of_stage(stage, summaries)?.durations.max.lower_bound()
}

fn of_stage(stage: StageIndex, summaries: &Summaries) -> Option<&Summary> {
    let is_it = |summary: &&Summary| {
        (summary.key.stage, summary.key.operation) == (Some(stage), Operation::ProcessorTime)
    };
    summaries.summaries.iter().find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_only_that_of_a_time_which_is_long_enough() {
        assert_eq!([share(0.003, 0.0), share(0.003, 0.004), share(0.003, 0.006)], [None, None, Some(0.5)]);
    }
}
