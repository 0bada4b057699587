//! The stream: what each client writes, reads and writes over, and how.

use serde::{Deserialize, Serialize};

use super::spec::names;
use crate::{Nanoseconds, Operation, Phase, Verification};

/// A file that is only there to be read is made in blocks of about this size.
const MAKING_BLOCK_BYTES: u64 = 256 << 10;

/// Parameters of `iolag bench stream`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamSpec {
    /// What is done with the file, one after the other.
    pub phases: Vec<Phase>,
    /// Bytes of a client's file.
    pub file_bytes: u64,
    /// Bytes of a block; the last one of a file may be shorter.
    pub block_bytes: u64,
    /// How the file is opened.
    pub io: StreamIo,
    /// Who asks the kernel.
    pub engine: StreamEngine,
    /// Blocks in flight at once, of each client.
    pub depth: u32,
    /// When what was written is made durable.
    pub fsync: StreamFsync,
    /// Whether room for the whole file is taken before it is written.
    pub allocation: Allocation,
    /// How many percent of what is written are zeros, in each 4 KiB.
    pub compressible_percent: u32,
    /// Whether what was read is compared with what was written.
    pub verification: Verification,
    /// A phase ends with the first block that ends after so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_ns: Option<Nanoseconds>,
    /// Who copies, where that is a phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_with: Option<CopyWith>,
}

/// How the file of a stream is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamIo {
    /// Through the page cache.
    Buffered,
    /// Past it (`O_DIRECT`).
    Direct,
    /// Through it, each write durable when it returns (`O_DSYNC`).
    Dsync,
}
names!(StreamIo { Buffered = "buffered", Direct = "direct", Dsync = "dsync" });

/// Who asks the kernel for blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StreamEngine {
    /// A system call for each, which waits (pread(2), pwrite(2)).
    #[serde(rename = "sync")]
    Sync,
    /// A queue that the kernel works on (`io_uring(7)`).
    #[serde(rename = "io_uring")]
    IoUring,
}
names!(StreamEngine { Sync = "sync", IoUring = "io_uring" });

/// When what was written is made durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamFsync {
    /// Before the file is closed.
    End,
    /// After so many blocks each, and before it is closed.
    Every(u64),
    /// When the system gets to it.
    Never,
}

impl StreamFsync {
    /// Whether it is done after so many blocks, of so many in all.
    pub const fn is_due(self, written: u64, all: u64) -> bool {
        match self {
            Self::End => written == all,
            Self::Every(blocks) => written == all || written.is_multiple_of(blocks),
            Self::Never => false,
        }
    }
}

impl std::fmt::Display for StreamFsync {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::End => formatter.pad("end"),
            Self::Every(blocks) => formatter.pad(&blocks.to_string()),
            Self::Never => formatter.pad("never"),
        }
    }
}

/// Whether room is taken before it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// As it is written.
    AsWritten,
    /// All of it at once, before (fallocate(2)).
    Before,
}
names!(Allocation { AsWritten = "as-written", Before = "before" });

/// Who copies a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CopyWith {
    /// Whoever measures, block by block: read(2), write(2).
    Loop,
    /// The kernel, block by block (copy_file_range(2)).
    CopyFileRange,
    /// The program of that name, the whole file.
    Cp,
}
names!(CopyWith { Loop = "loop", CopyFileRange = "copy_file_range", Cp = "cp" });

/// On which file of a copy something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyEnd {
    /// On the file that is copied.
    File,
    /// On the copy.
    Copy,
    /// On both.
    Both,
}

impl CopyEnd {
    /// That of what a client asks in such a phase.
    pub const fn of(phase: Phase, operation: Operation) -> Self {
        match (phase, operation) {
            (_, Operation::StreamCopy | Operation::StreamCp) => Self::Both,
            (_, Operation::CopyShared | Operation::StreamCompare)
            | (
                Phase::Copy,
                Operation::StreamCreate | Operation::StreamFsync | Operation::StreamCloseWritten,
            ) => Self::Copy,
            _ => Self::File,
        }
    }
}

impl StreamSpec {
    /// A file of this size is written and read, in blocks of 1 MiB, as the study did.
    pub fn of_file(file_bytes: u64) -> Self {
        Self {
            phases: vec![Phase::Write, Phase::Read],
            file_bytes,
            block_bytes: 1 << 20,
            io: StreamIo::Buffered,
            engine: StreamEngine::Sync,
            depth: 1,
            fsync: StreamFsync::End,
            allocation: Allocation::AsWritten,
            compressible_percent: 0,
            verification: Verification::Length,
            time_limit_ns: None,
            copy_with: None,
        }
    }

    /// What a phase does with blocks.
    pub fn block_of(&self, phase: Phase) -> Option<Operation> {
        match phase {
            Phase::Write | Phase::Precreate => Some(Operation::StreamWrite),
            Phase::Read => Some(Operation::StreamRead),
            Phase::Rewrite => Some(Operation::StreamRewrite),
            Phase::RandomRead => Some(Operation::StreamRandomRead),
            Phase::RandomWrite => Some(Operation::StreamRandomWrite),
            Phase::Copy if self.copy_with == Some(CopyWith::Cp) => Some(Operation::StreamCp),
            Phase::Copy => Some(Operation::StreamCopy),
            _ => None,
        }
    }

    /// Whether a phase is to copy.
    pub fn copies(&self) -> bool {
        self.phases.contains(&Phase::Copy)
    }

    /// Blocks of a file.
    pub const fn blocks(&self) -> u64 {
        if self.block_bytes == 0 { 0 } else { self.file_bytes.div_ceil(self.block_bytes) }
    }

    /// Bytes of the blocks in which the file is made before the first phase: whole blocks of the stream's, so that small ones do not make the user
    /// wait for what is not measured. A queue is quick with small ones, and has a buffer for each place in it.
    pub fn making_block_bytes(&self) -> u64 {
        if self.depth > 1 || self.block_bytes == 0 {
            return self.block_bytes;
        }
        self.block_bytes * MAKING_BLOCK_BYTES.div_ceil(self.block_bytes).min(self.blocks().max(1))
    }

    /// Whether the file is made before the first phase, which does not begin with writing it.
    pub fn makes_file_first(&self) -> bool {
        self.phases.first().is_some_and(|phase| *phase != Phase::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CacheState, OnError, OnHang, RunSpec, WorkloadSpec};

    #[test]
    fn a_file_is_made_in_whole_blocks_that_are_not_small() {
        let made = |block_bytes, depth| {
            StreamSpec { block_bytes, depth, ..StreamSpec::of_file(1 << 20) }.making_block_bytes()
        };
        assert_eq!([4096, 3000, 1 << 19, 0].map(|block| made(block, 1)), [256 << 10, 264_000, 1 << 19, 0]);
        assert_eq!((made(4096, 2), made(1 << 30, 1)), (4096, 1 << 30));
        let small = StreamSpec { block_bytes: 512, ..StreamSpec::of_file(1025) };
        assert_eq!(small.making_block_bytes(), 1536, "no larger than the file");
    }

    #[test]
    fn the_last_block_may_be_shorter_and_is_one() {
        let spec = StreamSpec { block_bytes: 1000, ..StreamSpec::of_file(2001) };
        assert_eq!((spec.blocks(), StreamSpec { file_bytes: 2000, ..spec.clone() }.blocks()), (3, 2));
        assert_eq!(StreamSpec { block_bytes: 0, ..spec }.blocks(), 0);
    }

    #[test]
    fn what_is_written_is_made_durable_when_it_was_said() {
        let due =
            |fsync: StreamFsync| (1..=5).filter(|written| fsync.is_due(*written, 5)).collect::<Vec<_>>();
        assert_eq!(due(StreamFsync::End), [5]);
        assert_eq!(due(StreamFsync::Every(2)), [2, 4, 5]);
        assert_eq!(due(StreamFsync::Never), [0_u64; 0]);
    }

    #[test]
    fn what_is_asked_of_a_copy_is_in_the_target_of_the_copy_and_blocks_are_in_both() {
        let spec = StreamSpec {
            phases: vec![Phase::Write, Phase::Copy],
            copy_with: Some(CopyWith::Loop),
            ..StreamSpec::of_file(1)
        };
        let mut run = RunSpec {
            workload: WorkloadSpec::Stream(spec),
            targets: vec!["/a".to_owned(), "/b".to_owned()],
            clients: 1,
            deadline_ns: Nanoseconds::from_seconds(15),
            deadlines: Vec::new(),
            on_hang: OnHang::Continue,
            on_error: OnError::Continue,
            seed: 0,
            ring_bytes: 0,
            caches: CacheState::Asis,
            drop_command: None,
            bystander: None,
        };
        for (phase, operation, place) in [
            (Phase::Write, Operation::StreamCreate, "/a"),
            (Phase::Copy, Operation::StreamOpen, "/a"),
            (Phase::Copy, Operation::StreamCreate, "/b"),
            (Phase::Copy, Operation::StreamCopy, "/a and /b"),
            (Phase::Copy, Operation::StreamCp, "/a and /b"),
            (Phase::Copy, Operation::StreamFsync, "/b"),
            (Phase::Copy, Operation::StreamCloseWritten, "/b"),
            (Phase::Copy, Operation::StreamClose, "/a"),
            (Phase::Cleanup, Operation::StreamCompare, "/b"),
            (Phase::Cleanup, Operation::Delete, "/a"),
        ] {
            assert_eq!(run.place_of(phase, operation).as_deref(), Some(place), "{phase}, {operation}");
        }
        run.targets.truncate(1);
        assert_eq!(run.place_of(Phase::Copy, Operation::StreamCreate), None);
    }
}
