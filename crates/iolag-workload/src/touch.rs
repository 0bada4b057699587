//! Touch: every client creates a file and removes it, again and again.

use std::collections::BTreeSet;

use iolag_backend::{ObjectKey, Request};
use iolag_model::{Meeting, MonotonicTime, Operation, Phase, StageIndex, TouchSpec};

use crate::spec_error::{SpecError, within};
use crate::workload::Workload;
use crate::{Client, Done, Step};

impl Workload for TouchSpec {
    fn validate(&self, _clients: u32) -> Result<(), SpecError> {
        within("the number of files", self.files, 1 << 32, "reduce --files")
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        vec![(Phase::Benchmark, 0)]
    }

    fn objects_needed(&self, clients: u32) -> u64 {
        self.files.saturating_mul(u64::from(clients))
    }

    fn object_bytes(&self) -> u64 {
        0
    }

    fn bytes_held(&self, _clients: u32) -> u64 {
        0
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        [Operation::MakeDirectory, Operation::Create, Operation::Delete, Operation::RemoveDirectory].into()
    }

    fn samples_per_client(&self) -> Option<u64> {
        // Its directory is made and removed; a stage and the opening of a session are recorded, too.
        Some(self.files.saturating_mul(2).saturating_add(4))
    }

    fn samples_expected(&self, clients: u32) -> Option<u64> {
        Some(self.objects_needed(clients).saturating_mul(2))
    }
}

/// One client.
#[derive(Debug)]
pub struct TouchClient {
    rank: u32,
    files: u64,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Opening,
    Entering,
    /// So many operations were asked for.
    Touching(u64),
    Over,
}

impl TouchClient {
    /// The client with this rank.
    pub const fn new(spec: &TouchSpec, rank: u32) -> Self {
        Self { rank, files: spec.files, state: State::Opening }
    }

    fn operation(&self, asked: u64) -> Operation {
        match asked {
            0 => Operation::MakeDirectory,
            last if last == 2 * self.files + 1 => Operation::RemoveDirectory,
            odd if odd % 2 == 1 => Operation::Create,
            _ => Operation::Delete,
        }
    }
}

impl Client for TouchClient {
    fn next(&mut self, _now: MonotonicTime) -> Step {
        match self.state {
            State::Opening => {
                self.state = State::Entering;
                Step::Begin { stage: StageIndex(0), value: 0 }
            }
            State::Touching(asked) if asked < 2 * self.files + 2 => {
                self.state = State::Touching(asked + 1);
                let index = asked.saturating_sub(1) / 2;
                let key = ObjectKey { rank: self.rank, dataset: 0, index };
                Step::Execute { request: Request::new(self.operation(asked), key, 0), intended: None }
            }
            State::Touching(_) => {
                self.state = State::Over;
                Step::End
            }
            // Asked without having met: the run is over for everybody.
            State::Entering | State::Over => Step::Finished,
        }
    }

    fn completed(&mut self, _request: &Request, _done: &Done) {}

    fn met(&mut self, _meeting: &Meeting, _now: MonotonicTime) {
        self.state = State::Touching(0);
    }
}
