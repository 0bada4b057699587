//! What the processors did for a stage.

use iolag_model::{Nanoseconds, Operation, RunRecord, StageIndex};

use crate::run::stage_rates::StageClock;
use crate::run::summary::{Summaries, Summary};

/// From this share of what they can do on, processors set the pace, and not the storage.
const AT_PROCESSOR_SPEED: f64 = 0.95;

/// What the processors did of the time of some stages together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProcessorShare {
    /// 1 is one processor all the time.
    pub processors: f64,
    /// How many could have been at work: one for each client, as far as there are so many.
    pub most: u32,
}

impl ProcessorShare {
    /// Of these stages; absent if it was not recorded of all of them.
    pub(crate) fn of(record: &RunRecord, stages: &[StageIndex], summaries: &Summaries) -> Option<Self> {
        let (mut taken, mut passed) = (0.0, 0.0);
        for stage in stages {
            taken += processor_time(*stage, summaries)?.as_seconds();
            passed += StageClock::of(*stage, &summaries.summaries)?.time().as_seconds();
        }
        let processors = if record.environment.cpus == 0 { u32::MAX } else { record.environment.cpus };
        let most = record.spec.clients.min(processors).max(1);
        (passed > 0.0).then(|| Self { processors: taken / passed, most })
    }

    /// Whether a faster storage would change little.
    pub fn is_at_processor_speed(self) -> bool {
        self.processors >= AT_PROCESSOR_SPEED * f64::from(self.most)
    }
}

/// What all of them together did for the process that asked; absent if it was not recorded. Each client says what its process had taken when
/// it was done: the last one says all.
pub(crate) fn processor_time(stage: StageIndex, summaries: &Summaries) -> Option<Nanoseconds> {
    let is_it = |summary: &&Summary| {
        (summary.key.stage, summary.key.operation) == (Some(stage), Operation::ProcessorTime)
    };
    summaries.summaries.iter().find(is_it).and_then(|summary| summary.durations.max.lower_bound())
}
