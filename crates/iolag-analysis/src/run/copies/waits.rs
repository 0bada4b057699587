//! Whether copies waited for the storage, or for the processors of the machine that they ran on.
//!
//! By what copies took of processors, and not by how many there are: 16 copies on two processors may all wait for a server, and two may keep two processors
//! busy, if all answers come from memory. How long a copy waited for a processor is not recorded, so that where it took some of them, and others kept all busy,
//! it is not known what it waited for; where it took hardly any, it was asleep: who sleeps most of the time is given a processor before those that
//! compute.

use serde::{Deserialize, Serialize};

use super::of_run::{CopiesRun, Pauses};

/// What copies take of the processors that they could use: from this share on, processors took more of the time than all else.
const MOSTLY_COMPUTES: f64 = 0.6;
/// Below this, copies hardly ever wanted a processor: with nine others that want each, they would have been given as much.
const HARDLY_COMPUTES: f64 = 0.1;
/// From this share of the time on in which all processors were busy, whoever kept them so, copies may have waited for them.
const FULL: f64 = 0.5;
/// From this share of the time on, in which a copy made no call, the storage is not what it took.
const MOSTLY_PAUSES: f64 = 0.5;

/// For what copies waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitsFor {
    /// For processors.
    Processors,
    /// For answers.
    Storage,
    /// For the next call of the program, which slept.
    Pauses,
    /// For either of the first two: others kept the processors busy.
    OthersOrStorage,
}

impl WaitsFor {
    /// In runs of the same number of copies, on average; absent if it was not recorded of all of them, or they were too short.
    pub fn of(runs: &[CopiesRun<'_>]) -> Option<Self> {
        let taken = mean_of(runs, |run| run.work.processors_taken)?;
        let pauses =
            mean_of(runs, |run| run.work.between_calls.filter(|_| run.pauses == Pauses::AsTheProgram));
        let full = mean_of(runs, |run| run.full);
        match (taken, pauses, full) {
            (taken, _, _) if taken >= MOSTLY_COMPUTES => Some(Self::Processors),
            (_, Some(pauses), _) if pauses >= MOSTLY_PAUSES => Some(Self::Pauses),
            (taken, _, _) if taken < HARDLY_COMPUTES => Some(Self::Storage),
            (_, _, Some(full)) if full >= FULL => Some(Self::OthersOrStorage),
            (_, _, Some(_)) => Some(Self::Storage),
            (_, _, None) => None,
        }
    }

    /// As in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processors => "processors",
            Self::Storage => "storage",
            Self::Pauses => "own pauses",
            Self::OthersOrStorage => "others or storage",
        }
    }
}

/// The mean of what is known of each of these runs.
pub(super) fn mean_of(runs: &[CopiesRun<'_>], of: impl Fn(&CopiesRun<'_>) -> Option<f64>) -> Option<f64> {
    let sum = runs.iter().map(of).sum::<Option<f64>>()?;
    (!runs.is_empty()).then(|| sum / runs.len() as f64)
}

#[cfg(test)]
mod tests {
    use iolag_model::{RunId, RunState};

    use super::*;
    use crate::run::copies::at_work::CopiesAtWork;

    #[test]
    fn what_was_taken_of_processors_decides_and_not_how_many_there_are() {
        use WaitsFor::{OthersOrStorage, Processors, Storage};
        let id = RunId::new("20261128-000000", 1).unwrap();
        let of = |processors_taken, full, pauses, between_calls| CopiesRun {
            id: &id,
            target: "/afs",
            block: 1,
            copies: 16,
            cpus: 2,
            state: &RunState::Complete,
            times: &[],
            work: CopiesAtWork { processors_taken, between_calls, ..CopiesAtWork::default() },
            pauses,
            full,
            payload: None,
        };
        let waits = |taken, full| WaitsFor::of(&[of(taken, full, Pauses::None, Some(0.9))]);
        assert_eq!(waits(Some(0.15), Some(0.0)), Some(Storage), "16 copies wait for a server");
        assert_eq!(
            waits(Some(0.61), Some(0.9)),
            Some(Processors),
            "they answer themselves, and others compute"
        );
        assert_eq!(waits(Some(0.02), Some(0.9)), Some(Storage), "they sleep, whoever has the processors");
        assert_eq!(waits(Some(0.3), Some(0.9)), Some(OthersOrStorage));
        assert_eq!(waits(Some(0.3), None), None, "nobody knows what others did");
        assert_eq!([waits(None, Some(0.9)), waits(None, Some(0.1)), waits(None, None)], [None; 3]);
        assert_eq!(WaitsFor::of(&[]), None);
        let asleep = of(Some(0.05), Some(0.9), Pauses::AsTheProgram, Some(0.9));
        assert_eq!(WaitsFor::of(&[asleep]), Some(WaitsFor::Pauses));
        assert_eq!(WaitsFor::of(&[asleep, of(None, None, Pauses::None, None)]), None, "one was too short");
    }
}
