//! What the jobs of a run computed once they were set up, where that was really run.

use iolag_model::{Operation, StageIndex};
use serde::{Deserialize, Serialize};

use crate::run::summary::{DurationSummary, Summaries, Summary};

/// The payloads of the copies of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PayloadTimes {
    /// That came to a good end.
    pub done: u64,
    /// That failed, or did not come to an end.
    pub failed: u64,
    /// How long one took on average, failed or not.
    pub mean_ns: f64,
    /// What it took of processors on average.
    pub processor_mean_ns: f64,
}

impl PayloadTimes {
    /// Of copies in a stage; absent if none was run to an end.
    pub(crate) fn of(stage: StageIndex, summaries: &Summaries) -> Option<Self> {
        let of = |operation| {
            let is_it = |one: &&Summary| (one.key.stage, one.key.operation) == (Some(stage), operation);
            summaries.summaries.iter().find(is_it)
        };
        let (time, processor) = (of(Operation::Payload)?, of(Operation::PayloadProcessorTime)?);
        let done = time.succeeded();
        Some(Self {
            done,
            failed: time.attempts - done,
            mean_ns: mean_of([Some(&time.durations), time.failed.as_ref()])?,
            processor_mean_ns: processor.durations.mean_ns?,
        })
    }

    /// The share of those that were begun which came to a good end.
    pub(crate) fn share_done(&self) -> f64 {
        self.done as f64 / (self.done + self.failed).max(1) as f64
    }
}

/// Of all that are known; absent if none is, or of some only a bound.
fn mean_of(parts: [Option<&DurationSummary>; 2]) -> Option<f64> {
    let known = || parts.into_iter().flatten().filter(|part| part.count > 0);
    let count: u64 = known().map(|part| part.count).sum();
    let sum = known().map(|part| Some(part.mean_ns? * part.count as f64)).sum::<Option<f64>>()?;
    (count > 0).then(|| sum / count as f64)
}
