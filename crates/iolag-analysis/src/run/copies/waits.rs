//! Whether copies waited for the storage, or for the processors of the machine that they ran on.
//!
//! By what was seen of processors, and not by how many there are: 16 copies on two processors may all wait for a server, and two may keep two processors
//! busy, if all answers come from memory.

use serde::{Deserialize, Serialize};

use super::of_run::CopiesRun;

/// What copies take of the processors that they could use: from this share on these set the pace. Less than all, since not all copies end together.
const AT_PROCESSOR_SPEED: f64 = 0.9;
/// From this share of the time on, in which all processors were busy, whoever kept them so.
const FULL: f64 = 0.5;

/// For what copies waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// For processors.
    Processors,
    /// For answers.
    Storage,
}

impl WaitsFor {
    /// In runs of the same number of copies, on average; absent if it was not recorded, or they were too short.
    pub fn of(runs: &[CopiesRun<'_>]) -> Option<Self> {
        let mean = |of: fn(&CopiesRun<'_>) -> Option<f64>| {
            let known: Vec<f64> = runs.iter().filter_map(of).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        let taken = mean(|run| run.processors.map(|share| share.processors / f64::from(share.most)));
        let full = mean(|run| run.full);
        match (taken, full) {
            (Some(taken), _) if taken >= AT_PROCESSOR_SPEED => Some(Self::Processors),
            (_, Some(full)) if full >= FULL => Some(Self::Processors),
            (Some(_), _) => Some(Self::Storage),
            (None, _) => None,
        }
    }

    /// As in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processors => "processors",
            Self::Storage => "storage",
        }
    }
}

#[cfg(test)]
mod tests {
    use iolag_model::{RunId, RunState};

    use super::*;
    use crate::run::surroundings::processor_time::ProcessorShare;

    #[test]
    fn what_was_taken_of_processors_decides_and_not_how_many_there_are() {
        let id = RunId::new("20261128-000000", 1).unwrap();
        let waits = |processors: Option<f64>, full| {
            let run = CopiesRun {
                id: &id,
                target: "/afs",
                block: 1,
                copies: 16,
                cpus: 2,
                state: &RunState::Complete,
                times: &[],
                processors: processors.map(|processors| ProcessorShare { processors, most: 2 }),
                full,
                payload: None,
            };
            WaitsFor::of(&[run])
        };
        assert_eq!(waits(Some(0.3), Some(0.0)), Some(WaitsFor::Storage), "16 copies wait for a server");
        assert_eq!(waits(Some(1.9), None), Some(WaitsFor::Processors), "they answer themselves");
        assert_eq!(waits(Some(0.4), Some(0.9)), Some(WaitsFor::Processors), "somebody else has them");
        assert_eq!(waits(None, Some(0.9)), Some(WaitsFor::Processors));
        assert_eq!([waits(None, Some(0.1)), waits(None, None)], [None; 2]);
        assert_eq!(WaitsFor::of(&[]), None);
    }
}
