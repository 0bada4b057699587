//! What a set-up answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{DeadlineRule, MILLION, Nanoseconds, Operation, Phase, SetUpSpec};

use crate::Workload;
use crate::payload::deadline;
use crate::spec_error::{OBJECT_BYTES_MAX, SpecError, within};

/// More calls than this of one copy are no set-up any more: their order is kept in memory.
const CALLS_MAX: u64 = 100_000_000;
const DIRECTORIES_MAX: u64 = 1_000_000;
/// More files than this are no set-up any more.
const FILES_MAX: u64 = 100_000_000;

impl Workload for SetUpSpec {
    fn validate(&self, clients: u32) -> Result<(), SpecError> {
        let calls = self.stats.saturating_add(self.opens);
        within("the number of calls of a copy", calls, CALLS_MAX, "reduce --stat or --open")?;
        let misses = u64::from(self.misses_per_million);
        at_most_all("the share of look-ups that miss", misses, "reduce --miss")?;
        let of_opens = self.open_misses_per_million.map_or(0, u64::from);
        at_most_all("the share of open calls that miss", of_opens, "reduce --open-miss")?;
        let shared = u64::from(self.shared_per_million);
        at_most_all("the share of directories that all copies share", shared, "reduce --shared")?;
        let directories = u64::from(self.directories);
        within("the number of directories", directories, DIRECTORIES_MAX, "reduce --directories")?;
        within("the number of files in a directory", self.files, FILES_MAX, "reduce --files")?;
        let all = self.objects_needed(clients);
        within("the number of files of all copies", all, FILES_MAX, "reduce --files or --directories")?;
        if self.file_bytes > OBJECT_BYTES_MAX {
            return Err(SpecError::TooLong {
                name: "the size of a file",
                bytes: self.file_bytes,
                bytes_max: OBJECT_BYTES_MAX,
                advice: "every copy holds a file in memory, reduce --file-size",
            });
        }
        Ok(())
    }

    /// The last one has no operations: what one copy has made is removed when all are done.
    fn phases(&self) -> Vec<(Phase, u32)> {
        vec![(Phase::Precreate, 0), (Phase::Benchmark, 0), (Phase::Cleanup, 0)]
    }

    fn objects_needed(&self, clients: u32) -> u64 {
        let shared = u64::from(self.shared_directories());
        let own = u64::from(self.directories) - shared.min(u64::from(self.directories));
        shared.saturating_add(own.saturating_mul(u64::from(clients))).saturating_mul(self.files)
    }

    fn object_bytes(&self) -> u64 {
        self.file_bytes
    }

    fn bytes_held(&self, clients: u32) -> u64 {
        self.bytes_needed(clients)
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        use Operation::{CallClose, CallOpen, CallRead, CallStat, Create, MakeDirectory};
        [MakeDirectory, Create, CallStat, CallOpen, CallRead, CallClose].into()
    }

    fn deadlines(&self, _usual: Nanoseconds) -> Vec<DeadlineRule> {
        self.terms.payload_command.iter().map(|_| deadline()).collect()
    }

    fn samples_per_client(&self) -> Option<u64> {
        let tree = u64::from(self.directories).saturating_mul(self.files.saturating_add(1));
        // Its stages, the opening of its session, what the processors did, and a payload with the same are recorded, too.
        let others = self.phases().len() as u64 + 4;
        Some(tree.saturating_add(self.calls()).saturating_add(others))
    }

    fn samples_expected(&self, clients: u32) -> Option<u64> {
        let calls = self.calls().saturating_mul(u64::from(clients));
        Some(self.objects_needed(clients).saturating_add(calls))
    }
}

const fn at_most_all(name: &'static str, per_million: u64, advice: &'static str) -> Result<(), SpecError> {
    match per_million > MILLION as u64 {
        true => Err(SpecError::TooMany { name, value: per_million, maximum: MILLION as u64, advice }),
        false => Ok(()),
    }
}
