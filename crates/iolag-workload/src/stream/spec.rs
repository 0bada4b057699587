//! What a stream answers before it runs.

use std::collections::BTreeSet;

use iolag_model::{
    Allocation, CopyWith, DeadlineRule, Nanoseconds, Operation, Phase, StreamEngine, StreamFsync, StreamIo,
    StreamSpec, WorkloadSpec,
};

use crate::spec_error::{OBJECT_BYTES_MAX, SpecError, within};
use crate::workload::{Workload, longest_for, numbered};

/// More blocks than this of a file are not read in anybody's lifetime.
const BLOCKS_MAX: u64 = 1 << 40;
/// The kernel takes no longer queues (io_uring(7), IORING_MAX_ENTRIES).
const DEPTH_MAX: u64 = 32_768;
/// What of memory the blocks in flight of one client may take.
const FLYING_BYTES_MAX: u64 = 4 << 30;
/// What direct I/O needs at least: a sector.
const SECTOR_BYTES: u64 = 512;

/// A program that is ended at its deadline has this long to go before that counts as a hang.
pub const PROGRAM_GRACE: Nanoseconds = Nanoseconds::from_seconds(2);

const PHASES: [Phase; 6] =
    [Phase::Write, Phase::Read, Phase::Rewrite, Phase::RandomRead, Phase::RandomWrite, Phase::Copy];

impl Workload for StreamSpec {
    fn validate(&self, _clients: u32) -> Result<(), SpecError> {
        within("the size of a file", self.file_bytes, 1 << 60, "reduce --file-size")?;
        within("the size of a block", self.block_bytes, OBJECT_BYTES_MAX, "reduce --block")?;
        within("the number of blocks of a file", self.blocks(), BLOCKS_MAX, "choose a larger --block")?;
        within("the depth", u64::from(self.depth), DEPTH_MAX, "reduce --depth")?;
        let flying = self.block_bytes.saturating_mul(u64::from(self.depth));
        within("bytes in flight of each client", flying, FLYING_BYTES_MAX, "reduce --depth or --block")?;
        if let StreamFsync::Every(blocks) = self.fsync {
            within("the number of blocks between two fsync", blocks, BLOCKS_MAX, "reduce --fsync")?;
        }
        if self.phases.is_empty() {
            return Err(SpecError::NoStreamPhase);
        }
        if let Some(phase) = self.phases.iter().find(|phase| !PHASES.contains(phase)) {
            return Err(SpecError::NoPhaseOfStreams { phase: *phase });
        }
        if self.engine == StreamEngine::Sync && self.depth > 1 {
            return Err(SpecError::DepthOfSync { depth: self.depth });
        }
        validate_copying(self)?;
        let parts = [("--file-size", self.file_bytes), ("--block", self.block_bytes)];
        let is_odd = |(_, bytes): &&(_, u64)| !bytes.is_multiple_of(SECTOR_BYTES);
        match parts.iter().find(is_odd).filter(|_| self.io == StreamIo::Direct) {
            Some((option, bytes)) => Err(SpecError::NoWholeSectors { option, bytes: *bytes }),
            None => Ok(()),
        }
    }

    fn phases(&self) -> Vec<(Phase, u32)> {
        let own = numbered(&self.phases);
        std::iter::once((Phase::Precreate, 0)).chain(own).chain([(Phase::Cleanup, 0)]).collect()
    }

    fn objects_needed(&self, clients: u32) -> u64 {
        u64::from(clients) * if self.copies() { 2 } else { 1 }
    }

    fn object_bytes(&self) -> u64 {
        if self.makes_file_first() { self.making_block_bytes() } else { self.block_bytes }
    }

    fn bytes_needed(&self, clients: u32) -> u64 {
        let writes = |phase: &&Phase| {
            matches!(phase, Phase::Write | Phase::Rewrite | Phase::RandomWrite | Phase::Copy)
        };
        let files = self.phases.iter().filter(writes).count() as u64 + u64::from(self.makes_file_first());
        files.saturating_mul(self.file_bytes).saturating_mul(u64::from(clients))
    }

    fn bytes_held(&self, clients: u32) -> u64 {
        self.file_bytes.saturating_mul(self.objects_needed(clients))
    }

    fn operations_needed(&self) -> BTreeSet<Operation> {
        use Operation::{
            Delete, MakeDirectory, RemoveDirectory, StreamClose, StreamCloseWritten, StreamCompare,
            StreamCopy, StreamCreate, StreamOpen, StreamRandomRead, StreamRandomWrite, StreamRead,
            StreamReopen, StreamRewrite, StreamWrite,
        };
        let mut needed = BTreeSet::from([
            MakeDirectory,
            StreamCreate,
            StreamWrite,
            StreamCloseWritten,
            Delete,
            RemoveDirectory,
        ]);
        for phase in &self.phases {
            match phase {
                Phase::Read => needed.extend([StreamOpen, StreamRead, StreamClose]),
                Phase::RandomRead => needed.extend([StreamOpen, StreamRandomRead, StreamClose]),
                Phase::Rewrite => needed.extend([StreamReopen, StreamRewrite]),
                Phase::Copy => needed.extend([StreamOpen, StreamCopy, StreamCompare, StreamClose]),
                Phase::RandomWrite => needed.extend([StreamReopen, StreamRandomWrite]),
                _ => {}
            }
        }
        needed.extend(Some(Operation::StreamFsync).filter(|_| self.fsync != StreamFsync::Never));
        needed.extend(Some(Operation::StreamAllocate).filter(|_| self.allocation == Allocation::Before));
        needed
    }

    fn deadlines(&self, usual: Nanoseconds) -> Vec<DeadlineRule> {
        use Operation::{
            Delete, StreamAllocate, StreamCloseWritten, StreamCompare, StreamCp, StreamCreate, StreamFsync,
        };
        let deadline_ns = Nanoseconds(usual.0.saturating_add(longest_for(self.file_bytes).0));
        // A file is made anew where one was that is thrown away.
        let whole = [StreamFsync, StreamCloseWritten, StreamAllocate, StreamCreate, Delete];
        let by_program = Nanoseconds(deadline_ns.0.saturating_add(PROGRAM_GRACE.0));
        let of_copies = [(StreamCompare, deadline_ns), (StreamCp, by_program)];
        let of_copies = of_copies.into_iter().filter(|_| self.copies());
        let rules = whole.map(|operation| (operation, deadline_ns)).into_iter().chain(of_copies);
        rules
            .map(|(operation, deadline_ns)| DeadlineRule {
                role: None,
                operation: Some(operation),
                deadline_ns,
            })
            .collect()
    }

    fn lanes(&self) -> u32 {
        self.depth
    }

    fn without_queue(&self) -> Option<WorkloadSpec> {
        let is_queue = self.engine == StreamEngine::IoUring;
        is_queue.then(|| WorkloadSpec::Stream(Self { engine: StreamEngine::Sync, depth: 1, ..self.clone() }))
    }

    fn samples_per_client(&self) -> Option<u64> {
        let fsyncs = match self.fsync {
            StreamFsync::Every(blocks) => self.blocks() / blocks.max(1) + 1,
            StreamFsync::End | StreamFsync::Never => 1,
        };
        let stages = self.phases().len() as u64;
        let of_stage = self.blocks().saturating_add(fsyncs).saturating_add(8);
        // The stages that remove and make directories have a few of their own; the opening of the session is one more.
        Some(stages.saturating_mul(of_stage).saturating_add(10))
    }

    fn samples_expected(&self, clients: u32) -> Option<u64> {
        let files = self.phases.len() as u64 + u64::from(self.makes_file_first());
        let all = self.blocks().saturating_mul(files).saturating_mul(u64::from(clients));
        self.time_limit_ns.is_none().then_some(all)
    }
}

/// Who copies is chosen where something is copied, and is asked by one system call after the other.
fn validate_copying(spec: &StreamSpec) -> Result<(), SpecError> {
    match spec.copy_with {
        Some(_) if !spec.copies() => Err(SpecError::NothingToCopy),
        Some(_) if spec.engine == StreamEngine::IoUring => Err(SpecError::CopyByQueue),
        Some(CopyWith::Cp) if spec.io != StreamIo::Buffered => Err(SpecError::ProgramOpens { io: spec.io }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(spec: StreamSpec) -> String {
        spec.validate(2).unwrap_err().to_string()
    }

    fn usual() -> StreamSpec {
        StreamSpec::of_file(10 << 20)
    }

    #[test]
    fn what_cannot_be_is_refused_in_a_sentence() {
        assert_eq!(usual().validate(1), Ok(()));
        assert_eq!(
            refused(StreamSpec { file_bytes: 0, ..usual() }),
            "the size of a file is 0, it must be at least 1"
        );
        assert!(refused(StreamSpec { block_bytes: 2 << 30, ..usual() }).ends_with("reduce --block"));
        assert!(
            refused(StreamSpec { depth: 4, ..usual() }).ends_with("choose --engine io_uring, or --depth 1")
        );
        let queue = StreamSpec { engine: StreamEngine::IoUring, depth: 40_000, ..usual() };
        assert!(refused(queue.clone()).ends_with("reduce --depth"));
        assert!(refused(StreamSpec { depth: 30_000, ..queue }).ends_with("reduce --depth or --block"));
        assert!(refused(StreamSpec { phases: vec![], ..usual() }).starts_with("no phase is selected"));
        let foreign = refused(StreamSpec { phases: vec![Phase::BatchStat], ..usual() });
        assert!(foreign.contains("no phase batch-stat: choose of write, read"), "{foreign}");
        let odd = refused(StreamSpec { io: StreamIo::Direct, block_bytes: 1000, ..usual() });
        assert_eq!(odd, "--io direct moves whole sectors, and --block 1000 is no multiple of 512 bytes");
        assert!(
            refused(StreamSpec { fsync: StreamFsync::Every(0), ..usual() }).contains("must be at least 1")
        );
    }

    #[test]
    fn a_copy_needs_room_of_its_own_and_whoever_makes_it_needs_the_phase() {
        let copying =
            StreamSpec { phases: vec![Phase::Write, Phase::Copy], copy_with: Some(CopyWith::Cp), ..usual() };
        assert_eq!(copying.validate(1), Ok(()));
        assert_eq!((copying.bytes_needed(2), copying.bytes_held(2)), (40 << 20, 40 << 20));
        let rules = copying.deadlines(Nanoseconds::from_seconds(15));
        let of = |wanted| rules.iter().find(|rule| rule.operation == Some(wanted)).unwrap().deadline_ns;
        assert_eq!(of(Operation::StreamCp).0 - of(Operation::StreamCompare).0, PROGRAM_GRACE.0);
        let engine = StreamEngine::IoUring;
        assert!(refused(StreamSpec { engine, ..copying.clone() }).ends_with("choose --engine sync"));
        assert!(refused(StreamSpec { io: StreamIo::Direct, ..copying.clone() }).contains("--io direct"));
        let nothing = StreamSpec { phases: usual().phases, ..copying };
        assert!(refused(nothing).ends_with("add copy to --phases, or leave out --copy-with"));
    }

    #[test]
    fn phases_that_come_again_have_numbers_and_a_file_is_made_before_it_is_read() {
        let phases = vec![Phase::Read, Phase::Write, Phase::Read];
        let spec = StreamSpec { phases, ..usual() };
        let own = [(Phase::Read, 0), (Phase::Write, 0), (Phase::Read, 1)];
        assert_eq!(
            spec.phases(),
            [[(Phase::Precreate, 0)].as_slice(), &own, &[(Phase::Cleanup, 0)]].concat()
        );
        assert_eq!((spec.bytes_needed(2), spec.bytes_held(2)), (40 << 20, 20 << 20));
        assert_eq!(usual().bytes_needed(2), 20 << 20);
    }

    #[test]
    fn what_waits_for_the_whole_file_may_take_as_long_as_that_takes() {
        let usual_deadline = Nanoseconds::from_seconds(15);
        let rules = StreamSpec::of_file(128 << 30).deadlines(usual_deadline);
        let fsync = rules.iter().find(|rule| rule.operation == Some(Operation::StreamFsync)).unwrap();
        assert_eq!(fsync.deadline_ns, Nanoseconds::from_seconds(15 + 13_107));
        assert!(rules.iter().all(|rule| rule.operation != Some(Operation::StreamWrite)));
    }
}
