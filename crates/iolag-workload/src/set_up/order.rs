//! In which order a copy makes its calls, and of what each of them is.

use iolag_backend::ObjectKey;
use iolag_model::{Random, SetUpSpec};

/// Which file it is, and whether that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LookedFor {
    pub key: ObjectKey,
    pub is_there: bool,
}

/// One of the calls that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Stat(LookedFor),
    Open(LookedFor),
}

/// The calls of one copy: every copy asks the same questions, each in an order of its own.
#[derive(Debug)]
pub(crate) struct Order {
    rank: u32,
    spec: SetUpSpec,
    numbers: Vec<u32>,
}

impl Order {
    /// The order of the copy with this rank. Of each spec that was found valid.
    pub fn new(spec: &SetUpSpec, rank: u32, seed: u64) -> Self {
        let mut numbers: Vec<u32> = (0..(spec.stats + spec.opens) as u32).collect();
        Random::of_stream(seed, u64::from(rank)).shuffle(&mut numbers);
        Self { rank, spec: spec.clone(), numbers }
    }

    /// The call that comes after so many others.
    pub fn call(&self, made: usize) -> Option<Call> {
        let number = u64::from(*self.numbers.get(made)?);
        let spec = &self.spec;
        Some(match number.checked_sub(spec.stats) {
            None => Call::Stat(self.looked_for(number, spec.stat_misses())),
            Some(number) => Call::Open(self.looked_for(number, spec.open_misses())),
        })
    }

    /// The first `misses` of a kind look for nothing that is there; all take turns over the directories and, in these, over the names.
    fn looked_for(&self, number: u64, misses: u64) -> LookedFor {
        let is_there = number >= misses;
        let turn = if is_there { number - misses } else { number };
        let directories = u64::from(self.spec.directories);
        let dataset = (turn % directories) as u32;
        let index = turn / directories % self.spec.files + if is_there { 0 } else { self.spec.files };
        LookedFor {
            key: ObjectKey { rank: maker_of(&self.spec, dataset, self.rank), dataset, index },
            is_there,
        }
    }
}

/// Who has made this directory: what all share is the first copy's, in the rest each has its own.
pub(super) fn maker_of(spec: &SetUpSpec, dataset: u32, rank: u32) -> u32 {
    if dataset < spec.shared_directories() { 0 } else { rank }
}
