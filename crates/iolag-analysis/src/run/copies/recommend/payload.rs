//! What jobs of one number of copies computed, where that was really run.

use serde::{Deserialize, Serialize};

use crate::run::copies::line::{Spread, mean};
use crate::run::copies::of_run::CopiesRun;
use crate::run::copies::payload::PayloadTimes;

/// The payloads of one number of copies; runs are the unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobPayload {
    /// That came to a good end, of all runs.
    pub done: u64,
    /// That failed, or did not come to an end: their jobs are not done.
    pub failed: u64,
    /// How long one takes, on average over the runs.
    pub mean_ns: f64,
    /// Its 95 % interval, of at least three runs.
    pub interval_ns: Option<[f64; 2]>,
    /// What it takes of processors, on average over the runs.
    pub processor_mean_ns: f64,
}

impl JobPayload {
    /// Of runs that have the same number of copies; absent if in none of them one was run.
    pub(super) fn of(runs: &[CopiesRun<'_>]) -> Option<Self> {
        let known: Vec<PayloadTimes> = runs.iter().filter_map(|run| run.payload).collect();
        let times: Vec<f64> = known.iter().map(|run| run.mean_ns).collect();
        let interval = Spread::of(&times).map(|spread| spread.interval().map(|end| end.max(0.0)));
        (!known.is_empty()).then(|| Self {
            done: known.iter().map(|run| run.done).sum(),
            failed: known.iter().map(|run| run.failed).sum(),
            mean_ns: mean(times.into_iter()),
            interval_ns: interval,
            processor_mean_ns: mean(known.iter().map(|run| run.processor_mean_ns)),
        })
    }
}
