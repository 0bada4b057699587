//! What is asked of a run to be one of copies.

use iolag_model::{RunId, RunRecord, RunState};

use super::payload::PayloadTimes;
use super::time::CopyTime;
use crate::run::surroundings::generator::processors_full;
use crate::run::surroundings::processor_time::ProcessorShare;

/// A run of copies at once.
#[derive(Debug, Clone, Copy)]
pub struct CopiesRun<'a> {
    /// Which.
    pub id: &'a RunId,
    /// Side, or target as the user named it.
    pub target: &'a str,
    /// The stretch of its campaign.
    pub block: u32,
    /// How many copies it had.
    pub copies: u32,
    /// Processors that they could use; 0 if it is not known.
    pub cpus: u32,
    /// How it ended.
    pub state: &'a RunState,
    /// Those of them that began.
    pub times: &'a [CopyTime],
    /// What they took of the processors, if that is known.
    pub processors: Option<ProcessorShare>,
    /// The share of the time in which all processors were busy, whoever kept them so, if that is known.
    pub full: Option<f64>,
    /// What each computed once it was set up, if that was really run.
    pub payload: Option<PayloadTimes>,
}

impl<'a> CopiesRun<'a> {
    /// Of a run on `target`, of whose copies these times are, which took so much of the processors, and then computed.
    pub fn of(
        record: &'a RunRecord,
        target: &'a str,
        times: &'a [CopyTime],
        processors: Option<ProcessorShare>,
        payload: Option<PayloadTimes>,
    ) -> Self {
        Self {
            id: &record.id,
            target: record.coordinates.get("side").map_or(target, String::as_str),
            block: record.block,
            copies: record.spec.clients,
            cpus: record.environment.cpus,
            state: &record.state,
            times,
            processors,
            // Who computes keeps processors busy, which says nothing of setting up.
            full: record.generator.as_ref().filter(|_| payload.is_none()).and_then(processors_full),
            payload,
        }
    }
}
