//! What is asked of a run to be one of copies.

use std::collections::BTreeMap;

use iolag_model::{Operation, ReplayTiming, RunId, RunRecord, RunState, StageIndex, TargetIndex};

use super::at_work::CopiesAtWork;
use super::payload::PayloadTimes;
use super::time::CopyTime;
use crate::run::surroundings::generator::processors_full;
use crate::run::values::{Cell, CellStages, Pace};

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
    /// What they did with their time.
    pub work: CopiesAtWork,
    /// Whether they paused.
    pub pauses: Pauses,
    /// The share of the time in which all processors were busy, whoever kept them so, if that is known.
    pub full: Option<f64>,
    /// What each computed once it was set up, if that was really run.
    pub payload: Option<PayloadTimes>,
}

/// What copies do where the program computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pauses {
    /// Nothing: they make the next call.
    None,
    /// They sleep about as long.
    AsTheProgram,
}

impl Pauses {
    fn of(record: &RunRecord) -> Self {
        match record.spec.workload.replay().map(|replay| replay.timing) {
            Some(ReplayTiming::Gaps | ReplayTiming::Exact) => Self::AsTheProgram,
            Some(ReplayTiming::Asap) | None => Self::None,
        }
    }
}

impl<'a> CopiesRun<'a> {
    /// Of a run on `target`, of whose copies these times are, what they did with them, and what they computed then.
    pub fn of(
        record: &'a RunRecord,
        target: &'a str,
        times: &'a [CopyTime],
        work: CopiesAtWork,
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
            work,
            pauses: Pauses::of(record),
            // Who computes keeps processors busy, which says nothing of setting up.
            full: record.generator.as_ref().filter(|_| payload.is_none()).and_then(processors_full),
            payload,
        }
    }
}

/// What of runs of copies is compared: what they did in this stage.
pub(crate) fn cells_of_copies(stage: StageIndex, operations: &[Operation]) -> Vec<CellStages> {
    let cell = |operation: &Operation| CellStages {
        cell: Cell { operation: *operation, phase: None },
        target: TargetIndex(0),
        stages: vec![stage],
        pace: Pace::Follows,
    };
    operations.iter().map(cell).collect()
}

/// What tells them apart.
pub(crate) fn coordinates_of_copies(copies: u32) -> BTreeMap<String, String> {
    BTreeMap::from([("copies".to_owned(), copies.to_string())])
}
