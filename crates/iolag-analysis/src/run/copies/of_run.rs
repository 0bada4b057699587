//! What is asked of a run to be one of copies.

use iolag_model::{RunId, RunRecord, RunState};

use super::time::CopyTime;

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
}

impl<'a> CopiesRun<'a> {
    /// Of a run on `target`, of whose copies these times are.
    pub fn of(record: &'a RunRecord, target: &'a str, times: &'a [CopyTime]) -> Self {
        Self {
            id: &record.id,
            target: record.coordinates.get("side").map_or(target, String::as_str),
            block: record.block,
            copies: record.spec.clients,
            cpus: record.environment.cpus,
            state: &record.state,
            times,
        }
    }
}
