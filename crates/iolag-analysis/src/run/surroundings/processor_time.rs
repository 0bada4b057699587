//! What the processors did for a stage.

use iolag_model::{Nanoseconds, Operation, StageIndex};

use crate::run::summary::{Summaries, Summary};

/// What all of them together did for the process that asked; absent if it was not recorded. Each client says what its process had taken when
/// it was done: the last one says all.
pub(crate) fn processor_time(stage: StageIndex, summaries: &Summaries) -> Option<Nanoseconds> {
    let is_it = |summary: &&Summary| {
        (summary.key.stage, summary.key.operation) == (Some(stage), Operation::ProcessorTime)
    };
    summaries.summaries.iter().find(is_it).and_then(|summary| summary.durations.max.lower_bound())
}
